// Files beside a model: no name leads out of its folder.
#include "onnx/external.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "support/failure.h"
#include "support/folder.h"

namespace thunder::onnx {
namespace {

namespace fs = std::filesystem;

struct External : testing::Test {
  Folder folder;
  std::string open(const std::string& location, const std::string& model) {
    try {
      return std::string(1, static_cast<char>(ExternalFiles(model).open(location)->bytes()[0]));
    } catch (const Error& e) {
      return e.message();
    }
  }
  void SetUp() override {
    fs::create_directories(folder / "models/weights");
    write_file(folder / "models/a.bin", "a");
    write_file(folder / "models/weights/b.bin", "b");
    write_file(folder / "secret", "s");
  }
};

TEST_F(External, opens_files_of_the_folder_and_below) {
  const std::string model = folder / "models/m.onnx";
  EXPECT_EQ(open("a.bin", model), "a");
  EXPECT_EQ(open("./a.bin", model), "a");
  EXPECT_EQ(open("weights/b.bin", model), "b");
}

TEST_F(External, refuses_names_that_lead_elsewhere) {
  const std::string model = folder / "models/m.onnx";
  for (const char* name :
       {"../secret", "weights/../../secret", "/etc/passwd", "", ".", "..", "a//b", "weights/./b.bin", "a\\b"})
    EXPECT_NE(open(name, model).find("relative and without '..'"), std::string::npos) << name;
  EXPECT_NE(open(std::string("a\0b", 3), model).find("relative and without '..'"), std::string::npos);
}

TEST_F(External, refuses_links_out_of_the_folder) {
  fs::create_symlink(folder / "secret", folder / "models/link");
  fs::create_directory_symlink(fs::path(folder / "models").parent_path(), folder / "models/up");
  const std::string model = folder / "models/m.onnx";
  EXPECT_NE(open("link", model).find("a link out of the folder"), std::string::npos);
  EXPECT_NE(open("up/secret", model).find("a link out of the folder"), std::string::npos);
}

// In caches of models the files of a folder are links to others, which lie together.
TEST_F(External, follows_links_to_where_the_model_itself_is) {
  fs::create_directories(folder / "snapshot");
  write_file(folder / "models/m.onnx", "m");
  fs::create_symlink(folder / "models/m.onnx", folder / "snapshot/m.onnx");
  fs::create_symlink(folder / "models/a.bin", folder / "snapshot/m.data");
  EXPECT_EQ(open("m.data", folder / "snapshot/m.onnx"), "a");
}

TEST_F(External, refuses_what_is_no_regular_file_or_not_there) {
  const std::string model = folder / "models/m.onnx";
  EXPECT_NE(open("weights", model).find("no regular file"), std::string::npos);
  EXPECT_NE(open("nothing", model).find("which is not there"), std::string::npos);
  EXPECT_NE(open("a.bin", "").find("loaded from memory"), std::string::npos);
}

}  // namespace
}  // namespace thunder::onnx
