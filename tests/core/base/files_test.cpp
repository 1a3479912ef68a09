#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "support/failure.h"
#include "support/folder.h"

namespace thunder {
namespace {

std::span<std::byte> bytes_of(std::string& s) { return std::as_writable_bytes(std::span(s)); }

TEST(Files, give_back_what_was_written) {
  Folder folder;
  const std::string text("a\0b\n\xff", 5);
  write_file(folder / "x", text);
  EXPECT_EQ(read_file(folder / "x", 5), text);
  write_file(folder / "x", "");
  EXPECT_EQ(read_file(folder / "x", 0), "");
}

TEST(Files, refuse_more_than_the_limit) {
  Folder folder;
  write_file(folder / "x", "12345");
  auto text = failure_of([&] { read_file(folder / "x", 4); });
  EXPECT_PRED2(contains, text, "has 5 bytes; at most 4");
}

TEST(Files, name_the_path_and_the_reason) {
  Folder folder;
  auto missing = failure_of([&] { InputFile(folder / "none"); });
  EXPECT_PRED2(contains, missing, "/none': No such file");
  auto no_folder = failure_of([&] { write_file(folder / "no/x", "1"); });
  EXPECT_PRED2(contains, no_folder, "/no/x': failed to create a temporary file");
  EXPECT_PRED2(contains, failure_of([&] { InputFile(folder.path()); }), "not a regular file");
  EXPECT_PRED2(contains, failure_of([&] { write_file(folder.path(), ""); }), "not a regular file");
  EXPECT_PRED2(contains, failure_of([&] { InputFile(std::string("a\0b", 3)); }), "zero byte");
  EXPECT_PRED2(contains, failure_of([&] { write_file("", ""); }), "not a file name");
}

TEST(Files, do_not_wait_for_a_pipe) {
  Folder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_PRED2(contains, failure_of([&] { InputFile(folder / "pipe"); }), "not a regular file");
}

TEST(Files, tell_a_truncated_read_from_a_whole_one) {
  Folder folder;
  write_file(folder / "x", "abcdef");
  InputFile file(folder / "x");
  std::string two(2, ' ');
  file.read(4, bytes_of(two));
  EXPECT_EQ(two, "ef");
  for (uint64_t offset : {uint64_t{5}, uint64_t{7}, UINT64_MAX}) {
    auto text = failure_of([&] { file.read(offset, bytes_of(two)); });
    EXPECT_PRED2(contains, text, "is truncated: expected 2 bytes");
  }
}

TEST(Files, notice_a_file_that_shrinks_while_read) {
  Folder folder;
  write_file(folder / "x", "abcdef");
  InputFile file(folder / "x");
  ASSERT_EQ(::truncate((folder / "x").c_str(), 3), 0);
  std::string all(6, ' ');
  EXPECT_PRED2(contains, failure_of([&] { file.read(0, bytes_of(all)); }), "cut short");
}

TEST(Files, stay_whole_when_a_write_is_abandoned) {
  Folder folder;
  write_file(folder / "x", "old");
  {
    OutputFile file(folder / "x");
    file.write("new");
  }
  EXPECT_EQ(read_file(folder / "x", 9), "old");
  EXPECT_EQ(folder.count(), 1u) << "the temporary file is left over";
}

// Ends as a process does that is killed: nothing of it is undone.
template <class F>
int status_of_child(F&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Files, remove_what_killed_writers_left_in_the_folder) {
  Folder folder;
  write_file(folder / ".thunder-mine", "not a temporary file");
  for (int i = 0; i < 3; i++)
    status_of_child([&] {
      OutputFile abandoned(folder / "x");
      abandoned.write("half of it");
      ::kill(::getpid(), SIGKILL);
    });
  EXPECT_EQ(folder.count(), 2u) << "each writer removes what was left before";
  OutputFile live(folder / "y");
  live.write("of a process that lives");
  EXPECT_EQ(status_of_child([&] { write_file(folder / "x", "whole"); }), 0);
  EXPECT_EQ(folder.count(), 3u) << "mine, x, and what is being written";
  live.commit();
  EXPECT_EQ(read_file(folder / "y", 99), "of a process that lives");
  EXPECT_EQ(read_file(folder / ".thunder-mine", 99), "not a temporary file");
}

TEST(Files, that_grow_past_the_limit_of_the_process_are_refused) {
  Folder folder;
  const int status = status_of_child([&] {
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text = failure_of([&] { write_file(folder / "x", std::string(9999, 'x')); });
    ::_exit(contains(text, "File too large") ? 7 : 8);
  });
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(folder.count(), 0u);
}

TEST(Files, keep_their_permissions_and_links) {
  Folder folder;
  write_file(folder / "x", "1");
  ASSERT_EQ(::chmod((folder / "x").c_str(), 0640), 0);
  std::filesystem::create_symlink("x", folder / "link");
  write_file(folder / "link", "2");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "x", 9), "2");
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "x").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace thunder
