// Gradients of every differentiable op against central differences in f64, eager and compiled.
// covers: core/passes/grad.cpp
#include <algorithm>
#include <cmath>

#include "battery/battery.h"
#include "tracer/eager.h"

namespace thunder::battery {
namespace {

struct Gradients : Battery {
  // sum(weights * part) over every part that is real; null when there is none.
  static Tensor* weighted(Scope& scope, std::span<Tensor* const> parts) {
    auto call = [&](std::string_view op, std::initializer_list<Any> args) { return scope.invoke(op, args, nullptr, nullptr, 0, nullptr); };
    Tensor* sum = nullptr;
    for (Tensor* y : parts) {
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
  using Loss = Tensor* (*)(Scope& scope, const Case& c, std::span<Tensor* const> in, size_t n);
  static Tensor* loss(Scope& scope, const Case& c, std::span<Tensor* const> in, size_t n) { return weighted(scope, invoke(scope, c, in, n)); }
  // Of the gradients of that.
  static Tensor* slope(Scope& scope, const Case& c, std::span<Tensor* const> in, size_t n) { return weighted(scope, gradient(loss, scope, c, in, n)); }

  static std::vector<Tensor*> gradient(Loss of, Scope& scope, const Case& c, std::span<Tensor* const> in, size_t n) {
    Tensor* at = of(scope, c, in, n);
    Values wrt;
    for (Tensor* t : in)
      if (t->type().dtype == DType::f64) wrt.push(Ref<Tensor>(t));
    std::vector<Tensor*> out;
    if (Values* found = at ? scope.grad(at, wrt) : nullptr)
      for (size_t i = 0; i < found->size(); i++) out.push_back((*found)[i].tensor.get());
    return out;
  }
  double value(Loss of, const Case& c, std::span<Tensor* const> in, size_t n) {
    reset_random(*context);
    EagerScope scope(context->scope_environment(), of != loss);
    return numbers_of(*of(scope, c, in, n))[0];
  }
  // Whether there was a gradient.
  bool check(const Case& c, Loss of = loss);
  void check_differences(Loss of, const Case& c, const std::vector<std::vector<double>>& got, std::span<Tensor* const> in, size_t n);
};

void Gradients::check_differences(Loss of, const Case& c, const std::vector<std::vector<double>>& got, std::span<Tensor* const> in, size_t n) {
  size_t next = 0;
  for (Tensor* t : in) {
    if (t->type().dtype != DType::f64) continue;
    const std::vector<double>& gradients = got[next++];
    auto* data = reinterpret_cast<double*>(t->data());
    for (size_t i = 0; i < std::min<size_t>(gradients.size(), 16); i++) {
      const double at = data[i], step = 1e-5;
      data[i] = at + step;
      const double above = value(of, c, in, n);
      data[i] = at - step;
      const double below = value(of, c, in, n);
      data[i] = at;
      const double expected = (above - below) / (2 * step);
      ASSERT_NEAR(gradients[i], expected, 2e-5 * (1 + std::fabs(expected))) << c.name << ", tensor " << next - 1 << ", element " << i;
    }
  }
}

bool Gradients::check(const Case& c, Loss of) {
  const Tensors tensors = make_tensors(c);
  std::vector<Tensor*> in;
  for (auto& t : tensors) in.push_back(t.get());
  const size_t n = result_count(*context, c, tensors);
  Outcome eager;
  {
    reset_random(*context);
    EagerScope scope(context->scope_environment(), true);
    const auto gradients = gradient(of, scope, c, in, n);
    EXPECT_FALSE(scope.status()) << c.name << ": " << scope.status()->message();
    if (scope.status()) return true;
    for (Tensor* t : gradients) eager.types.push_back(t->type()), eager.values.push_back(numbers_of(*t));
  }
  if (eager.types.empty()) return false;
  check_differences(of, c, eager.values, in, n);
  if (c.sample.eager) return true;
  const auto body = [&](Scope& s, std::span<Tensor* const> x) { return gradient(of, s, c, x, n); };
  EXPECT_EQ(difference(call_compiled(*context, body, tensors, eager.types.size(), {}), eager, 100), "") << c.name << ", compiled";
  return true;
}

TEST_F(Gradients, agree_with_differences) {
  each_case("gradients", [&](const Case& c) {
    return c.sample.gradient && c.op->nondiff.empty() && check(with_reals(c, DType::f64));
  });
}

// Ops whose second derivatives somebody asks for: smooth ones, of each kind, and those with gradients of their own.
constexpr std::string_view kTwice[] = {
    "add", "mul", "div", "pow", "exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "reciprocal", "square", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf", "erfc", "lgamma", "digamma", "sigmoid", "logsigmoid", "softplus",
    "silu", "mish", "gelu", "elu", "celu", "selu", "atan2", "logaddexp", "lerp", "addcmul", "addcdiv", "hypot", "xlogy", "sum",
    "mean", "var", "std", "prod", "logsumexp", "norm", "linalg_vector_norm", "cumsum", "cumprod", "logcumsumexp", "softmax",
    "log_softmax", "layer_norm", "rms_norm", "group_norm", "batch_norm", "instance_norm", "local_response_norm", "matmul",
    "linear", "bilinear", "einsum", "outer", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "avg_pool2d",
    "max_pool2d", "interpolate", "grid_sample", "embedding", "gather", "index_select", "scatter_add", "where", "cat", "stack",
    "linalg_inv", "linalg_solve", "linalg_cholesky", "linalg_det", "linalg_slogdet", "linalg_solve_triangular",
    "cdist", "cosine_similarity", "mse_loss", "smooth_l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div", "gaussian_nll_loss", "ctc_loss", "scaled_dot_product_attention", "lstm_cell",
    "gru_cell", "swiglu", "rope", "normalize", "trapezoid", "sinc", "logit", "glu"};

TEST_F(Gradients, of_gradients_agree_with_differences) {
  for (const std::string_view name : kTwice) EXPECT_NE(context->registry().find(name), nullptr) << name;
  each_case("second derivatives", [&](const Case& c) {
    if (std::find(std::begin(kTwice), std::end(kTwice), c.op->name()) == std::end(kTwice)) return false;
    return c.sample.gradient && c.op->nondiff.empty() && check(with_reals(c, DType::f64), slope);
  });
}

}  // namespace
}  // namespace thunder::battery
