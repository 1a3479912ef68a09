// Values that are functions of an element's index, computed inside of kernels.
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
struct IndexValues : FusedTest {};

Tensor* places(Scope& s, int64_t n) { return call(s, "arange", {arg(n)}); }

TEST_F(IndexValues, can_be_broadcast_over_rows) {
  for (int64_t columns : {3, 64, 1021}) {
    const auto made = agree([columns](Scope& s, In t) {
      Tensor* x = call(s, "softmax", {arg(t[0]), arg(int64_t{1})});
      Tensor* here = call(s, "eq", {arg(places(s, columns)), arg(t[1])});
      return std::vector{call(s, "where", {arg(here), arg(call(s, "neg", {arg(x)})), arg(x)})};
    }, {numbers({17, columns}), numbers({17, 1}, DType::i64, 0, static_cast<double>(columns))}, 1, 1e-6);
    EXPECT_EQ(made.kernels, 1u) << made.text;
  }
}

TEST_F(IndexValues, can_be_broadcast_over_columns) {
  const auto made = agree([](Scope& s, In t) {
    Tensor* rows = call(s, "view", {arg(places(s, 17)), arg(std::vector<int64_t>{17, 1})});
    return std::vector{call(s, "softmax", {arg(call(s, "mul", {arg(t[0]), arg(call(s, "le", {arg(rows), arg(places(s, 40))}))})), arg(int64_t{1})})};
  }, {numbers({17, 40})}, 1, 1e-6);
  EXPECT_EQ(made.kernels, 1u) << made.text;
}

TEST_F(IndexValues, can_be_outputs) {
  agree([](Scope& s, In t) {
    Tensor* here = places(s, 40);
    return std::vector{call(s, "softmax", {arg(call(s, "add", {arg(t[0]), arg(here)})), arg(int64_t{1})}), here, call(s, "mul", {arg(here), arg(here)})};
  }, {numbers({17, 40})}, 3, 1e-6);
}

}  // namespace
}  // namespace thunder::fusion
