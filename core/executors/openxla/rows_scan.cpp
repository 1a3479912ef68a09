// Scans along a dim: each step combines elements twice as far apart as the step before.
#include <cmath>
#include <functional>

#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

using Values = std::vector<Val>;

// `values` along the axis, each combined with all those before it, or behind it. `start`: what combines to the other.
Values scan(const Line& l, Values values, const Values& start, size_t axis, bool reverse,
            const std::function<Values(const Values& earlier, const Values& later)>& combine) {
  const Ints shape = l.module.shape(values[0]);
  for (int64_t step = 1; step < shape[axis]; step *= 2) {
    Ints low(shape.size()), high(shape.size()), inside(shape.size());
    low[axis] = reverse ? -step : step, high[axis] = -low[axis];
    Values moved;
    for (size_t i = 0; i < values.size(); i++) moved.push_back(l.pad(values[i], start[i], low, high, inside));
    values = combine(moved, values);
  }
  return values;
}

// Halves and f32 are carried along in a wider type.
void scan_with_op(Line& l, double start, std::string_view op) {
  if (!l.rank()) return l.add_result(l.input(0));
  const DType dtype = l.type(0).dtype;
  const DType wide = is_real(dtype) && size_of(dtype) == 2 ? DType::f32 : dtype;
  const Val x = l.convert(l.input(0), wide);
  const Values made = scan(l, {x}, {l.scalar(start, wide)}, l.axis(1), l.arg(2).i,
                           [&](const Values& a, const Values& b) { return Values{l.binary(op, a[0], b[0])}; });
  l.add_result(l.convert(made[0], l.result().dtype));
}
void cumsum(Line& l) {
  scan_with_op(l, 0, "stablehlo.add");
}
void cumprod(Line& l) {
  scan_with_op(l, 1, "stablehlo.multiply");
}

// Of equal elements the later one; after a NaN the last NaN.
void extreme(Line& l, std::string_view direction) {
  if (!l.rank()) return l.add_result(l.input(0)), l.add_result(l.module.splat(int64_t{0}, l.result(1)));
  const size_t axis = l.axis(1);
  const Val x = l.input(0), places = l.iota(DType::i64, l.shape(0), axis);
  // Positions before the first element are marked by their index, and never chosen.
  const Values made =
      scan(l, {x, places}, {l.scalar(int64_t{0}, l.type(0).dtype), l.scalar(int64_t{-1}, DType::i64)}, axis, false,
           [&](const Values& a, const Values& b) {
                Val stays = l.compare(direction, b[0], a[0]);
                if (is_real(l.type(0).dtype)) {
                  const Val here = l.is_nan(b[0]), before = l.is_nan(a[0]);
                  const Val no = l.compare("EQ", before, l.constant_like(int64_t{0}, before));
                  stays = l.logical_or(here, l.logical_and(stays, no));
                }
                stays = l.logical_or(stays, l.compare("LT", a[1], l.constant_like(int64_t{0}, a[1])));
                return Values{l.select(stays, b[0], a[0]), l.select(stays, b[1], a[1])};
              });
  l.add_result(made[0]);
  l.add_result(l.convert(made[1], l.result(1).dtype));
}
void cummax(Line& l) {
  extreme(l, "GE");
}
void cummin(Line& l) {
  extreme(l, "LE");
}

void logcumsumexp(Line& l) {
  if (!l.rank()) return l.add_result(l.input(0));
  const DType dtype = l.type(0).dtype;
  const DType wide = size_of(dtype) == 2 ? DType::f32 : dtype;
  const Values made =
      scan(l, {l.convert(l.input(0), wide)}, {l.scalar(-HUGE_VAL, wide)}, l.axis(1), l.arg(2).i,
           [&](const Values& a, const Values& b) {
                const Val most = l.binary("stablehlo.maximum", a[0], b[0]);
                const Val least = l.binary("stablehlo.minimum", a[0], b[0]);
                const Val same = l.compare("EQ", most, least), zero = l.constant_like(0.0, most);
                const Val apart = l.select(same, zero, l.sub(least, most));
                const Val more = l.unary("stablehlo.log_plus_one", l.unary("stablehlo.exponential", apart));
                const Val finite = l.compare("LT", l.unary("stablehlo.abs", most), l.constant_like(HUGE_VAL, most));
                const Val nan = l.is_nan(most);
                return Values{l.select(l.logical_or(finite, nan), l.add(most, more), most)};
              });
  l.add_result(l.convert(made[0], dtype));
}

}  // namespace

const Row cummax_row = {"stablehlo.pad, compare, select", cummax};
const Row cummin_row = {"stablehlo.pad, compare, select", cummin};
const Row cumprod_row = {"stablehlo.pad, multiply", cumprod};
const Row cumsum_row = {"stablehlo.pad, add", cumsum};
const Row logcumsumexp_row = {"stablehlo.pad, log_plus_one", logcumsumexp};

}  // namespace thunder::openxla
