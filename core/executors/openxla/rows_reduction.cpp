// Prims that reduce dims, or put their elements in order.
#include <cmath>
#include <limits>

#include "base/text.h"
#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

// The reduced axes; without any given, all axes.
Ints axes_of(const Line& l) {
  Ints axes = l.integers(1);
  for (int64_t& d : axes) d = static_cast<int64_t>(normalize_axis(d, l.rank()));
  if (axes.empty())
    for (size_t i = 0; i < l.rank(); i++) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

// Halves are added up as f32 and rounded once.
Val widen(const Line& l, Val v) {
  return is_real(l.module.dtype(v)) && size_of(l.module.dtype(v)) == 2 ? l.convert(v, DType::f32) : v;
}
void sum(Line& l) {
  const Val x = widen(l, l.input(0));
  l.add_result(
      l.convert(l.reduce(x, l.scalar(int64_t{0}, l.module.dtype(x)), axes_of(l), "stablehlo.add"), l.result().dtype));
}
void prod(Line& l) {
  if (!l.rank()) return l.add_result(l.input(0));
  const Val x = widen(l, l.input(0)), one = l.scalar(int64_t{1}, l.module.dtype(x));
  l.add_result(l.convert(l.reduce(x, one, {static_cast<int64_t>(l.axis(1))}, "stablehlo.multiply"), l.result().dtype));
}

// The number that is never greater, or never less, than another.
Val neutral_extreme(const Line& l, DType dtype, bool lowest) {
  if (dtype == DType::boolean) return l.scalar(int64_t{!lowest}, dtype);
  if (is_real(dtype)) return l.scalar(lowest ? -HUGE_VAL : HUGE_VAL, dtype);
  const unsigned bits = 8 * static_cast<unsigned>(size_of(dtype));
  if (!is_signed(dtype)) return l.scalar(lowest ? int64_t{0} : int64_t{-1}, dtype);
  const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return l.scalar(lowest ? -most - 1 : most, dtype);
}
// XLA's reduction for CPUs may lose a NaN, which is looked for apart.
void emit_extreme(Line& l, bool greatest) {
  const Val x = l.input(0);
  const DType dtype = l.type(0).dtype;
  const Val made = l.reduce(x, neutral_extreme(l, dtype, greatest), axes_of(l),
                            greatest ? "stablehlo.maximum" : "stablehlo.minimum");
  if (!is_real(dtype)) return l.add_result(made);
  const Val some = l.reduce(l.is_nan(x), l.scalar(int64_t{0}, DType::boolean), axes_of(l), "stablehlo.or");
  l.add_result(l.select(some, l.constant_like(std::numeric_limits<double>::quiet_NaN(), made), made));
}
void amax(Line& l) {
  emit_extreme(l, true);
}
void amin(Line& l) {
  emit_extreme(l, false);
}

// Whether a comes before b in the sorted order. NaN counts as the greatest.
Val sorts_before(const Line& l, Val a, Val b, bool descending) {
  const Val strictly = l.compare(descending ? "GT" : "LT", a, b);
  if (!is_real(l.module.dtype(a))) return strictly;
  const Val first = descending ? a : b, second = descending ? b : a;
  const Val alone = l.logical_and(l.is_nan(first), l.compare("EQ", second, second));
  return l.logical_or(strictly, alone);
}

void argmax(Line& l) {
  if (!l.rank()) return l.add_result(l.module.splat(int64_t{0}, l.result()));
  const size_t axis = l.axis(1);
  const Val x = l.input(0), places = l.iota(DType::i64, l.shape(0), axis);
  const TensorType element = type_of(l.type(0).dtype, {}), index = type_of(DType::i64, {});
  const std::string region = l.module.write_region({{element, index, element, index}}, [&](auto in) {
    const Val sooner = l.compare("LT", in[1], in[3]);
    const Val ahead = sorts_before(l, in[0], in[2], true), behind = sorts_before(l, in[2], in[0], true);
    const Val first =
        l.logical_or(ahead, l.logical_and(sooner, l.compare("EQ", behind, l.constant_like(int64_t{0}, behind))));
    return std::vector{l.select(first, in[0], in[2]), l.select(first, in[1], in[3])};
  });
  const TensorType values = with_dtype(l.result(), l.type(0).dtype), all = with_dtype(l.result(), DType::i64);
  const Val none = l.scalar(std::numeric_limits<int64_t>::max(), DType::i64);
  l.add_result(l.convert(
      l.module.add_ops("stablehlo.reduce", {{x, places, neutral_extreme(l, l.type(0).dtype, true), none}},
                       {{values, all}}, array_attribute("dimensions", {{static_cast<int64_t>(axis)}}), region)[1],
      l.result().dtype));
}

// Elements along the axis in order and where they were; of a scalar itself.
struct Sorted {
  Val values, places;
  size_t axis;
};
Sorted sort_along_axis(const Line& l, bool descending) {
  const Ints shape = l.rank() ? l.shape(0) : Ints{1};
  const size_t axis = l.rank() ? l.axis(1) : 0;
  const Val x = l.reshape(l.input(0), shape), places = l.iota(DType::i64, shape, axis);
  const TensorType element = type_of(l.type(0).dtype, {}), index = type_of(DType::i64, {});
  const std::string region = l.module.write_region({{element, element, index, index}}, [&](auto in) {
    return std::vector{sorts_before(l, in[0], in[1], descending)};
  });
  const std::vector<Val> made =
      l.module.add_ops("stablehlo.sort", {{x, places}}, {{l.module.type(x), l.module.type(places)}},
                       cat("dimension = ", axis, " : i64, is_stable = true"), region);
  return {made[0], made[1], axis};
}
void add_sorted_slices(Line& l, const Sorted& of, int64_t begin, int64_t end) {
  for (size_t i = 0; i < 2; i++) {
    const Val whole = i ? of.places : of.values;
    Ints ends = l.module.shape(whole), starts(ends.size()), steps(ends.size(), 1);
    starts[of.axis] = begin, ends[of.axis] = end;
    l.add_result(l.convert(l.reshape(l.slice(whole, starts, ends, steps), l.result_shape(i)), l.result(i).dtype));
  }
}
int64_t axis_length(const Line& l) {
  return l.rank() ? l.shape(0)[l.axis(1)] : 1;
}
void sort(Line& l) {
  add_sorted_slices(l, sort_along_axis(l, l.arg(2).i), 0, axis_length(l));
}
void topk(Line& l) {
  add_sorted_slices(l, sort_along_axis(l, l.arg(3).i), 0, l.arg(2).plain().i);
}
void kthvalue(Line& l) {
  const int64_t k = l.arg(2).plain().i;
  add_sorted_slices(l, sort_along_axis(l, false), k - 1, k);
}
void searchsorted(Line& l) {
  const Ints wanted = l.shape(1), sequence = l.shape(0);
  Ints all = wanted, rows;
  all.push_back(sequence.back());
  for (size_t i = 0; i < wanted.size(); i++) rows.push_back(static_cast<int64_t>(i));
  Ints lines;
  for (size_t i = 0; i + 1 < sequence.size(); i++) lines.push_back(static_cast<int64_t>(i));
  lines.push_back(static_cast<int64_t>(wanted.size()));
  const Val among = l.broadcast(l.input(0), all, lines), each = l.broadcast(l.input(1), all, rows);
  const Val past = sorts_before(l, each, among, false);  // NaN counts as the greatest
  const Val counted =
      l.arg(2).i ? l.compare("EQ", past, l.constant_like(int64_t{0}, past)) : sorts_before(l, among, each, false);
  const Val sum = l.reduce(l.convert(counted, DType::i64), l.scalar(int64_t{0}, DType::i64),
                           {static_cast<int64_t>(wanted.size())}, "stablehlo.add");
  l.add_result(l.convert(sum, l.result().dtype));
}

}  // namespace

const Row amax_row = {"stablehlo.reduce", amax};
const Row amin_row = {"stablehlo.reduce", amin};
const Row argmax_row = {"stablehlo.reduce", argmax};
const Row kthvalue_row = {"stablehlo.sort, slice", kthvalue};
const Row median_row = {.why_not = "which element is the middle one depends on how many are NaN"};
const Row prod_row = {"stablehlo.reduce", prod};
const Row searchsorted_row = {"stablehlo.compare, reduce", searchsorted};
const Row sort_row = {"stablehlo.sort", sort};
const Row sum_row = {"stablehlo.reduce", sum};
const Row topk_row = {"stablehlo.sort, slice", topk};

}  // namespace thunder::openxla
