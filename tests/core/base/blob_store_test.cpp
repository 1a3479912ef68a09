#include "base/blob_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/digest.h"
#include "base/files.h"
#include "base/text.h"
#include "support/folder.h"

namespace thunder {
namespace {

std::string file_of(const Folder& folder, std::string_view key) { return folder / (hex(digest({key})) + ".blob"); }

std::string kilobyte(char letter) { return std::string(1000, letter); }

void set_age(const std::string& path, time_t seconds) {
  timespec times[2] = {{::time(nullptr) - seconds, 0}, {::time(nullptr) - seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

TEST(BlobStore, gives_back_what_was_put_to_the_next_process_too) {
  Folder folder;
  BlobStore store(folder.path());
  EXPECT_EQ(store.get("key"), std::nullopt);
  const std::string blob("a\0b\n\xff", 5);
  store.put("key", blob);
  store.put("", "blob of the empty key");
  store.put("empty", "");
  BlobStore next(folder.path());
  EXPECT_EQ(next.get("key"), blob);
  EXPECT_EQ(next.get(""), "blob of the empty key");
  EXPECT_EQ(next.get("empty"), "");
  EXPECT_EQ(next.get("other"), std::nullopt);
  next.put("key", "new");
  EXPECT_EQ(store.get("key"), "new");
  EXPECT_EQ(folder.count(), 3u) << "temporary files are left over";
}

TEST(BlobStore, misses_what_is_past_the_limit_for_files_and_the_process_goes_on) {
  Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{512, 512};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    BlobStore store(folder.path());
    store.put("large", kilobyte('x'));
    store.put("small", "x");
    sigset_t waiting, blocked;
    ::sigpending(&waiting);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    const bool left = ::sigismember(&waiting, SIGXFSZ) || ::sigismember(&blocked, SIGXFSZ);
    ::_exit(!left && !store.get("large") && store.get("small") == "x" ? 7 : 8);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(folder.count(), 1u);
}

TEST(BlobStore, makes_its_folder_for_the_user_alone) {
  Folder folder;
  const mode_t mask = ::umask(0);
  BlobStore store(folder / "a/b");
  store.put("key", "blob");
  ::umask(mask);
  EXPECT_EQ(store.get("key"), "blob");
  EXPECT_EQ(mode_of(folder / "a"), 0700u);
  EXPECT_EQ(mode_of(folder / "a/b"), 0700u);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "a/b"))
    EXPECT_EQ(mode_of(entry.path().string()), 0600u);
}

TEST(BlobStore, misses_and_removes_a_truncated_file) {
  for (uint64_t length : {0u, 1u, 8u, 55u, 56u, 60u, 1058u}) {
    Folder folder;
    BlobStore store(folder.path());
    store.put("key", kilobyte('a'));
    ASSERT_EQ(std::filesystem::file_size(file_of(folder, "key")), 1059u);
    std::filesystem::resize_file(file_of(folder, "key"), length);
    EXPECT_EQ(store.get("key"), std::nullopt) << length;
    EXPECT_EQ(folder.count(), 0u) << length;
  }
}

TEST(BlobStore, misses_and_removes_a_file_with_a_flipped_bit_or_a_tail) {
  Folder folder;
  BlobStore store(folder.path());
  store.put("key", "some bytes");
  const std::string whole = read_file(file_of(folder, "key"), 1000);
  for (size_t i = 0; i <= whole.size(); i++) {
    std::string damaged = whole;
    if (i < whole.size())
      damaged[i] ^= static_cast<char>(1 << i % 8);
    else
      damaged += 'x';
    write_file(file_of(folder, "key"), damaged);
    ASSERT_EQ(::chmod(file_of(folder, "key").c_str(), 0600), 0);
    EXPECT_EQ(store.get("key"), std::nullopt) << i;
    EXPECT_EQ(folder.count(), 0u) << i;
  }
  store.put("key", "some bytes");
  EXPECT_EQ(store.get("key"), "some bytes");
}

TEST(BlobStore, tells_apart_keys_whose_files_are_exchanged) {
  Folder folder;
  BlobStore store(folder.path());
  store.put("one", "1");
  std::filesystem::copy_file(file_of(folder, "one"), file_of(folder, "two"));
  EXPECT_EQ(store.get("two"), std::nullopt);
  EXPECT_EQ(store.get("one"), "1");
}

TEST(BlobStore, ignores_files_that_others_could_have_written) {
  Folder folder;
  BlobStore store(folder.path());
  store.put("key", "blob");
  for (mode_t mode : {0620, 0602, 0666}) {
    ASSERT_EQ(::chmod(file_of(folder, "key").c_str(), mode), 0);
    EXPECT_EQ(store.get("key"), std::nullopt) << std::oct << mode;
  }
  ASSERT_EQ(::chmod(file_of(folder, "key").c_str(), 0644), 0);
  EXPECT_EQ(store.get("key"), "blob");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  EXPECT_EQ(store.get("key"), std::nullopt) << "the folder lets others exchange files";
  store.put("other", "blob");
  EXPECT_EQ(folder.count(), 1u);
}

// Giving a file away takes root; whom that is refused to keeps a file that is theirs.
TEST(BlobStore, ignores_files_of_another_user) {
  Folder folder;
  BlobStore store(folder.path());
  store.put("key", "blob");
  const bool given = ::chown(file_of(folder, "key").c_str(), 65534, 65534) == 0;
  EXPECT_EQ(store.get("key").has_value(), !given);
}

TEST(BlobStore, follows_no_link_and_waits_for_no_pipe) {
  Folder folder;
  BlobStore store(folder.path());
  store.put("key", "blob");
  std::filesystem::rename(file_of(folder, "key"), folder / "elsewhere");
  std::filesystem::create_symlink("elsewhere", file_of(folder, "key"));
  EXPECT_EQ(store.get("key"), std::nullopt);
  ASSERT_EQ(::mkfifo(file_of(folder, "pipe").c_str(), 0600), 0);
  EXPECT_EQ(store.get("pipe"), std::nullopt);
}

TEST(BlobStore, removes_what_was_used_longest_ago) {
  Folder folder;
  write_file(folder / "notes", kilobyte('n') + kilobyte('n'));
  BlobStore store(folder.path(), 20'000);  // of which 17500 remain after a look; a blob takes 1057
  for (char letter = 'a'; letter < 'a' + 16; letter++) {
    store.put({&letter, 1}, kilobyte(letter));
    set_age(file_of(folder, {&letter, 1}), 1000 - letter);
  }
  EXPECT_EQ(store.get("a"), kilobyte('a')) << "this makes it the newest";
  store.put("z", kilobyte('z'));
  EXPECT_EQ(store.get("b"), std::nullopt);
  for (const char* kept : {"a", "c", "p", "z"}) EXPECT_TRUE(store.get(kept).has_value()) << kept;
  EXPECT_EQ(read_file(folder / "notes", 2000).size(), 2000u);
}

uint64_t size_of(const Folder& folder) {
  uint64_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) total += entry.file_size();
  return total;
}

TEST(BlobStore, stays_within_its_limit) {
  Folder folder;
  BlobStore store(folder.path(), 20'000);
  for (int i = 0; i < 40; i++) {
    store.put(cat("one process, key ", i), kilobyte('x'));
    EXPECT_LE(size_of(folder), 20'000u);
  }
  for (int i = 0; i < 40; i++) {
    BlobStore(folder.path(), 20'000).put(cat("many processes, key ", i), kilobyte('x'));
    EXPECT_LE(size_of(folder), 20'000u);
  }
  EXPECT_GT(folder.count(), 10u);
  store.put("large", std::string(2000, 'x'));
  EXPECT_EQ(store.get("large"), std::nullopt);
}

TEST(BlobStore, clears_away_what_a_killed_writer_left) {
  Folder folder;
  write_file(folder / ".unfinished-1", "old");
  write_file(folder / ".unfinished-2", "new");
  set_age(folder / ".unfinished-1", 7200);
  BlobStore(folder.path()).put("key", "blob");
  EXPECT_FALSE(std::filesystem::exists(folder / ".unfinished-1"));
  EXPECT_TRUE(std::filesystem::exists(folder / ".unfinished-2"));
}

TEST(BlobStore, misses_where_nothing_can_be_written) {
  Folder folder;
  write_file(folder / "file", "");
  for (const std::string& path : {std::string(), folder / "file", folder / "file/below", std::string("/proc/nothing"),
                                  std::string(5000, 'x')}) {
    BlobStore store(path);
    store.put("key", "blob");
    EXPECT_EQ(store.get("key"), std::nullopt) << path;
  }
  EXPECT_EQ(folder.count(), 1u);
}

// Everyone puts and gets the same few keys; what is got is whole.
bool work_on(const std::string& path, int seed) {
  BlobStore store(path, 400'000);
  for (int i = 0; i < 300; i++) {
    const char letter = static_cast<char>('a' + (i * 7 + seed) % 20);
    const std::string blob(static_cast<size_t>(20'000), letter);
    store.put({&letter, 1}, blob);
    if (auto got = store.get({&letter, 1}); got && *got != blob) return false;
  }
  return true;
}

TEST(BlobStore, is_shared_by_processes_and_threads) {
  Folder folder;
  std::vector<pid_t> children;
  for (int seed = 0; seed < 2; seed++) {
    children.push_back(::fork());
    if (children.back() == 0) ::_exit(work_on(folder.path(), seed) ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  BlobStore store(folder.path());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; i++) {
        store.put(cat(i % 10), kilobyte('t'));
        EXPECT_EQ(store.get(cat(i % 10)), kilobyte('t'));
      }
    });
  for (auto& thread : threads) thread.join();
}

class DefaultFolder : public ::testing::Test {
 protected:
  static constexpr const char* kNames[] = {"THUNDER_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  void SetUp() override {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      old_.push_back(value ? std::optional<std::string>(value) : std::nullopt);
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (size_t i = 0; i < old_.size(); i++)
      if (old_[i])
        ::setenv(kNames[i], old_[i]->c_str(), 1);
      else
        ::unsetenv(kNames[i]);
  }
  std::vector<std::optional<std::string>> old_;
};

TEST_F(DefaultFolder, is_the_first_that_is_named) {
  EXPECT_EQ(BlobStore::default_folder(), "");
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(BlobStore::default_folder(), "/h/.cache/thunder");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(BlobStore::default_folder(), "/h/.cache/thunder");
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(BlobStore::default_folder(), "/x/thunder");
  ::setenv("THUNDER_CACHE_DIR", "/t", 1);
  EXPECT_EQ(BlobStore::default_folder(), "/t");
}

TEST_F(DefaultFolder, is_switched_off) {
  ::setenv("HOME", "/h", 1);
  for (const char* off : {"", "off"}) {
    ::setenv("THUNDER_CACHE_DIR", off, 1);
    EXPECT_EQ(BlobStore::default_folder(), "") << off;
  }
}

}  // namespace
}  // namespace thunder
