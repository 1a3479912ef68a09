// What the doctor finds, for contexts on machines that lack something. Covers jit/doctor.
#include "jit/reports/doctor.h"

#include <algorithm>

#include "loops/kernels.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Doctor : CompiledTest {
  std::vector<Finding> all;
  const Finding* find(std::string_view name) {
    if (all.empty()) all = examine(*context);
    const auto it = std::find_if(all.begin(), all.end(), [&](auto& f) { return f.name == name; });
    return it == all.end() ? nullptr : &*it;
  }
};

TEST_F(Doctor, runs_a_kernel_and_says_who_ran_it) {
  const Finding* kernel = find("kernel");
  ASSERT_TRUE(kernel);
  EXPECT_NE(kernel->text.find("gives the right values"), std::string::npos) << kernel->text;
  EXPECT_EQ(kernel->state, loops::can_compile() ? Finding::State::works : Finding::State::missing);
}

TEST_F(Doctor, says_what_an_executor_lacks) {
  for (auto& [name, why] : context->missing_executors()) {
    const Finding* found = find(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->state, Finding::State::missing);
    EXPECT_EQ(found->text, why);
  }
}

TEST_F(Doctor, names_versions_and_the_machine) {
  for (const char* name : {"processor", "instructions", "threads", "LLVM", "oneDNN", "CUDA driver", "NVRTC", "cuBLASLt", "cache", "executors"}) {
    ASSERT_TRUE(find(name)) << name;
    EXPECT_FALSE(find(name)->text.empty()) << name;
  }
  if (loops::can_compile()) { EXPECT_TRUE(find("LLVM")->text.starts_with("LLVM 19.")) << find("LLVM")->text; }
}

}  // namespace
}  // namespace thunder::test
