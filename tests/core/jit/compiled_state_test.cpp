// What options make of the state that calls and misses share.
#include "jit/compiled_state.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

struct CompiledStateOf : CompiledTest {
  std::unique_ptr<CompiledState> state(std::string_view option, const Any& value) {
    auto options = make<CompileOptions>();
    options->set(option, value);
    options->update_settings();
    return std::make_unique<CompiledState>(CompileSetup{context, options},
                                           Ref<Function>::adopt(new Lambda([](Scope&, const Values&, Values&) {})));
  }
};

TEST_F(CompiledStateOf, functions_that_cache_nothing_look_for_no_program) {
  const auto made = state("cache", Any::string("no caching"));
  EXPECT_FALSE(made->caches);
  EXPECT_FALSE(made->looks_up);
  EXPECT_EQ(made->dynamic, nullptr);
}

TEST_F(CompiledStateOf, functions_that_may_read_values_have_segments) {
  EXPECT_NE(state("fullgraph", Any::boolean(false))->segments, nullptr);
  EXPECT_EQ(state("fullgraph", Any::boolean(true))->segments, nullptr);
}

TEST_F(CompiledStateOf, functions_of_one_family_share_what_is_kept_recently) {
  const auto first = state("fullgraph", Any::boolean(true));
  const CompiledState second({context, make<CompileOptions>(), first->programs.recent()}, first->function);
  EXPECT_EQ(second.programs.recent(), first->programs.recent());
}

}  // namespace
}  // namespace thunder::test
