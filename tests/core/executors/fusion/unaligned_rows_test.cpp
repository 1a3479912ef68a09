// Rows that do not begin at a cache line, where vectors are aligned to cache lines by peeling.
#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

using In = std::span<Tensor* const>;
struct UnalignedRows : FusedTest {};

TEST_F(UnalignedRows, read_broadcast_operands_without_copies) {
  for (int64_t columns : {17, 40, 100, 1021}) {
    const auto made = agree([](Scope& s, In t) {
      return std::vector{call(s, "add", {arg(call(s, "mul", {arg(t[0]), arg(t[1])})), arg(t[2])})};
    }, {numbers({19, columns}), numbers({columns}), numbers({19, 1})}, 1, 1e-6);
    EXPECT_EQ(made.kernels, 1u) << columns;
  }
}

TEST_F(UnalignedRows, are_concatenated_from_slices_at_any_offset) {
  agree([](Scope& s, In t) {
    Tensor* parts[] = {call(s, "mul", {arg(t[0]), arg(t[2])}), call(s, "neg", {arg(t[1])})};
    Any list;
    list.kind = ArgKind::values, list.count = 2, list.ts = parts;
    return std::vector{call(s, "cat", {list, arg(int64_t{1})})};
  }, {numbers({19, 37}), numbers({19, 100}), numbers({37})}, 1, 1e-6);
}

// In whole vectors, in the registers and the lanes that are left, and by columns; a row without one has a number.
TEST_F(UnalignedRows, propagate_nan_from_any_position_to_the_extremum) {
  constexpr int64_t kColumns = 64 + 16 + 5;
  for (int64_t at = 0; at < kColumns; at++) {
    test::Floats row(2 * kColumns, 0.5f);
    row[static_cast<size_t>(at)] = NAN;
    agree([](Scope& s, In t) {
      Tensor* y = call(s, "neg", {arg(t[0])});
      const std::vector<int64_t> rows{1}, columns{0};
      return std::vector{call(s, "amax", {arg(y), arg(rows)}), call(s, "amin", {arg(y), arg(rows)}), call(s, "amax", {arg(t[1]), arg(columns)})};
    }, {tensor({2, kColumns}, row), tensor({kColumns, 2}, row)}, 3, 0);
  }
}

}  // namespace
}  // namespace thunder::fusion
