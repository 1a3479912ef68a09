// Software-pipelined rows: any number of them, of any length, each with its own results.
// covers: core/loops/llvm/software_pipeline.cpp
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
struct SoftwarePipelining : FusedTest {};

const std::vector<int64_t> kAllRows{0};

std::vector<Tensor*> normalized(Scope& s, In t) {
  Tensor* high = call(s, "sub", {arg(t[0]), arg(of_row(s, "amax", t[0]))});
  Tensor* power = call(s, "exp", {arg(high)});
  return {call(s, "div", {arg(power), arg(of_row(s, "sum", power))})};
}

TEST_F(SoftwarePipelining, handles_any_number_of_rows) {
  for (int64_t rows : {1, 2, 3, 4, 7, 32, 33})
    for (int64_t columns : {5, 64, 100, 192}) EXPECT_EQ(agree(normalized, {numbers({rows, columns})}, 1, 1e-6).kernels, 1u) << rows << " x " << columns;
}

// Rows of one matrix beside columns of all of them, and what of a row is read by the next pass.
TEST_F(SoftwarePipelining, computes_column_sums) {
  for (int64_t rows : {1, 2, 5, 40, 131})
    for (int64_t columns : {128, 77})
      agree([](Scope& s, In t) {
        Tensor* mean = of_row(s, "mean", call(s, "mul", {arg(t[0]), arg(t[1])}));
        Tensor* each = call(s, "mul", {arg(t[0]), arg(mean)});
        return std::vector{each, call(s, "sum", {arg(call(s, "mul", {arg(each), arg(t[1])})), arg(kAllRows)}), call(s, "sum", {arg(t[0]), arg(kAllRows)})};
      }, {numbers({rows, columns}), numbers({rows, columns})}, 3, 1e-4);
}

// One reduction of what another one left, three times.
TEST_F(SoftwarePipelining, carries_results_of_earlier_passes) {
  for (int64_t rows : {1, 2, 3, 4, 5, 40})
    agree([](Scope& s, In t) {
      Tensor* high = of_row(s, "amax", t[0]);
      Tensor* centered = call(s, "sub", {arg(t[0]), arg(of_row(s, "mean", call(s, "sub", {arg(t[0]), arg(high)})))});
      Tensor* power = call(s, "exp", {arg(centered)});
      Tensor* total = of_row(s, "sum", power);
      Tensor* last = of_row(s, "sum", call(s, "sin", {arg(call(s, "div", {arg(power), arg(total)}))}));
      return std::vector{call(s, "add", {arg(call(s, "div", {arg(power), arg(total)})), arg(call(s, "mul", {arg(last), arg(high)}))}), high, total, last};
    }, {numbers({rows, 90})}, 4, 1e-5);
}

// Each row is read for the last time before it is written, and no other one's memory is.
TEST_F(SoftwarePipelining, updates_rows_in_place) {
  for (int64_t rows : {1, 3, 20})
    agree([](Scope& s, In t) {
      const Any centered = arg(call(s, "sub", {arg(t[0]), arg(of_row(s, "mean", t[0]))}));
      call(s, "copy_", {arg(t[0]), centered});
      return std::vector<Tensor*>{};
    }, {numbers({rows, 65})}, 0, 1e-5);
}

TEST_F(SoftwarePipelining, does_not_carry_nan_to_other_rows) {
  constexpr int64_t kRows = 6, kColumns = 64;
  for (int64_t at = 0; at < kRows; at++) {
    test::Floats values(kRows * kColumns, 0.5f);
    values[static_cast<size_t>(at * kColumns + 9 * at)] = NAN;
    agree(normalized, {tensor({kRows, kColumns}, values)}, 1, 1e-6);
  }
}

TEST_F(SoftwarePipelining, computes_scans_and_argmax) {
  for (int64_t rows : {1, 5, 8})
    agree([](Scope& s, In t) {
      Tensor* running = call(s, "cumsum", {arg(t[0]), arg(int64_t{1})});
      return std::vector{call(s, "sub", {arg(running), arg(of_row(s, "amax", t[0]))}), call(s, "argmax", {arg(t[0]), arg(int64_t{1})})};
    }, {numbers({rows, 128})}, 2, 1e-5);
}

}  // namespace
}  // namespace thunder::fusion
