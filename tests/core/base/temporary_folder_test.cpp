// Folders that go with what is in them.
#include "base/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"

namespace thunder {
namespace {

TEST(TemporaryFolder, is_the_users_alone_and_goes_with_its_files) {
  std::string path;
  {
    const TemporaryFolder folder, another;
    path = folder.path();
    EXPECT_NE(path, another.path());
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
    write_file(path + "/file", "text");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace thunder
