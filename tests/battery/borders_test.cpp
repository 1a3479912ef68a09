// Every op at the borders of its operands: zeros of both signs, ones, infinities, NaN, denormals, ties. Compiled values, signs of
// zeros and gradients are those of the op run alone. What is right, tests/against_torch compares with PyTorch.
#include <algorithm>
#include <cmath>
#include <limits>

#include "battery/battery.h"
#include "tracer/eager.h"

namespace thunder::battery {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// Beyond these sums depend on their order.
const std::vector<double> kEvery = {0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-40, -1e-40, kInf, -kInf, std::nan("")};
const std::vector<double> kFinite = {0.0, -0.0, 1.0, -1.0, 0.5, -2.5};
const std::vector<double> kTies = {1.0};

// Elements are compared one by one: beside an infinity nothing else would be seen.
std::string differs(const std::vector<double>& got, const std::vector<double>& want) {
  for (size_t i = 0; i < want.size(); i++) {
    const double a = got[i], b = want[i];
    const bool same = (std::isnan(a) && std::isnan(b)) || (a == b && (a != 0 || std::signbit(a) == std::signbit(b)));
    if (same || std::fabs(a - b) <= 1e-4 * std::max(std::fabs(a), std::fabs(b)) + 1e-6) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(a) + ", alone " + std::to_string(b);
  }
  return "";
}
std::string differs(const Outcome& compiled, const Outcome& alone) {
  if (compiled.error.empty() != alone.error.empty()) return "compiled '" + compiled.error + "', alone '" + alone.error + "'";
  for (size_t i = 0; i < alone.values.size(); i++)
    if (const std::string d = differs(compiled.values[i], alone.values[i]); !d.empty()) return "result " + std::to_string(i) + ": " + d;
  return "";
}

struct Borders : Battery {
  static Tensors filled(const Case& c, const std::vector<double>& values) {
    Tensors tensors = make_tensors(c);
    size_t at = 0;
    for (Ref<Tensor>& t : tensors) {
      if (!is_real(t->type().dtype)) continue;
      std::vector<double> data(static_cast<size_t>(t->elements()));
      for (double& v : data) v = values[at++ * 7 % values.size()];
      Ints shape;
      for (Dim d : t->type().shape) shape.push_back(d.value());
      t = tensor_of(shape, t->type().dtype, data);
    }
    return tensors;
  }

  // Of the sum of what is real.
  static std::vector<Tensor*> gradients(Scope& s, const Case& c, std::span<Tensor* const> in, size_t n) {
    Tensor* sum = nullptr;
    const auto call = [&](std::string_view op, std::initializer_list<Any> args) { return s.invoke(op, args, nullptr, nullptr, 0, nullptr); };
    for (Tensor* y : invoke(s, c, in, n)) {
      if (s.status() || !is_real(y->type().dtype)) continue;
      Tensor* part = call("sum", {Any::tensor(y)});
      sum = sum ? call("add", {Any::tensor(sum), Any::tensor(part)}) : part;
    }
    Values wrt;
    for (Tensor* t : in)
      if (is_real(t->type().dtype)) wrt.push(Ref<Tensor>(t));
    std::vector<Tensor*> out;
    if (Values* found = sum && !s.status() && wrt.size() ? s.grad(sum, wrt) : nullptr)
      for (size_t i = 0; i < found->size(); i++) out.push_back((*found)[i].tensor.get());
    return out;
  }
  Outcome gradients_alone(const Case& c, const Tensors& tensors, size_t n) {
    reset_random(*context);
    EagerScope scope(context->scope_environment(), true);
    std::vector<Tensor*> in;
    for (auto& t : tensors) in.push_back(t.get());
    Outcome out;
    for (Tensor* t : gradients(scope, c, in, n))
      if (!scope.status()) out.types.push_back(t->type()), out.values.push_back(numbers_of(*t));
    if (scope.status()) out.error = scope.status()->message();
    return out;
  }

  void check(const Case& c, const std::vector<double>& values) {
    const Tensors tensors = filled(c, values);
    const Outcome alone = run_eager(*context, c, tensors);
    if (!alone.error.empty()) return;  // what is refused is refused by refusals_test
    EXPECT_EQ(differs(run_compiled(*context, c, tensors, alone.types.size()), alone), "") << c.name;
    if (!c.sample.gradient || !c.op->nondiff.empty()) return;
    const size_t n = alone.types.size();
    const Outcome slopes = gradients_alone(c, tensors, n);
    if (!slopes.error.empty() || slopes.types.empty()) return;
    const auto body = [&](Scope& s, std::span<Tensor* const> in) { return gradients(s, c, in, n); };
    EXPECT_EQ(differs(call_compiled(*context, body, tensors, slopes.types.size(), {}), slopes), "") << c.name << ", gradients";
  }
};

TEST_F(Borders, are_the_same_compiled) {
  for (const OpDef* op : ops()) {
    if (op->has(kHidden)) continue;
    const bool of_matrices = op->name().find("linalg") != std::string_view::npos || op->has(kChecksData);
    for (const Case& c : accepted_cases(*op)) {
      const Tensors tensors = make_tensors(c);
      const bool real = std::any_of(tensors.begin(), tensors.end(), [](auto& t) { return is_real(t->type().dtype) && t->elements(); });
      if (!real || c.sample.eager) continue;
      check(c, of_matrices ? kFinite : kEvery);
      check(c, kTies);
      tally()["at borders"]++;
      break;
    }
  }
}

}  // namespace
}  // namespace thunder::battery
