// A NaN in a row is in all that depends on it, whether or not the row's largest element tells of it.
#include "loops/nans.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
constexpr int64_t kRows = 5, kColumns = 130;

Tensor* less_largest(Scope& s, Tensor* x) { return call(s, "sub", {arg(x), arg(of_row(s, "amax", x))}); }
Tensor* softmax(Scope& s, Tensor* x) {
  Tensor* power = call(s, "exp", {arg(less_largest(s, x))});
  return call(s, "div", {arg(power), arg(of_row(s, "sum", power))});
}
Tensor* log_softmax(Scope& s, Tensor* x) {
  Tensor* shifted = less_largest(s, x);
  return call(s, "sub", {arg(shifted), arg(call(s, "log", {arg(of_row(s, "sum", call(s, "exp", {arg(shifted)})))}))});
}

struct NanPropagation : FusedTest {
  // Whether the largest may forget of them, once one at each of many places, and none, give what the host gives.
  bool forgets(const Body& body, size_t results) {
    for (int64_t at = -1; at < kRows * kColumns; at += 13) {
      auto x = numbers({kRows, kColumns});
      if (at >= 0) reinterpret_cast<float*>(x->data())[at] = NAN;
      agree(body, {x, numbers({kRows, kColumns})}, results, 1e-5);
    }
    const CpuNest n = nests_of(body, {numbers({kRows, kColumns}), numbers({kRows, kColumns})}).at(0);
    for (ExprId id = 0; id < n.exprs.size(); id++)
      if (n.exprs[id].fn == Fn::amax) return may_ignore_nans(n, id);
    ADD_FAILURE() << "nothing looks for the largest in\n" << print(n);
    return false;
  }
};

TEST_F(NanPropagation, is_left_to_a_softmax_denominator) {
  EXPECT_TRUE(forgets([](Scope& s, In t) { return std::vector{softmax(s, t[0])}; }, 1));
  EXPECT_TRUE(forgets([](Scope& s, In t) { return std::vector{log_softmax(s, t[0])}; }, 1));
  EXPECT_TRUE(forgets([](Scope& s, In t) { return with_gradients(s, softmax(s, t[0]), t, 1); }, 2));
}

TEST_F(NanPropagation, is_needed_if_the_maximum_itself_is_stored) {
  EXPECT_FALSE(forgets([](Scope& s, In t) { return std::vector{softmax(s, t[0]), of_row(s, "amax", t[0])}; }, 2));
  EXPECT_FALSE(forgets([](Scope& s, In t) { return std::vector{less_largest(s, t[0])}; }, 1));
  EXPECT_FALSE(forgets([](Scope& s, In t) { return std::vector{call(s, "maximum", {arg(softmax(s, t[0])), arg(of_row(s, "amax", t[0]))})}; }, 1));
}

// A comparison with NaN is false, and so tells nothing of it.
TEST_F(NanPropagation, ends_at_comparisons) {
  EXPECT_FALSE(forgets([](Scope& s, In t) {
    Tensor *weights = softmax(s, t[0]), *high = of_row(s, "amax", t[0]);
    return std::vector{call(s, "where", {arg(call(s, "gt", {arg(weights), arg(t[1])})), arg(high), arg(t[1])})};
  }, 1));
}

// The sum of one row's powers less another's largest.
TEST_F(NanPropagation, of_another_row_needs_its_own_maximum) {
  EXPECT_FALSE(forgets([](Scope& s, In t) {
    Tensor* power = call(s, "exp", {arg(call(s, "sub", {arg(t[1]), arg(of_row(s, "amax", t[0]))}))});
    return std::vector{call(s, "div", {arg(power), arg(of_row(s, "sum", power))})};
  }, 1));
}

}  // namespace
}  // namespace thunder::fusion
