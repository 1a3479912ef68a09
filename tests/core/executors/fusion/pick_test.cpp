// Elements picked by index inside a kernel.
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
struct Picks : FusedTest {};

// One element is no vector, though the row is divided as vectors.
TEST_F(Picks, from_a_row_that_is_divided_by_its_sum) {
  const auto made = agree([](Scope& s, In t) {
    Tensor* p = call(s, "softmax", {arg(t[0]), arg(int64_t{1})});
    return std::vector{p, call(s, "gather", {arg(p), arg(int64_t{1}), arg(t[1])})};
  }, {numbers({64, 100}), numbers({64, 1}, DType::i64, 0, 100)}, 2);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

}  // namespace
}  // namespace thunder::fusion
