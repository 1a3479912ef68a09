// What an examination finds: planted kernels that are wrong, NaN, ops without gradients. Covers jit/reports: examine, examine_text,
// reference, reference_watch.
// covers: bindings/python/thunder/examine.py core/jit/compiled_reports.cpp core/jit/reports/examine_text.cpp
// covers: core/jit/watches/reference.cpp core/jit/watches/reference_watch.cpp
#include "jit/reports/examine.h"

#include <algorithm>
#include <cmath>

#include "jit/reports/explain.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

// Computes exp as if it were half of it.
class HalfExp : public Kernel {
 public:
  HalfExp() : Kernel(this) {}
  Status* run(const Launch* l) const {
    const float* in = l->inputs[0].as<float>();
    for (int64_t i = 0; i < l->outputs[0].elements(); i++) l->outputs[0].as<float>()[i] = 0.5f * std::exp(in[i]);
    return nullptr;
  }
};

Ref<Executor> wrong_executor() {
  ExecutorDesc d;
  d.name = "wrong";
  d.claim = [](const NodeView& view, void*) { return view.node.op->name() == "prims.exp"; };
  d.prepare = [](const NodeView&, void*) -> KernelPtr { return std::make_unique<HalfExp>(); };
  return make<Executor>(std::move(d));
}

struct Examined : CompiledTest {
  Examination of(Lambda::Body body, const Ref<Tensor>& x, const CompileOptions* options = nullptr) {
    auto f = compile(std::move(body), options);
    Values in;
    in.push(Ref<Tensor>(x));
    return examine(*f, in);
  }
  static const Remark* find(const Examination& e, std::string_view kind) {
    const auto it = std::find_if(e.remarks.begin(), e.remarks.end(), [&](auto& r) { return r.kind == kind; });
    return it == e.remarks.end() ? nullptr : &*it;
  }
  Ref<Tensor> x = random({4, 4}, 1);
};

TEST_F(Examined, functions_that_are_right_are_sound) {
  const Examination e = of([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "softmax", {any(in[0].tensor.get()), Any::integer(1)});
    out.push(Ref<Tensor>(op(s, "matmul", {any(y), any(in[0].tensor.get())})));
  }, x);
  EXPECT_TRUE(e.sound()) << e.text();
  EXPECT_GT(e.checked, 0u);
  EXPECT_EQ(e.ops.size(), 2u);
  EXPECT_EQ(e.ops[0].op, "softmax");
  EXPECT_EQ(e.ops[0].where, "here:1");
  EXPECT_NE(e.ops[0].executors, "");
  EXPECT_GT(e.cost.flops, 2 * 4 * 4 * 4);
}

TEST_F(Examined, a_wrong_kernel_is_named_with_its_executor_and_the_users_line) {
  auto options = only("host");
  options->add_executor(wrong_executor());
  const Examination e = of([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "mul", {any(in[0].tensor.get()), any(in[0].tensor.get())});
    Tensor* z = s.invoke("exp", std::vector<Any>{any(y)}, nullptr, nullptr, 0, "model:7");
    out.push(Ref<Tensor>(op(s, "add", {any(z), Any::real(1)})));
  }, x, options.get());
  EXPECT_FALSE(e.sound());
  const Remark* wrong = find(e, "wrong");
  ASSERT_TRUE(wrong) << e.text();
  EXPECT_EQ(wrong->op, "exp");
  EXPECT_EQ(wrong->where, "model:7");
  EXPECT_NE(wrong->text.find("run by executor 'wrong': element "), std::string::npos) << wrong->text;
  EXPECT_EQ(std::count_if(e.remarks.begin(), e.remarks.end(), [](auto& r) { return r.kind == "wrong"; }), 1)
      << "each step is compared on the operands that it had: " << e.text();
}

TEST_F(Examined, the_first_line_that_makes_nan_is_named) {
  const Examination e = of([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "sub", {any(in[0].tensor.get()), Any::real(10)});
    Tensor* z = s.invoke("log", std::vector<Any>{any(y)}, nullptr, nullptr, 0, "model:9");
    out.push(Ref<Tensor>(op(s, "exp", {any(z)})));
  }, x);
  const Remark* nan = find(e, "nan");
  ASSERT_TRUE(nan) << e.text();
  EXPECT_EQ(nan->op, "log");
  EXPECT_EQ(nan->where, "model:9");
  EXPECT_EQ(std::count_if(e.remarks.begin(), e.remarks.end(), [](auto& r) { return r.kind == "nan"; }), 1) << e.text();
}

TEST_F(Examined, what_cannot_be_compiled_says_why) {
  const Examination e = of([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "sofmax", {any(in[0].tensor.get())})));
  }, x);
  EXPECT_FALSE(e.sound());
  const Remark* unsupported = find(e, "unsupported");
  ASSERT_TRUE(unsupported);
  EXPECT_NE(unsupported->text.find("did you mean 'softmax'?"), std::string::npos) << unsupported->text;
}

TEST_F(Examined, gradients_of_a_loss_are_compared_too) {
  auto options = only("host");
  options->add_executor(wrong_executor());
  const auto loss = [](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "sigmoid", {any(in[0].tensor.get())});
    out.push(Ref<Tensor>(op(s, "sum", {any(y)})));
  };
  EXPECT_TRUE(of(loss, x).gradients);
  EXPECT_TRUE(of(loss, x).sound());
}

TEST_F(Examined, what_stops_a_gradient_is_named_with_its_reason) {
  const Examination e = of([](Scope& s, const Values& in, Values& out) {
    Tensor* y = s.invoke("round", std::vector<Any>{any(in[0].tensor.get())}, nullptr, nullptr, 0, "model:3");
    Tensor* z = s.invoke("detach", std::vector<Any>{any(y)}, nullptr, nullptr, 0, "model:4");
    out.push(Ref<Tensor>(op(s, "sum", {any(z)})));
  }, x);
  const Remark* stop = find(e, "gradient");
  ASSERT_TRUE(stop) << e.text();
  EXPECT_NE(stop->text.find("no gradient flows through it"), std::string::npos) << stop->text;
}

TEST_F(Examined, updates_in_place_are_compared_on_what_they_read) {
  const Examination e = of([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "mul", {any(in[0].tensor.get()), Any::real(2)});
    op(s, "add_", {any(in[0].tensor.get()), any(y)});
    out.push(Ref<Tensor>(y));
  }, x);
  EXPECT_TRUE(e.sound()) << e.text();
}

TEST_F(Examined, is_a_report_as_text_and_json) {
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor.get())}))); });
  EXPECT_EQ(explain(*f, "examination"), "");
  Values in;
  in.push(Ref<Tensor>(x));
  f->reports().set_last_examination(std::make_shared<const Examination>(examine(*f, in)));
  EXPECT_EQ(explain(*f, "examination").find("f: sound\n"), 0u) << explain(*f, "examination");
  EXPECT_NE(explain(*f, "examination_json").find("\"sound\":true"), std::string::npos);
}

}  // namespace
}  // namespace thunder::test
