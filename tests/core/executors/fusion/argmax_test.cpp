// The place of the greatest element, found in a kernel: the host's, for every kind of row, tie and NaN.
// covers: core/loops/llvm/argmax.cpp
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
struct Argmax : FusedTest {
  // Along a dim of what a kernel computes, with what it is the place in.
  static std::vector<Tensor*> computed(Scope& s, In in, int64_t dim) {
    Tensor* y = call(s, "neg", {arg(in[0])});
    return {call(s, "argmax", {arg(y), arg(dim)}), y};
  }
  Outcome agree_along(int64_t dim, Tensors in) {
    return agree([dim](Scope& s, In t) { return computed(s, t, dim); }, in, 2, 0);
  }
};

TEST_F(Argmax, reduces_rows_of_any_length) {
  for (int64_t n = 2; n <= 140; n++) {
    SCOPED_TRACE(n);
    EXPECT_EQ(agree_along(1, {numbers({3, n})}).kernels, 1u);
  }
  agree_along(1, {numbers({2, 50257})});
}

TEST_F(Argmax, reduces_any_dim) {
  for (int64_t n : {2, 16, 33, 100}) {
    agree_along(0, {numbers({n, 70})});
    agree_along(1, {numbers({3, n, 5})});
  }
}

TEST_F(Argmax, supports_every_dtype) {
  for (DType d : {DType::f64, DType::bf16, DType::f16, DType::i64, DType::u64, DType::i32, DType::i16, DType::u8, DType::i8, DType::boolean})
    for (int64_t n : {5, 17, 100}) {
      SCOPED_TRACE(name(d));
      const double high = d == DType::boolean ? 2 : 200;
      agree([](Scope& s, In t) {
        Tensor* y = call(s, "maximum", {arg(t[0]), arg(t[1])});
        return std::vector{call(s, "argmax", {arg(y), arg(int64_t{1})}), y};
      }, {numbers({4, n}, d, is_signed(d) ? -200 : 0, high), numbers({4, n}, d, 0, high)}, 2, 0);
    }
}

// Few values, so that each row has its greatest many times, in all lanes.
TEST_F(Argmax, returns_the_first_of_equal_maxima) {
  for (int64_t n : {3, 16, 64, 100, 1000}) {
    SCOPED_TRACE(n);
    agree([](Scope& s, In t) { return computed(s, std::vector{call(s, "floor", {arg(t[0])})}, 1); }, {numbers({20, n}, DType::f32, 0, 3)}, 2, 0);
  }
  const auto zeros = outcome([](Scope& s, In t) { return computed(s, t, 1); }, {tensor({1, 3}, {0.0f, -0.0f, 0.0f})}, 2, "fusion");
  EXPECT_EQ(zeros.results[0], std::vector<double>{0});
}

TEST_F(Argmax, returns_the_first_nan) {
  const float nan = NAN, inf = INFINITY;
  for (int64_t at : {0, 1, 31, 40, 99}) {
    test::Floats row(100, 1.0f);
    row[7] = inf;
    row[static_cast<size_t>(at)] = nan;
    row.push_back(nan);
    const auto made = agree([](Scope& s, In t) { return computed(s, t, 1); }, {tensor({1, 101}, row)}, 2, 0);
    EXPECT_EQ(made.results[0], std::vector<double>{static_cast<double>(at)});
  }
}

TEST_F(Argmax, returns_zero_for_rows_of_the_least_value) {
  agree_along(1, {tensor({1, 40}, test::Floats(40, INFINITY))});
  test::Floats row(40, INFINITY);
  row[33] = 1e30f;
  agree_along(1, {tensor({1, 40}, row)});
}

// Another line splits the dim, and the loops go the other way round over its parts.
TEST_F(Argmax, is_independent_of_the_loop_order) {
  agree([](Scope& s, In t) {
    Tensor* y = call(s, "floor", {arg(t[0])});
    Tensor* turned = call(s, "permute", {arg(call(s, "reshape", {arg(y), arg(std::vector<int64_t>{4, 5, 7})})), arg(std::vector<int64_t>{0, 2, 1})});
    return std::vector{call(s, "argmax", {arg(y), arg(int64_t{1})}), call(s, "exp", {arg(call(s, "add", {arg(turned), arg(t[1])}))})};
  }, {numbers({4, 35}, DType::f32, 0, 3), numbers({4, 7, 5})}, 2);
}

TEST_F(Argmax, reduces_all_elements) {
  agree([](Scope& s, In t) { return std::vector{call(s, "argmax", {arg(call(s, "neg", {arg(t[0])}))})}; }, {numbers({7, 90})}, 1, 0);
  agree([](Scope& s, In t) { return std::vector{call(s, "argmax", {arg(call(s, "neg", {arg(t[0])}))})}; }, {numbers({})}, 1, 0);
}

// Accuracy of a classifier beside its loss: one kernel over the scores.
TEST_F(Argmax, can_be_read_by_other_nodes_of_its_kernel) {
  const auto made = agree([](Scope& s, In t) {
    Tensor* p = call(s, "softmax", {arg(t[0]), arg(int64_t{1})});
    Tensor* best = call(s, "argmax", {arg(p), arg(int64_t{1})});
    return std::vector{p, call(s, "eq", {arg(best), arg(t[1])}), call(s, "gather", {arg(p), arg(int64_t{1}), arg(call(s, "unsqueeze", {arg(best), arg(int64_t{1})}))})};
  }, {numbers({64, 100}), numbers({64}, DType::i64, 0, 100)}, 3);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

}  // namespace
}  // namespace thunder::fusion
