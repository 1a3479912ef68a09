// Every op on its samples with each engine as the first executor: as they are, in every dtype, without elements, and its gradients.
// An engine that is not here is skipped. A share of the cases; all where THUNDER_TRIES is set.
#include "base/text.h"
#include "battery/battery.h"
#include "executors/engines.h"
#include "support/generator.h"
#include "tracer/eager.h"

namespace thunder::battery {
namespace {

// Of what a result of the dtype may be off by: engines round in other orders, and have functions of their own.
constexpr double kLooser = 25, kLeast = 1e-2;

struct Engines : Battery, testing::WithParamInterface<EngineRow> {
  void SetUp() override {
    std::string found;
    if (!GetParam().open("", found)) GTEST_SKIP() << found;
    options.set("executors", Any::string(GetParam().executor));
  }
  template <class F>
  void each(size_t share, F&& f) {
    if (tests::number_from("THUNDER_TRIES", 0)) share = 1;
    if (GetParam().executor == "tvm") share *= 50;  // seconds each
    size_t number = 0;
    each_case(cat("in ", GetParam().executor), [&](const Case& c) { return number++ % share == 0 && !c.sample.eager && f(c); });
  }
  // What it refuses it refuses as ever.
  bool check(const Case& c) {
    const Tensors tensors = make_tensors(c);
    const Outcome eager = run_eager(*context, c, tensors);
    const size_t n = eager.error.empty() ? eager.types.size() : std::max<size_t>(1, c.op->schema.results.size());
    const auto body = [&](Scope& s, std::span<Tensor* const> in) { return invoke(s, c, in, n); };
    EXPECT_EQ(difference(call_compiled(*context, body, tensors, n, options), eager, kLooser, kLeast), "") << c.name;
    return true;
  }
  // Of the sum of the squares of what is real.
  static std::vector<Tensor*> gradients(Scope& s, const Case& c, std::span<Tensor* const> in, size_t n) {
    const auto call = [&](std::string_view op, std::initializer_list<Any> args) {
      return s.invoke(op, args, nullptr, nullptr, 0, nullptr);
    };
    Tensor* sum = nullptr;
    for (Tensor* y : invoke(s, c, in, n)) {
      if (s.status() || y->type().dtype != DType::f32) continue;
      Tensor* part = call("sum", {Any::tensor(call("mul", {Any::tensor(y), Any::tensor(y)}))});
      sum = sum ? call("add", {Any::tensor(sum), Any::tensor(part)}) : part;
    }
    Values wrt;
    for (Tensor* t : in)
      if (t->type().dtype == DType::f32) wrt.push(Ref<Tensor>(t));
    std::vector<Tensor*> out;
    if (Values* found = sum && wrt.size() ? s.grad(sum, wrt) : nullptr)
      for (size_t i = 0; i < found->size(); i++) out.push_back((*found)[i].tensor.get());
    return out;
  }
  bool check_gradient(const Case& c) {
    if (!c.sample.gradient || !c.op->nondiff.empty()) return false;
    const Tensors tensors = make_tensors(c);
    const size_t n = result_count(*context, c, tensors);
    std::vector<Tensor*> in;
    for (auto& t : tensors) in.push_back(t.get());
    Outcome eager;
    {
      reset_random(*context);
      EagerScope scope(context->scope_environment(), true);
      for (Tensor* t : gradients(scope, c, in, n)) eager.types.push_back(t->type()), eager.values.push_back(numbers_of(*t));
      EXPECT_FALSE(scope.status()) << c.name << ": " << scope.status()->message();
    }
    if (eager.types.empty()) return false;
    const auto body = [&](Scope& s, std::span<Tensor* const> x) { return gradients(s, c, x, n); };
    const Outcome got = call_compiled(*context, body, tensors, eager.types.size(), options);
    EXPECT_EQ(difference(got, eager, 2 * kLooser, kLeast), "") << "gradients of " << c.name;
    return true;
  }
  CompileOptions options;
};

TEST_P(Engines, agree_with_eager_calls) {
  each(4, [&](const Case& c) { return check(c); });
}
TEST_P(Engines, agree_in_every_dtype) {
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16, DType::i8, DType::u64,
                            DType::u32, DType::u16, DType::u8, DType::boolean})
    each(64, [&](const Case& c) { return check(in_dtype(c, dtype)); });
}
TEST_P(Engines, agree_without_elements) {
  each(4, [&](const Case& c) { return check(without_elements(c)); });
}
TEST_P(Engines, agree_in_gradients) {
  each(8, [&](const Case& c) { return check_gradient(c); });
}

INSTANTIATE_TEST_SUITE_P(All, Engines, testing::ValuesIn(engines().begin(), engines().end()),
                         [](const auto& info) { return std::string(info.param.executor); });

}  // namespace
}  // namespace thunder::battery
