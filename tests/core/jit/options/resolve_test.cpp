// Names of PyTorch's, modes and backends become the library's own options, or are refused. Also covers inductor_options.
#include "jit/options/resolve.h"

#include <set>

#include "jit/options/inductor_options.h"
#include "compile/stages.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

using ResolveOptions = CompiledTest;

Ref<CompileOptions> given(std::string_view name, const Any& value) {
  auto options = make<CompileOptions>();
  options->set(name, value);
  return options;
}

std::string refusal(CompiledTest& t, const CompileOptions& options) {
  try {
    resolve_options(options, *t.context);
    return "";
  } catch (const Error& e) {
    return std::string(e.message());
  }
}

bool is_own(std::string_view name) {
  const auto rows = compile_options();
  return std::any_of(rows.begin(), rows.end(), [&](auto& row) { return row.name == name; });
}

TEST_F(ResolveOptions, every_row_of_inductor_s_options_names_what_is_there) {
  std::set<std::string_view> names, passes;
  for (const StageRow& row : stages())
    if (!row.required) passes.insert(row.name);
  for (const InductorOption& row : inductor_options()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.why.empty()) << row.name;
    if (row.state == InductorState::option) EXPECT_TRUE(is_own(row.ours)) << row.name;
    if (row.state == InductorState::always) EXPECT_FALSE(row.ours.empty()) << row.name;
    if (row.state == InductorState::passes)
      for (const std::string& pass : split_list(row.ours)) EXPECT_TRUE(passes.count(pass)) << row.name;
  }
  EXPECT_EQ(names.size(), 163u);
}

TEST_F(ResolveOptions, an_option_of_another_name_keeps_its_value) {
  EXPECT_TRUE(resolve_options(*given("triton.cudagraphs", Any::boolean(true)), *context)->flag("use_cudagraphs", false));
  EXPECT_FALSE(resolve_options(*given("freezing", Any::boolean(false)), *context)->flag("freezing", true));
}

TEST_F(ResolveOptions, false_leaves_the_passes_of_a_name_out) {
  const auto options = resolve_options(*given("dce", Any::boolean(false)), *context);
  EXPECT_EQ(options->text("disable_passes", ""), "dce,dce_prims");
  EXPECT_EQ(resolve_options(*given("dce", Any::boolean(true)), *context)->text("disable_passes", ""), "");
  EXPECT_EQ(refusal(*this, *given("dce", Any::integer(0))), "compile: option 'dce' must be a boolean, got 0");
}

TEST_F(ResolveOptions, what_is_always_so_takes_that_value_alone) {
  EXPECT_EQ(refusal(*this, *given("cpp_wrapper", Any::boolean(true))), "");
  EXPECT_EQ(refusal(*this, *given("cpp_wrapper", Any::boolean(false))),
            "compile: option 'cpp_wrapper' can only be true here, got false: Steps are run by the library, no "
            "interpreter stands between them.");
}

TEST_F(ResolveOptions, a_refused_name_says_why_and_what_comes_nearest) {
  const std::string message = refusal(*this, *given("max_autotune_gemm_backends", Any::string("ATEN")));
  EXPECT_NE(message.find("Executors of products are named there."), std::string::npos) << message;
  EXPECT_NE(message.find("'executors' comes nearest"), std::string::npos) << message;
}

TEST_F(ResolveOptions, a_mode_is_the_options_that_it_stands_for) {
  const auto options = resolve_options(*given("mode", Any::string("max-autotune")), *context);
  EXPECT_TRUE(options->flag("max_autotune", false));
  EXPECT_TRUE(options->flag("use_cudagraphs", false));
  EXPECT_EQ(resolve_options(*given("mode", Any::string("lite")), *context)->backend()->name, "eager");
}

TEST_F(ResolveOptions, refuses_an_option_that_contradicts_the_mode) {
  auto options = given("mode", Any::string("max-autotune"));
  options->set("max_autotune", Any::boolean(false));
  EXPECT_EQ(refusal(*this, *options),
            "compile: option 'mode' = \"max-autotune\" asks for max_autotune = true, and option 'max_autotune' says "
            "false");
}

TEST_F(ResolveOptions, resolving_twice_changes_nothing) {
  const auto once = resolve_options(*given("backend", Any::string("eager")), *context);
  const auto twice = resolve_options(*once, *context);
  EXPECT_EQ(once->text("disable_passes", ""), twice->text("disable_passes", ""));
  EXPECT_EQ(once->backend(), twice->backend());
}

}  // namespace
}  // namespace thunder::test
