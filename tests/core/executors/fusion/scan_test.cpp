// Sums that run along an axis, inside a kernel.
// covers: core/executors/cuda/rules/scans.cpp
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;

struct Scans : FusedTest {
  // With its gradient, which runs the other way round.
  Outcome agree_along(int64_t dim, Tensors in, double tolerance = 4e-6) {
    return agree([dim](Scope& s, In t) { return with_gradients(s, call(s, "cumsum", {arg(call(s, "sin", {arg(t[0])})), arg(dim)}), t, 1); }, in, 2, tolerance);
  }
};

TEST_F(Scans, run_along_rows_of_any_length) {
  for (int64_t n = 2; n <= 140; n++) {
    SCOPED_TRACE(n);
    agree_along(1, {numbers({3, n}), numbers({3, n})});
  }
  EXPECT_EQ(agree_along(1, {numbers({40, 5000}), numbers({40, 5000})}).kernels, 2u);
}

TEST_F(Scans, run_along_any_dim) {
  for (int64_t n : {2, 16, 33, 100})
    for (int64_t dim : {0, 1}) {
      SCOPED_TRACE(std::to_string(n) + " " + std::to_string(dim));
      agree_along(dim, {numbers({n, 20, 35}), numbers({n, 20, 35})});
    }
}

// Each sum is made in a wider type and rounded once, as the host's is.
TEST_F(Scans, support_every_dtype) {
  for (DType d : {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i64, DType::i32, DType::i8, DType::u16})
    for (int64_t n : {7, 100, 3000}) {
      SCOPED_TRACE(name(d));
      agree([d](Scope& s, In t) {
        Any dtype;
        dtype.kind = ArgKind::dtype, dtype.dtype = d;
        Tensor* y = call(s, "cumsum", {arg(call(s, "neg", {arg(t[0])})), arg(int64_t{1}), dtype});
        return std::vector{y, call(s, "add", {arg(y), arg(t[0])})};
      }, {numbers({4, n}, d, -200, 200)}, 2, is_half(d) ? 0.01 : is_real(d) ? 1e-7 : 0);
    }
}

TEST_F(Scans, propagate_special_values) {
  test::Floats row(100, 1.0f);
  row[20] = INFINITY, row[60] = -INFINITY, row[90] = NAN;
  agree_along(1, {tensor({1, 100}, row), numbers({1, 100})});
  agree([](Scope& s, In t) { return std::vector{call(s, "cumsum", {arg(call(s, "neg", {arg(t[0])})), arg(int64_t{1})})}; }, {tensor({1, 100}, row)}, 1);
}

TEST_F(Scans, fuse_with_nodes_before_and_after) {
  const auto made = agree([](Scope& s, In t) {
    Tensor* p = call(s, "softmax", {arg(t[0]), arg(int64_t{1})});
    Tensor* y = call(s, "cumsum", {arg(p), arg(int64_t{1})});
    Tensor* low = call(s, "lt", {arg(y), arg(0.9)});
    return std::vector{call(s, "mul", {arg(p), arg(low)}), y, call(s, "amax", {arg(y), arg(std::vector<int64_t>{1})}), call(s, "cumsum", {arg(y), arg(int64_t{1})})};
  }, {numbers({50, 300})}, 4, 1e-5);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

// A normalised sum goes over its row twice: it begins again each time.
TEST_F(Scans, are_recomputed_in_later_passes) {
  for (int64_t dim : {0, 1})
    agree([dim](Scope& s, In t) {
      return std::vector{call(s, "softmax", {arg(call(s, "cumsum", {arg(t[0]), arg(dim)})), arg(dim)})};
    }, {numbers({60, 70}, DType::f32, -0.1, 0.1)}, 1, 1e-5);
}

TEST_F(Scans, read_reversed_and_transposed_rows) {
  agree([](Scope& s, In t) {
    Tensor* turned = call(s, "transpose", {arg(t[0]), arg(int64_t{0}), arg(int64_t{1})});
    return with_gradients(s, call(s, "cumsum", {arg(call(s, "exp", {arg(turned)})), arg(int64_t{1})}), std::vector{t[0], t[1]}, 1);
  }, {numbers({30, 50}), numbers({50, 30})}, 2, 1e-5);
}

TEST_F(Scans, can_be_gathered_from) {
  agree([](Scope& s, In t) {
    Tensor* y = call(s, "cumsum", {arg(call(s, "exp", {arg(t[0])})), arg(int64_t{1})});
    return std::vector{y, call(s, "gather", {arg(y), arg(int64_t{1}), arg(t[1])})};
  }, {numbers({30, 50}), numbers({30, 1}, DType::i64, 0, 50)}, 2, 1e-5);
}

TEST_F(Scans, have_the_same_bits_for_any_number_of_threads) {
  const Body body = [](Scope& s, In t) { return std::vector{call(s, "cumsum", {arg(call(s, "exp", {arg(t[0])})), arg(int64_t{1})})}; };
  const Tensors in = {numbers({1000, 130})};
  context->use_threads(1);
  const auto one = outcome(body, in, 1, "fusion");
  context->use_threads(5);
  EXPECT_EQ(outcome(body, in, 1, "fusion").results, one.results);
}

}  // namespace
}  // namespace thunder::fusion
