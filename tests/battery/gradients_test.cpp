// Gradients of every differentiable op against central differences in f64, eager and compiled.
#include <cmath>

#include "battery/battery.h"
#include "tracer/eager.h"

namespace thunder::battery {
namespace {

struct Gradients : Battery {
  // sum(weights * op(args)) over every real result; null when there is none.
  static Tensor* loss(Scope& scope, const Case& c, std::span<Tensor* const> in, size_t n) {
    auto call = [&](std::string_view op, std::initializer_list<Any> args) { return scope.invoke(op, args, nullptr, nullptr, 0, nullptr); };
    Tensor* sum = nullptr;
    for (Tensor* y : invoke(scope, c, in, n)) {
      if (scope.status() || y->type().dtype != DType::f64) continue;
      Ints shape;
      for (Dim d : y->type().shape) shape.push_back(d.value());
      std::vector<double> weights;
      for (int64_t j = 0; j < count(shape); j++) weights.push_back(std::sin(1 + 0.7 * static_cast<double>(j)));
      auto constant = tensor_of(shape, DType::f64, weights);
      Tensor* part = call("sum", {Any::tensor(call("mul", {Any::tensor(y), Any::tensor(scope.own(constant))}))});
      sum = sum ? call("add", {Any::tensor(sum), Any::tensor(part)}) : part;
    }
    return sum;
  }
  static std::vector<Tensor*> gradient(Scope& scope, const Case& c, std::span<Tensor* const> in, size_t n) {
    Tensor* at = loss(scope, c, in, n);
    Values wrt;
    for (Tensor* t : in)
      if (t->type().dtype == DType::f64) wrt.push(Ref<Tensor>(t));
    std::vector<Tensor*> out;
    if (Values* found = at ? scope.grad(at, wrt) : nullptr)
      for (size_t i = 0; i < found->size(); i++) out.push_back((*found)[i].tensor.get());
    return out;
  }
  double value(const Case& c, std::span<Tensor* const> in, size_t n) {
    reset_random(*context);
    EagerScope scope(context->scope_environment(), false);
    return numbers_of(*loss(scope, c, in, n))[0];
  }
  // Whether there was a gradient.
  bool check(const Case& c);
  void check_differences(const Case& c, const std::vector<std::vector<double>>& got, std::span<Tensor* const> in, size_t n);
};

void Gradients::check_differences(const Case& c, const std::vector<std::vector<double>>& got, std::span<Tensor* const> in, size_t n) {
  size_t next = 0;
  for (Tensor* t : in) {
    if (t->type().dtype != DType::f64) continue;
    const std::vector<double>& gradients = got[next++];
    auto* data = reinterpret_cast<double*>(t->data());
    for (size_t i = 0; i < std::min<size_t>(gradients.size(), 16); i++) {
      const double at = data[i], step = 1e-5;
      data[i] = at + step;
      const double above = value(c, in, n);
      data[i] = at - step;
      const double below = value(c, in, n);
      data[i] = at;
      const double expected = (above - below) / (2 * step);
      ASSERT_NEAR(gradients[i], expected, 2e-5 * (1 + std::fabs(expected))) << c.name << ", tensor " << next - 1 << ", element " << i;
    }
  }
}

bool Gradients::check(const Case& c) {
  const Tensors tensors = make_tensors(c);
  std::vector<Tensor*> in;
  for (auto& t : tensors) in.push_back(t.get());
  const size_t n = result_count(*context, c, tensors);
  Outcome eager;
  {
    reset_random(*context);
    EagerScope scope(context->scope_environment(), true);
    const auto gradients = gradient(scope, c, in, n);
    EXPECT_FALSE(scope.status()) << c.name << ": " << scope.status()->message();
    if (scope.status()) return true;
    for (Tensor* t : gradients) eager.types.push_back(t->type()), eager.values.push_back(numbers_of(*t));
  }
  if (eager.types.empty()) return false;
  check_differences(c, eager.values, in, n);
  if (c.sample.eager) return true;
  const auto body = [&](Scope& s, std::span<Tensor* const> x) { return gradient(s, c, x, n); };
  EXPECT_EQ(difference(call_compiled(*context, body, tensors, eager.types.size(), {}), eager, 100), "") << c.name << ", compiled";
  return true;
}

TEST_F(Gradients, agree_with_differences) {
  each_case("gradients", [&](const Case& c) {
    return c.sample.gradient && c.op->nondiff.empty() && check(with_reals(c, DType::f64));
  });
}

}  // namespace
}  // namespace thunder::battery
