// Ranges for NVIDIA's profilers, by a library that stands in for theirs. Covers jit/reports/ranges.
#include "jit/watches/ranges.h"

#include <dlfcn.h>

#include "support/child_process.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct Ranges : CompiledTest {
  // What a library that was named noted of a call.
  std::string noted() {
    auto f = compile([](Scope& s, const Values& in, Values& out) {
      Tensor* x = in[0].tensor.get();
      out.push(Ref<Tensor>(op(s, "sort", {any(op(s, "exp", {any(x)}))})));
    });
    run(*f, {random({5}, 1).get()});
    EXPECT_EQ(error, "");
    void* const library = ::dlopen(THUNDER_NVTX_STAND_IN, RTLD_NOW | RTLD_NOLOAD);
    if (!library) return "nothing opened it";
    return reinterpret_cast<const char* (*)()>(::dlsym(library, "nvtx_stand_in_noted"))();
  }
};

// What is disabled ends its process; the test beside it runs it in one of its own.
TEST_F(Ranges, are_not_opened_where_no_profiler_started_the_process) {
  EXPECT_EQ(run_in_a_process(this_program(), "Ranges.DISABLED_nothing", {{"THUNDER_NVTX", ""}}), 0);
}
// Disabled because it ends its process; the test above runs it in one of its own.
TEST_F(Ranges, DISABLED_nothing) { std::_Exit(noted() == "nothing opened it" && !ranges_are_wanted() ? 0 : 1); }

TEST_F(Ranges, stand_around_each_step_with_the_function_and_its_ops) {
  EXPECT_EQ(run_in_a_process(this_program(), "Ranges.DISABLED_steps", {{"THUNDER_NVTX", THUNDER_NVTX_STAND_IN}}), 0);
}
// Disabled because it ends its process; the test above runs it in one of its own.
TEST_F(Ranges, DISABLED_steps) {
  const std::string text = noted();
  if (text == "[f: prims.exp][f: prims.sort]") std::_Exit(0);
  std::fprintf(stderr, "noted: %s\n", text.c_str());
  std::_Exit(1);
}

TEST_F(Ranges, of_a_library_that_is_not_there_are_none) {
  EXPECT_EQ(run_in_a_process(this_program(), "Ranges.DISABLED_nothing", {{"THUNDER_NVTX", "/there/is/none.so"}}), 0);
}

}  // namespace
}  // namespace thunder::test
