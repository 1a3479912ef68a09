// Where a kernel rounds: after each line of a program, and once after a product and the sum that it is added to.
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
struct Rounding : FusedTest {};

// kNear squared is kSquare and 2^-24, which f32 has no place for beside it.
constexpr float kNear = 1 + 0x1p-12f, kSquare = 1 + 0x1p-11f;

TEST_F(Rounding, of_a_product_precedes_its_use_by_an_elementwise_node) {
  const auto made = agree([](Scope& s, In t) {
    return std::vector{call(s, "sub", {arg(call(s, "mul", {arg(t[0]), arg(t[0])})), arg(t[1])})};
  }, {numbers({40}, DType::f32, kNear, kNear), numbers({40}, DType::f32, kSquare, kSquare)}, 1, 0);
  EXPECT_EQ(made.kernels, 1u);
  for (double v : made.results[0]) EXPECT_EQ(v, 0);
}

// Of elements 0 and 64, which any machine adds up in the same lane.
TEST_F(Rounding, of_a_product_may_be_fused_into_its_sum) {
  if (test::this_machine().instructions == Instructions::none) GTEST_SKIP() << "the processor has no multiply-adds that we know of";
  test::Floats a(128, 0), b(128, 0);
  a[0] = -kSquare, b[0] = 1, a[64] = b[64] = kNear;
  const Outcome made = outcome([](Scope& s, In t) {
    return std::vector{call(s, "sum", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(std::vector<int64_t>{1})})};
  }, {tensor({1, 128}, a), tensor({1, 128}, b)}, 1, "fusion");
  EXPECT_EQ(made.results[0], std::vector<double>{0x1p-24}) << made.error;
}

}  // namespace
}  // namespace thunder::fusion
