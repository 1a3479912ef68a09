// For each check of `debug_checks` a program that fails it, and one that does not. Covers jit/reports/debug_checks.
#include "jit/watches/debug_checks.h"

#include <cmath>

#include "support/functions.h"

namespace thunder::test {
namespace {

// exp; `wrong` adds one to its first element, `wide` writes an element behind its result.
class PlantedExp : public Kernel {
 public:
  PlantedExp(bool wrong, bool wide) : Kernel(this), wrong_(wrong), wide_(wide) {}
  Status* run(const Launch* l) const {
    const float* in = l->inputs[0].as<float>();
    float* out = l->outputs[0].as<float>();
    const int64_t n = l->outputs[0].elements();
    for (int64_t i = 0; i < n; i++) out[i] = std::exp(in[i]);
    if (wrong_) out[0] += 1;
    if (wide_) out[n] = out[n] == 7 ? 8 : 7;  // memory that was used before may hold one of them
    return nullptr;
  }

 private:
  const bool wrong_, wide_;
};

Ref<Executor> planted(bool wrong, bool wide) {
  ExecutorDesc d;
  d.name = "planted";
  d.claim = [](const NodeView& view, void*) { return view.node.op->name() == "prims.exp"; };
  if (wrong) d.prepare = [](const NodeView&, void*) -> KernelPtr { return std::make_unique<PlantedExp>(true, false); };
  else if (wide) d.prepare = [](const NodeView&, void*) -> KernelPtr { return std::make_unique<PlantedExp>(false, true); };
  else d.prepare = [](const NodeView&, void*) -> KernelPtr { return std::make_unique<PlantedExp>(false, false); };
  return make<Executor>(std::move(d));
}

struct Checked : CompiledTest {
  // exp at model:7, between two other lines, so that its result lies in the program's memory.
  std::string outcome(std::string_view checks, Ref<Executor> executor = {}, float low = -1) {
    auto options = only("host");
    options->set("debug_checks", Any::string(checks));
    if (executor) options->add_executor(executor);
    auto f = compile([](Scope& s, const Values& in, Values& out) {
      Tensor* x = in[0].tensor.get();
      Tensor* y = s.invoke("mul", std::vector<Any>{any(x), any(x)}, nullptr, nullptr, 0, "model:6");
      Tensor* z = s.invoke("exp", std::vector<Any>{any(y)}, nullptr, nullptr, 0, "model:7");
      Tensor* w = s.invoke("log", std::vector<Any>{any(x)}, nullptr, nullptr, 0, "model:8");
      out.push(Ref<Tensor>(op(s, "add", {any(op(s, "mul", {any(z), any(w)})), any(y)})));
    }, options.get());
    error.clear();
    run(*f, {random({5}, 1, low, 2).get()});
    return error;
  }
};

TEST_F(Checked, kernels_that_are_right_pass_all_of_them) {
  EXPECT_EQ(outcome("nan,inf,reference,bounds", planted(false, false), 0.5f), "");
}

TEST_F(Checked, reference_names_the_step_the_executor_and_the_users_line) {
  EXPECT_EQ(outcome("", planted(true, false)), "");
  const std::string says = outcome("reference", planted(true, false), 0.5f);
  EXPECT_EQ(says.find("f: debug_checks: step 2, exp at model:7, run by executor 'planted': element 0 of 5 is "), 0u) << says;
  EXPECT_NE(says.find("; the function's repro of step 2 is the step as a script"), std::string::npos) << says;
}

TEST_F(Checked, reference_says_nothing_of_nan_that_both_make) { EXPECT_EQ(outcome("reference"), ""); }

TEST_F(Checked, nan_names_the_first_line_that_makes_one) {
  const std::string says = outcome("nan");
  EXPECT_NE(says.find("log at model:8: makes NaN of operands that have none"), std::string::npos) << says;
  EXPECT_EQ(outcome("nan", {}, 0.5f), "");
}

TEST_F(Checked, inf_names_the_first_line_that_makes_one) {
  auto options = only("host");
  options->set("debug_checks", Any::string("inf"));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = s.invoke("reciprocal", std::vector<Any>{any(in[0].tensor.get())}, nullptr, nullptr, 0, "model:2");
    out.push(Ref<Tensor>(op(s, "exp", {any(y)})));
  }, options.get());
  EXPECT_EQ(run(*f, {tensor({2}, {1, 2}).get()}).size(), 2u) << error;
  run(*f, {tensor({2}, {1, 0}).get()});
  EXPECT_NE(error.find("step 1, reciprocal at model:2: makes infinity"), std::string::npos) << error;
}

TEST_F(Checked, bounds_name_who_writes_behind_its_result) {
  EXPECT_EQ(outcome("", planted(false, true), 0.5f), "");
  const std::string says = outcome("bounds", planted(false, true), 0.5f);
  EXPECT_NE(says.find("exp at model:7, run by executor 'planted': writes at byte "), std::string::npos) << says;
}

TEST_F(Checked, fused_kernels_and_products_with_epilogues_pass) {
  auto options = make<CompileOptions>();
  options->set("debug_checks", Any::string("nan,inf,reference,bounds"));
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "softmax", {any(op(s, "matmul", {any(x), any(x)})), Any::integer(1)});
    out.push(Ref<Tensor>(op(s, "relu", {any(op(s, "matmul", {any(y), any(x)}))})));
  }, options.get());
  EXPECT_EQ(run(*f, {random({64, 64}, 3).get()}).size(), 64u * 64) << error;
}

TEST_F(Checked, an_unknown_check_is_refused_with_those_that_are_there) {
  auto options = only("host");
  options->set("debug_checks", Any::string("nan,shapes"));
  try {
    compile([](Scope&, const Values&, Values&) {}, options.get());
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("'debug_checks' must be a list of \"nan\", \"inf\", \"reference\" or \"bounds\", got \"shapes\""),
              std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace thunder::test
