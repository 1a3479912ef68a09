// The process's kernels: what a second process finds on disk.
#include "loops/kernels.h"

#include "core/executors/fusion/support.h"
#include "support/child_process.h"
#include "support/folder.h"

namespace thunder::fusion {
namespace {

struct KernelsOnDisk : FusedTest {};

// Disabled because it ends its process, with the number of kernels that it compiled; the tests below run it in one of its own.
TEST_F(KernelsOnDisk, DISABLED_compile_some) {
  const auto made = outcome([](Scope& s, std::span<Tensor* const> in) { return std::vector{call(s, "softmax", {arg(in[0]), arg(int64_t{1})})}; },
                            {numbers({4, 40})}, 1, "fusion");
  std::_Exit(made.error.empty() ? static_cast<int>(kernel_statistics().compiled) : 100);
}

// How many kernels a process compiles that keeps them in `folder`.
int compiled_by_a_process(const std::string& folder) {
  return test::run_in_a_process(test::this_program(), "KernelsOnDisk.DISABLED_compile_some", {{"THUNDER_CACHE_DIR", folder}});
}

TEST_F(KernelsOnDisk, are_found_by_the_next_process) {
  Folder folder;
  EXPECT_EQ(compiled_by_a_process(folder.path()), 1);
  EXPECT_EQ(compiled_by_a_process(folder.path()), 0);
}

TEST_F(KernelsOnDisk, are_not_kept_when_the_user_says_so) {
  EXPECT_EQ(compiled_by_a_process("off"), 1);
  EXPECT_EQ(compiled_by_a_process("off"), 1);
}

TEST_F(KernelsOnDisk, are_compiled_again_when_damaged) {
  Folder folder;
  EXPECT_EQ(compiled_by_a_process(folder.path()), 1);
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) std::filesystem::resize_file(file.path(), 100);
  EXPECT_EQ(compiled_by_a_process(folder.path()), 1);
  EXPECT_EQ(compiled_by_a_process(folder.path()), 0);
}

}  // namespace
}  // namespace thunder::fusion
