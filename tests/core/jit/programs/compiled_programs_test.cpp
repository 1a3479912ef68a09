// The programs of a compiled function, as files and exports take them.
#include "jit/programs/compiled_programs.h"

#include "ir/symbols.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

struct CompiledPrograms : CompiledTest {
  Ref<Compiled> exponential(const CompileOptions* options) {
    return compile([](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor.get())})));
    }, options);
  }
};

TEST_F(CompiledPrograms, of_one_symbolic_trace_are_saved_once) {
  auto options = make<CompileOptions>();
  options->set("dynamic", Any::boolean(true));
  const auto f = exponential(options.get());
  for (const int64_t n : {3, 4, 5}) run(*f, {random({n}, 1).get()});
  EXPECT_EQ(f->reports().statistics().misses, 3u);
  const std::vector<SavedProgram> saved = saved_programs(*f);
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_FALSE(used_symbols(saved[0].trace).empty());
}

TEST_F(CompiledPrograms, give_the_texts_of_their_kernels) {
  const auto f = exponential(only("fusion").get());
  EXPECT_TRUE(kernel_texts(*f).empty());
  run(*f, {random({3}, 1).get()});
  ASSERT_EQ(kernel_texts(*f).size(), 1u);
  EXPECT_NE(kernel_texts(*f)[0].find("exp"), std::string::npos);
}

}  // namespace
}  // namespace thunder::test
