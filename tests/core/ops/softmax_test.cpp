// softmax and log_softmax; also covers the formulas that composites share.
// covers: core/ops/formulas.cpp
#include <limits>

#include "support/gradients.h"

namespace thunder {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Softmax, divides_exponentials_by_their_sum) {
  Eager e;
  Tensor* out = e.run("softmax", {any(e.tensor({2, 2}, {0, std::log(3.0), 5, 5}, DType::f64)), any(1)});
  const Doubles y = values(out);
  EXPECT_NEAR(y[0], 0.25, 1e-15);
  EXPECT_NEAR(y[1], 0.75, 1e-15);
  EXPECT_EQ(y[2], 0.5);
  const Doubles down = values(e.run("softmax", {any(e.tensor({2, 1}, {7, 7})), any(0)}));
  EXPECT_EQ(down, (Doubles{0.5, 0.5}));
}

TEST(Softmax, does_not_overflow) {
  Eager e;
  EXPECT_EQ(values(e.run("softmax", {any(e.tensor({3}, {1000, 1000, -kInf})), any(0)})), (Doubles{0.5, 0.5, 0}));
  EXPECT_EQ(values(e.run("log_softmax", {any(e.tensor({2}, {10000, 0})), any(0)})), (Doubles{0, -10000}));
}

TEST(Softmax, of_nothing_but_minus_infinity_is_nan) {
  Eager e;
  for (double v : values(e.run("softmax", {any(e.tensor({2}, {-kInf, -kInf})), any(0)}))) EXPECT_TRUE(std::isnan(v));
}

TEST(Softmax, takes_scalars_and_empty_tensors) {
  Eager e;
  EXPECT_EQ(values(e.run("softmax", {any(e.scalar(3)), any(-1)})), (Doubles{1}));
  EXPECT_EQ(type(e.run("softmax", {any(e.tensor({2, 0}, {})), any(1)})), "f32[2, 0]");
  EXPECT_EQ(type(e.run("log_softmax", {any(e.tensor({0, 2}, {})), any(1)})), "f32[0, 2]");
}

TEST(Softmax, converts_before_it_computes) {
  Eager e;
  EXPECT_EQ(type(e.run("softmax", {any(e.tensor({2}, {1, 1}, DType::i64)), any(0), any(DType::f64)})), "f64[2]");
  EXPECT_EQ(type(e.run("softmax", {any(e.tensor({2}, {1, 1}, DType::bf16)), any(0)})), "bf16[2]");
  EXPECT_EQ(e.refused("softmax", {any(e.tensor({2}, {1, 1}, DType::i64)), any(0)}),
            "softmax: input must be real, got i64[2]; give a real dtype to convert it");
}

TEST(Softmax, rounds_bf16_once) {
  Eager e;
  const Doubles x{0.5, 1.25, -2, 3};
  double sum = 0;
  for (double v : x) sum += std::exp(v);
  const Doubles y = values(e.run("softmax", {any(e.tensor({4}, x, DType::bf16)), any(0)}));
  for (size_t i = 0; i < 4; i++) EXPECT_EQ(y[i], static_cast<double>(static_cast<float>(bf16(static_cast<float>(std::exp(x[i]) / sum)))));
}

TEST(Softmax, has_gradients_of_gradients) {
  for (const char* op : {"softmax", "log_softmax"})
    for (int dim : {0, -1}) {
      SCOPED_TRACE(op);
      const EagerFunction f = [&](Eager& e, const std::vector<Tensor*>& x) { return e.run(op, {any(x[0]), any(dim)}); };
      expect_gradients({numbers({3, 4}, 1, -2, 2)}, f);
      expect_second_gradients({numbers({3, 4}, 1, -2, 2)}, f);
    }
}

}  // namespace
}  // namespace thunder
