// Reductions: values over every layout, special values, dtypes, ties. Also covers the loops of fold.h.
// covers: core/passes/fold.cpp
#include <cmath>
#include <limits>

#include "support/eager.h"

namespace thunder {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
using Ints = std::vector<int64_t>;
const Any kAll;

TEST(Sum, agrees_over_every_set_of_dims_and_layout) {
  Eager e;
  constexpr int64_t n[3] = {5, 19, 37};
  Doubles data;
  for (int i = 0; i < n[0] * n[1] * n[2]; i++) data.push_back(i % 13 - 6);
  Tensor* dense = e.tensor({n[0], n[1], n[2]}, data);
  for (Ints order : {Ints{0, 1, 2}, Ints{2, 0, 1}, Ints{1, 2, 0}, Ints{2, 1, 0}}) {
    Tensor* x = e.run("permute", {any(dense), any(order)});
    const Doubles in = values(x);
    const int64_t* size = x->sizes();
    for (int set = 1; set < 8; set++) {
      Ints dims;
      for (int64_t d = 0; d < 3; d++)
        if (set >> d & 1) dims.push_back(d);
      std::vector<double> expected;
      int64_t steps[3] = {0, 0, 0}, total = 1;
      for (int d = 2; d >= 0; d--)
        if (!(set >> d & 1)) steps[d] = total, total *= size[d];
      expected.resize(static_cast<size_t>(total));
      size_t at = 0;
      for (int64_t i = 0; i < size[0]; i++)
        for (int64_t j = 0; j < size[1]; j++)
          for (int64_t k = 0; k < size[2]; k++) expected[static_cast<size_t>(i * steps[0] + j * steps[1] + k * steps[2])] += in[at++];
      EXPECT_EQ(values(e.run("sum", {any(x), any(dims)})), expected) << set;
    }
  }
}

TEST(Sum, counts_booleans_and_widens_integers) {
  Eager e;
  Tensor* b = e.run("sum", {any(e.tensor({3}, {1, 0, 1}, DType::boolean))});
  EXPECT_EQ(type(b), "i64[]");
  EXPECT_EQ(values(b), Doubles{2});
  EXPECT_EQ(values(e.run("sum", {any(e.tensor({2}, {2147483647, 1}, DType::i32))})), Doubles{2147483648.0});
  EXPECT_EQ(type(e.run("sum", {any(e.tensor({1}, {1}, DType::bf16)), kAll, any(true), any(DType::f64)})), "f64[1]");
}

TEST(Sum, rounds_once) {
  Eager e;
  EXPECT_EQ(values(e.run("sum", {any(e.tensor({1000}, Doubles(1000, 1.0), DType::bf16))})), Doubles{1000});
  Doubles data(1 << 20, 0.1f);
  const double exact = 0.1f * static_cast<double>(data.size());
  EXPECT_EQ(values(e.run("sum", {any(e.tensor({1 << 20}, data))}))[0], static_cast<float>(exact));
}

TEST(Sum, of_nothing_is_zero_and_the_mean_of_nothing_is_nan) {
  Eager e;
  Tensor* empty = e.tensor({0, 2}, {});
  EXPECT_EQ(values(e.run("sum", {any(empty), any(Ints{0})})), (Doubles{0, 0}));
  EXPECT_TRUE(std::isnan(values(e.run("mean", {any(empty)}))[0]));
  EXPECT_EQ(type(e.run("sum", {any(empty), any(Ints{1}), any(true)})), "f32[0, 1]");
}

TEST(Var, divides_by_the_count_less_the_correction) {
  Eager e;
  Tensor* x = e.tensor({4}, {1, 2, 3, 6});
  EXPECT_FLOAT_EQ(static_cast<float>(values(e.run("var", {any(x)}))[0]), 14.0f / 3);
  EXPECT_FLOAT_EQ(static_cast<float>(values(e.run("var", {any(x), kAll, any(0)}))[0]), 3.5f);
  EXPECT_TRUE(std::isnan(values(e.run("var", {any(e.tensor({1}, {2}))}))[0]));
}

TEST(Amax, propagates_nan_and_splits_its_gradient_among_ties) {
  Eager e(true);
  Tensor* x = e.tensor({2, 3}, {1, 4, 4, 2, 0, 1});
  Tensor* top = e.run("amax", {any(x), any(Ints{1})});
  EXPECT_EQ(values(top), (Doubles{4, 2}));
  auto g = e.grad(e.run("sum", {any(top)}), {x});
  EXPECT_EQ(values(g[0]), (Doubles{0, 0.5, 0.5, 1, 0, 0}));
  for (int64_t dim : {0, 1}) {
    auto v = values(e.run("amax", {any(e.tensor({2, 2}, {1, kNaN, kNaN, kNaN})), any(Ints{dim})}));
    EXPECT_TRUE(std::isnan(v[0]) && std::isnan(v[1]));
  }
  EXPECT_EQ(values(e.run("amin", {any(e.tensor({2}, {-3, 5}, DType::i64))})), Doubles{-3});
}

TEST(Argmax, takes_the_first_maximum_and_counts_nan_as_one) {
  Eager e;
  EXPECT_EQ(values(e.run("argmax", {any(e.tensor({2, 3}, {1, 4, 4, 2, 0, 2})), any(1)})), (Doubles{1, 0}));
  EXPECT_EQ(values(e.run("argmax", {any(e.tensor({4}, {1, kNaN, 9, kNaN}))})), Doubles{1});
  EXPECT_EQ(values(e.run("argmax", {any(e.tensor({2, 2}, {1, 2, 3, 4})), kAll, any(true)})), Doubles{3});
}

TEST(LogSumExp, neither_overflows_nor_loses_infinities) {
  Eager e;
  auto of = [&](Doubles v) { return values(e.run("logsumexp", {any(e.tensor({static_cast<int64_t>(v.size())}, v)), any(0)}))[0]; };
  EXPECT_FLOAT_EQ(static_cast<float>(of({1000, 1000})), 1000 + std::log(2.0f));
  EXPECT_EQ(of({-kInf, -kInf}), -kInf);
  EXPECT_EQ(of({kInf, 0}), kInf);
  EXPECT_EQ(of({}), -kInf);
  EXPECT_TRUE(std::isnan(of({kNaN, 0})));
}

TEST(All, of_nothing_holds_and_any_does_not) {
  Eager e;
  Tensor* empty = e.tensor({0}, {}, DType::boolean);
  EXPECT_EQ(values(e.run("all", {any(empty)})), Doubles{1});
  EXPECT_EQ(values(e.run("any", {any(empty)})), Doubles{0});
  EXPECT_EQ(values(e.run("any", {any(e.tensor({2, 2}, {0, kNaN, 0, 0})), any(Ints{1})})), (Doubles{1, 0}));
}

}  // namespace
}  // namespace thunder
