// Which factors leave a sum, and that the numbers stay what they were.
#include "loops/hoist.h"

#include "core/executors/fusion/support.h"
#include "support/failure.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
constexpr int64_t kRows = 6, kColumns = 40;

Tensor* product(Scope& s, Tensor* a, Tensor* b) { return call(s, "mul", {arg(a), arg(b)}); }
Tensor* quotient(Scope& s, Tensor* a, Tensor* b) { return call(s, "div", {arg(a), arg(b)}); }
Tensor* power(Scope& s, Tensor* x) { return call(s, "exp", {arg(call(s, "sub", {arg(x), arg(of_row(s, "amax", x))}))}); }
Tensor* norm(Scope& s, Tensor* x) { return call(s, "sqrt", {arg(of_row(s, "sum", product(s, x, x)))}); }

struct Hoisting : FusedTest {
  // Of one kernel that gives what the host does: over how many passes it goes.
  uint32_t passes(const std::function<Tensor*(Scope&, In)>& make, double low = -2, double high = 2) {
    const Body body = [&](Scope& s, In t) { return std::vector{make(s, t)}; };
    const Tensors in = {numbers({kRows, kColumns}, DType::f32, low, high), numbers({kRows, kColumns})};
    EXPECT_EQ(agree(body, in, 1).kernels, 1u);
    return nests_of(body, in).at(0).passes;
  }
};

TEST_F(Hoisting, moves_a_softmax_denominator_out_of_a_sum) {
  EXPECT_EQ(passes([](Scope& s, In t) {
              Tensor *p = power(s, t[0]), *weights = quotient(s, p, of_row(s, "sum", p));
              return product(s, t[1], of_row(s, "sum", product(s, weights, t[1])));
            }), 3u) << "the largest; both sums; the product";
}

TEST_F(Hoisting, moves_square_roots_of_sums_out_of_a_sum) {
  const auto made = [](bool divides) {
    return [divides](Scope& s, In t) {
      Tensor* squares = of_row(s, "mean", product(s, t[0], t[0]));
      Tensor* x = divides ? quotient(s, t[0], norm(s, t[0])) : product(s, t[0], call(s, "rsqrt", {arg(squares)}));
      return product(s, t[1], of_row(s, "sum", product(s, t[1], x)));
    };
  };
  EXPECT_EQ(passes(made(true)), 2u);
  EXPECT_EQ(passes(made(false)), 2u);
}

// What is divided by its largest is small for a reason.
TEST_F(Hoisting, keeps_factors_if_intermediate_values_could_overflow) {
  EXPECT_EQ(passes([](Scope& s, In t) { return product(s, t[1], of_row(s, "sum", quotient(s, t[0], of_row(s, "amax", t[0])))); }, 1e38, 2e38), 3u);
  EXPECT_EQ(passes([](Scope& s, In t) {
              Tensor* x = quotient(s, t[0], of_row(s, "amax", t[0]));
              return product(s, t[1], of_row(s, "sum", product(s, x, x)));
            }, 1e25, 2e25), 3u);
  EXPECT_EQ(passes([](Scope& s, In t) {
              Tensor* x = quotient(s, t[0], of_row(s, "amax", t[0]));
              return product(s, t[1], of_row(s, "sum", product(s, x, product(s, t[0], t[1]))));
            }, 1e25, 2e25), 3u);
}

TEST_F(Hoisting, keeps_factors_if_no_pass_is_saved) {
  EXPECT_EQ(passes([](Scope& s, In t) {
              Tensor *p = power(s, t[0]), *total = of_row(s, "sum", p);
              Tensor* late = call(s, "sin", {arg(call(s, "sub", {arg(p), arg(total)}))});
              return product(s, t[1], of_row(s, "sum", quotient(s, late, total)));
            }), 4u);
}

// Squares of squares: an element, and what is known of a row, is the product of four thousand million.
TEST_F(Hoisting, visits_each_product_once) {
  const auto squared = [](Scope& s, Tensor* x) {
    for (int i = 0; i < 32; i++) x = product(s, x, x);
    return x;
  };
  const auto made = [&](bool elements, bool rows) {
    return [=](Scope& s, In t) {
      Tensor *power = elements ? squared(s, t[0]) : t[0], *sum = of_row(s, "sum", t[0]);
      Tensor* x = quotient(s, power, call(s, "sqrt", {arg(rows ? squared(s, sum) : sum)}));
      return product(s, t[1], of_row(s, "sum", product(s, t[1], x)));
    };
  };
  EXPECT_EQ(passes(made(true, false), 1, 1), 2u);
  EXPECT_EQ(passes(made(false, true), 1.0 / kColumns, 1.0 / kColumns), 2u);
}

// An index of which a check tells by number, which is another one afterwards.
TEST_F(Hoisting, keeps_bounds_checks) {
  const Body body = [](Scope& s, In t) {
    Tensor *x = quotient(s, t[0], norm(s, t[0])), *sum = of_row(s, "sum", product(s, t[1], x));
    return std::vector{x, product(s, call(s, "gather", {arg(t[1]), arg(int64_t{1}), arg(t[2])}), sum)};
  };
  const auto index = [&](int64_t last) {
    auto t = numbers({kRows, kColumns}, DType::i64, 0, kColumns);
    reinterpret_cast<int64_t*>(t->data())[kRows * kColumns - 1] = last;
    return t;
  };
  agree(body, {numbers({kRows, kColumns}), numbers({kRows, kColumns}), index(3)}, 2);
  EXPECT_PRED2(contains, outcome(body, {numbers({kRows, kColumns}), numbers({kRows, kColumns}), index(kColumns + 7)}, 2, "fusion").error, "gather: index 47 is out of range for dim 1 of size 40");
}

}  // namespace
}  // namespace thunder::fusion
