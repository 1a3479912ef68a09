// Short rows with sums along them, which are walked two at a time: even and odd numbers of them, each with what is its own.
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
struct Pairs : FusedTest {};

const std::vector<int64_t> kEachRow{1}, kAllRows{0};

std::vector<Tensor*> normalized(Scope& s, In t) {
  Tensor* high = call(s, "sub", {arg(t[0]), arg(call(s, "amax", {arg(t[0]), arg(kEachRow), Any::boolean(true)}))});
  Tensor* power = call(s, "exp", {arg(high)});
  return {call(s, "div", {arg(power), arg(call(s, "sum", {arg(power), arg(kEachRow), Any::boolean(true)}))})};
}

TEST_F(Pairs, take_any_number_of_rows) {
  for (int64_t rows : {1, 2, 3, 4, 7, 32, 33})
    for (int64_t columns : {64, 192}) EXPECT_EQ(agree(normalized, {numbers({rows, columns})}, 1, 1e-6).kernels, 1u) << rows << " x " << columns;
}

// Rows of one matrix beside columns of all of them, and what of a row is read by the next pass.
TEST_F(Pairs, are_none_beside_sums_of_columns) {
  for (int64_t rows : {1, 2, 5, 40, 131})
    agree([](Scope& s, In t) {
      Tensor* mean = call(s, "mean", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(kEachRow), Any::boolean(true)});
      Tensor* each = call(s, "mul", {arg(t[0]), arg(mean)});
      return std::vector{each, call(s, "sum", {arg(call(s, "mul", {arg(each), arg(t[1])})), arg(kAllRows)}), call(s, "sum", {arg(t[0]), arg(kAllRows)})};
    }, {numbers({rows, 128}), numbers({rows, 128})}, 3, 1e-4);
}

TEST_F(Pairs, keep_a_nan_in_its_row) {
  constexpr int64_t kRows = 6, kColumns = 64;
  for (int64_t at = 0; at < kRows; at++) {
    test::Floats values(kRows * kColumns, 0.5f);
    values[static_cast<size_t>(at * kColumns + 9 * at)] = NAN;
    agree(normalized, {tensor({kRows, kColumns}, values)}, 1, 1e-6);
  }
}

TEST_F(Pairs, run_sums_and_find_places_in_each_row) {
  for (int64_t rows : {1, 5, 8})
    agree([](Scope& s, In t) {
      Tensor* running = call(s, "cumsum", {arg(t[0]), arg(int64_t{1})});
      return std::vector{call(s, "sub", {arg(running), arg(call(s, "amax", {arg(t[0]), arg(kEachRow), Any::boolean(true)}))}), call(s, "argmax", {arg(t[0]), arg(int64_t{1})})};
    }, {numbers({rows, 128})}, 2, 1e-5);
}

}  // namespace
}  // namespace thunder::fusion
