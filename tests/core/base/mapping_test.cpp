#include "base/mapping.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/files.h"
#include "base/status.h"
#include "support/folder.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

std::string text_of(const Mapping& m) { return {reinterpret_cast<const char*>(m.bytes().data()), m.bytes().size()}; }

std::string refusal(const std::string& path) {
  try {
    Mapping::map_file(path);
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

TEST(Mapping, shows_a_file_and_keeps_writes_to_itself) {
  Folder folder;
  write_file(folder / "a", "abc");
  const Ref<Mapping> m = Mapping::map_file(folder / "a");
  EXPECT_EQ(text_of(*m), "abc");
  m->bytes()[0] = std::byte{'x'};
  EXPECT_EQ(text_of(*m), "xbc");
  EXPECT_EQ(read_file(folder / "a", 100), "abc");
}

TEST(Mapping, of_an_empty_file_is_empty) {
  Folder folder;
  write_file(folder / "a", "");
  EXPECT_EQ(text_of(*Mapping::map_file(folder / "a")), "");
}

TEST(Mapping, copies_bytes) {
  std::string given = "abc";
  const Ref<Mapping> m = Mapping::copy_of(std::as_bytes(std::span(given)));
  given[0] = 'x';
  EXPECT_EQ(text_of(*m), "abc");
}

TEST(Mapping, refuses_what_is_no_regular_file) {
  Folder folder;
  EXPECT_NE(refusal(folder / "nothing").find("cannot open"), std::string::npos);
  std::filesystem::create_directory(folder / "d");
  EXPECT_NE(refusal(folder / "d").find("no regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(folder / "pipe").find("no regular file"), std::string::npos);
}

}  // namespace
}  // namespace thunder
