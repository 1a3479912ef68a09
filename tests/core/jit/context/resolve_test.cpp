// Names of PyTorch's, modes and backends become the library's own options, or are refused.
// covers: core/jit/options/inductor_options.cpp
#include "jit/context/resolve.h"

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
    if (row.state == InductorState::sets) EXPECT_TRUE(is_own(row.ours.substr(0, row.ours.find('=')))) << row.name;
    if (row.state == InductorState::words)
      EXPECT_EQ(refusal(*this, *given(row.name, Any::boolean(true))), "") << row.name;
    if (row.state == InductorState::always) EXPECT_FALSE(row.ours.empty()) << row.name;
    if (row.state == InductorState::passes)
      for (const std::string& pass : split_list(row.ours)) EXPECT_TRUE(passes.count(pass)) << row.name;
  }
  EXPECT_EQ(names.size(), 164u);  // 163 of one version, and emulate_precision_casts
}

TEST_F(ResolveOptions, an_option_of_another_name_keeps_its_value) {
  EXPECT_TRUE(resolve_options(*given("triton.cudagraphs", Any::boolean(true)), *context)->flag("use_cudagraphs", false));
  EXPECT_FALSE(resolve_options(*given("freezing", Any::boolean(false)), *context)->flag("freezing", true));
}

TEST_F(ResolveOptions, more_than_sixty_of_inductor_s_options_are_taken) {
  const auto all = inductor_options();
  EXPECT_GE(std::count_if(all.begin(), all.end(), [](auto& row) { return row.state != InductorState::refused; }), 60);
}

TEST_F(ResolveOptions, a_name_adds_words_to_a_list_or_takes_them_away) {
  EXPECT_EQ(resolve_options(*given("nan_asserts", Any::boolean(true)), *context)->text("debug_checks", ""), "nan,inf");
  EXPECT_EQ(resolve_options(*given("trace.output_code", Any::boolean(false)), *context)->text("trace_files", ""),
            "fx_graph,fx_graph_transformed,ir_pre_fusion,ir_post_fusion");
  auto both = given("nan_asserts", Any::boolean(true));
  both->set("debug_checks", Any::string("nan,bounds"));
  EXPECT_EQ(resolve_options(*both, *context)->text("debug_checks", ""), "bounds,nan,inf");
}

TEST_F(ResolveOptions, a_name_that_stands_for_a_value_gives_way_to_one_that_was_given) {
  EXPECT_EQ(resolve_options(*given("trace.enabled", Any::boolean(true)), *context)->text("trace_dir", ""), "thunder_debug");
  auto both = given("trace.enabled", Any::boolean(true));
  both->set("trace.debug_dir", Any::string("there"));
  EXPECT_EQ(resolve_options(*both, *context)->text("trace_dir", ""), "there");
}

TEST_F(ResolveOptions, without_epilogue_fusion_lines_after_a_product_are_steps) {
  const auto epilogues = [&](bool fused) {
    const auto options = given("epilogue_fusion", Any::boolean(fused));
    auto f = compile([](Scope& s, const Values& in, Values& out) {
      Tensor* x = in[0].tensor.get();
      out.push(Ref<Tensor>(op(s, "relu", {any(op(s, "matmul", {any(x), any(x)}))})));
    }, options.get());
    run(*f, {random({256, 256}, 1).get()});
    return f->reports().latest()->program->plan().epilogues.size();
  };
  EXPECT_EQ(epilogues(true), 1u) << error;
  EXPECT_EQ(epilogues(false), 0u) << error;
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
  for (const InductorOption& row : inductor_options()) {
    if (row.state != InductorState::always) continue;
    const bool flag = row.ours == "true" || row.ours == "false";
    EXPECT_EQ(refusal(*this, *given(row.name, flag ? Any::boolean(row.ours == "true") : Any::string(row.ours))), "");
    const std::string other = refusal(*this, *given(row.name, flag ? Any::boolean(row.ours != "true") : Any::string("other")));
    EXPECT_NE(other.find(cat("'", row.name, "' can only be ", row.ours, " here, got ")), std::string::npos) << other;
  }
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

TEST_F(ResolveOptions, names_of_lightning_s_are_options_or_say_why_not) {
  EXPECT_TRUE(resolve_options(*given("plugins", Any::string("reduce-overhead")), *context)->settings().use_cudagraphs);
  EXPECT_TRUE(resolve_options(*given("debug_options", Any::string("check_traces")), *context)->settings().verify);
  for (const char* name : {"auto", "default"}) EXPECT_EQ(refusal(*this, *given("recipe", Any::string(name))), "");
  EXPECT_EQ(refusal(*this, *given("plugins", Any::string("reduce-overhead,fsdp"))),
            "compile: option 'plugins' = \"fsdp\" is not there: a program runs on one device");
  EXPECT_EQ(refusal(*this, *given("debug_options", Any::string("check_trace"))),
            "compile: option 'debug_options' names \"check_traces\", \"record_interpreter_history\", "
            "\"show_interpreter_progress\", got \"check_trace\" (did you mean 'check_traces'?)");
}

TEST_F(ResolveOptions, deterministic_refuses_what_was_measured_or_is_another_library_s) {
  const auto with = [&](std::string_view name, const Any& value) {
    auto options = given("deterministic", Any::boolean(true));
    options->set(name, value);
    return refusal(*this, *options);
  };
  EXPECT_EQ(with("float32_matmul_precision", Any::string("high")), "");
  for (const char* mode : {"max-autotune", "max-autotune-no-cudagraphs"})
    EXPECT_EQ(with("mode", Any::string(mode)),
              "compile: option 'deterministic' asks for max_autotune = false, and option 'max_autotune' says true");
  EXPECT_EQ(with("max_autotune", Any::boolean(true)), with("mode", Any::string("max-autotune")));
  EXPECT_EQ(with("backend", Any::string("openxla")),
            "compile: option 'deterministic' leaves no place for the executor 'openxla', whose library promises no bits; "
            "leave one of the two out");
}

// A product and sums long enough to be divided among threads, by functions compiled apart.
TEST_F(ResolveOptions, what_deterministic_allows_gives_the_same_bits_on_any_number_of_threads) {
  const auto options = given("deterministic", Any::boolean(true));
  const Ref<Tensor> x = random({300, 700}, 1);
  std::set<Floats> results;
  for (const size_t threads : {1, 2, 3, 7}) {
    context->use_threads(threads);
    auto f = compile([](Scope& s, const Values& in, Values& out) {
      Tensor* a = in[0].tensor.get();
      Tensor* product = op(s, "matmul", {any(a), any(op(s, "transpose", {any(a), Any::integer(0), Any::integer(1)}))});
      out.push(Ref<Tensor>(op(s, "add", {any(op(s, "sum", {any(op(s, "exp", {any(a)}))})), any(op(s, "sum", {any(product)}))})));
    }, options.get());
    for (int call = 0; call < 2; call++) results.insert(run(*f, {x.get()}));
  }
  EXPECT_EQ(results.size(), 1u) << error;
}

// Without a rounding after each line bfloat16's 256 + 1 - 256 would be 1.
TEST_F(ResolveOptions, a_kernel_of_several_lines_rounds_after_each) {
  auto options = given("emulate_precision_casts", Any::boolean(true));
  options->set("executors", Any::string("fusion"));
  const auto dtype = [](DType d) {
    Any a;
    a.kind = ArgKind::dtype, a.dtype = d;
    return a;
  };
  auto f = compile([dtype](Scope& s, const Values& in, Values& out) {
    Tensor* x = op(s, "to", {any(in[0].tensor), dtype(DType::bf16)});
    Tensor* y = op(s, "sub", {any(op(s, "add", {any(x), Any::real(1)})), Any::real(256)});
    out.push(Ref<Tensor>(op(s, "to", {any(y), dtype(DType::f32)})));
  }, options.get());
  EXPECT_EQ(run(*f, {tensor({2}, {256, 3}).get()}), Floats({0, -252})) << error;
  EXPECT_EQ(lines_of(*f, "fusion", "region"), 1);
  EXPECT_NE(refusal(*this, *given("emulate_precision_casts", Any::boolean(false))).find("can only be true"), std::string::npos);
}

TEST_F(ResolveOptions, resolving_twice_changes_nothing) {
  const auto once = resolve_options(*given("backend", Any::string("eager")), *context);
  const auto twice = resolve_options(*once, *context);
  EXPECT_EQ(once->text("disable_passes", ""), twice->text("disable_passes", ""));
  EXPECT_EQ(once->backend(), twice->backend());
}

}  // namespace
}  // namespace thunder::test
