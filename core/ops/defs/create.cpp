// Tensors from a size and a number.
#include <cmath>

#include "ir/normal.h"
#include "ops/elementwise.h"
#include "ops/numbers.h"

namespace thunder {
namespace {

// A number or a 0-d tensor as a tensor of this size.
Var fill_with_number(Call& c, std::span<const Dim> size, const Arg& given, DType dtype, Device device) {
  Builder& b = c.builder;
  const Arg value = given.plain();
  for (Dim d : size) c.require(!d.constant() || d.value() >= 0, "a size must not be negative, got ", name(size));
  if (!is_number(value)) {
    Var v = b.var(value.v);
    c.require(v.rank() == 0, "fill_value must be a number or a 0-d tensor, got ", name(v.type()));
    if (dtype == DType::none) dtype = v.type().weak ? tensor_dtype(v.dtype()) : v.dtype();
    return expand_to(convert(v, dtype), size);
  }
  if (dtype == DType::none)
    dtype = value.kind == ArgKind::real ? DType::f32 : value.is_integer() ? DType::i64 : DType::boolean;
  require_fits(c, "fill_value", value, dtype);
  return full(b, size, value, dtype, device);
}

Results full_op(Call& c) {
  return fill_with_number(c, c.dims(0), c.args[1], c.dtype(2), c.device(3));
}
template <int value>
Results fill_with_constant(Call& c) {
  return fill_with_number(c, c.dims(0), Arg::integer(value), c.dtype(1, DType::f32), c.device(2));
}
Results fill_like_input(Call& c, const Arg& value, size_t dtype) {
  const TensorType t = c.type(0);
  return fill_with_number(c, t.shape, value, c.dtype(dtype, t.dtype),
                          c.has(dtype + 1) ? c.device(dtype + 1) : t.device);
}
template <int value>
Results constant_like(Call& c) {
  return fill_like_input(c, Arg::integer(value), 1);
}

// ---- arange ----

int64_t count_integer_steps(const Call& c, int64_t start, int64_t end, int64_t step) {
  // The distance fits in 64 bits whatever the signs are; the number of steps may not.
  const uint64_t span = start < end ? static_cast<uint64_t>(end) - static_cast<uint64_t>(start)
                                    : static_cast<uint64_t>(start) - static_cast<uint64_t>(end);
  const uint64_t by = step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step),
                 length = span / by + (span % by != 0);
  c.require(length <= INT64_MAX, "start ", start, " and end ", end, " are too far apart for steps of ", step);
  return static_cast<int64_t>(length);
}
int64_t count_real_steps(const Call& c, double start, double end, double step) {
  const double steps = std::ceil((end - start) / step);
  c.require(steps < 0x1p53, "start ", start, ", end ", end, " and step ", step, " give too many elements");
  return static_cast<int64_t>(steps);
}

// For a symbolic start or end, so that the length is a formula.
Results symbolic_arange(Call& c, Dim start, Dim end, int64_t step) {
  c.require(step != 0, "step must not be 0");
  if (step < 0) std::swap(start, end);
  c.require(hint(start) <= hint(end), "start does not lead to end by steps of ", step);
  Builder& b = c.builder;
  Var i = b.call(Prim::iota, {Shape{steps(start, end, step < 0 ? -step : step)}, DType::i64, c.device(4)});
  if (step != 1) i = b.call("mul", {i, step});
  const Dim first = step < 0 ? end : start;
  if (!(first == Dim(0))) i = b.call("add", {i, Arg::integer(first)});
  return convert(i, c.dtype(3, DType::i64));
}

// Towards i64 real numbers are rounded to zero first, as in PyTorch.
Arg truncate_to_integer(const Call& c, const Arg& a) {
  if (a.kind != ArgKind::real) return Arg::integer(a.i);
  const double n = std::trunc(a.f);
  c.require(std::abs(n) < 0x1p63, "start, end and step must fit i64, got ", n);
  return Arg::integer(static_cast<int64_t>(n));
}
Var count_up(Call& c, int64_t length, const Arg& start, const Arg& step, DType dtype, DType wide) {
  Builder& b = c.builder;
  const bool plain = number_of(start) == 0 && number_of(step) == 1;
  Var i = b.call(Prim::iota, {length, plain ? dtype : wide, c.device(4)});
  if (plain) return i;
  if (number_of(step) != 1) i = b.call(Prim::mul, {i, fill_with_number(c, i.shape(), step, wide, c.device(4))});
  if (number_of(start) != 0) i = b.call(Prim::add, {i, fill_with_number(c, i.shape(), start, wide, c.device(4))});
  return convert(i, dtype);
}
// A single argument is the end, as in Python's range. Integers stay integers.
Results arange(Call& c) {
  const Arg start = c.has(1) ? c.args[0] : Arg::integer(0), end = c.has(1) ? c.args[1] : c.args[0], step = c.args[2];
  if (start.kind == ArgKind::symbolic || end.kind == ArgKind::symbolic || step.kind == ArgKind::symbolic) {
    c.require(start.is_integer() && end.is_integer() && step.kind == ArgKind::integer,
              "an integer that varies is the start or the end of integers alone");
    return symbolic_arange(c, start.dim(), end.dim(), step.i);
  }
  bool real = false;
  for (const Arg& a : {start, end, step}) {
    c.require(is_number(a), "start, end and step must be plain numbers, since the length must be known when compiling");
    real |= a.kind == ArgKind::real;
  }
  for (const Arg& a : {start, end, step})
    c.require(std::isfinite(number_of(a)), "start, end and step must be finite, got ", number_of(a));
  c.require(number_of(step) != 0, "step must not be 0");
  const bool down = real ? number_of(end) < number_of(start) : end.i < start.i,
             up = real ? number_of(end) > number_of(start) : end.i > start.i;
  c.require(number_of(step) > 0 ? !down : !up, "start ", number_of(start), " does not lead to end ",
            number_of(end), " by steps of ", number_of(step));
  const DType dtype = c.dtype(3, real ? DType::f32 : DType::i64), wide = real ? DType::f64 : DType::i64;
  if (real && dtype == DType::i64)
    return c.builder.call("arange", {truncate_to_integer(c, start), truncate_to_integer(c, end),
                                     truncate_to_integer(c, step), DType::i64, c.device(4)});
  const int64_t length = real ? count_real_steps(c, number_of(start), number_of(end), number_of(step))
                              : count_integer_steps(c, start.i, end.i, step.i);
  // Into other integers the length is that of the real numbers, and whole steps are made.
  if (real && is_integer(dtype))
    return count_up(c, length, truncate_to_integer(c, start), truncate_to_integer(c, step), dtype, DType::i64);
  return count_up(c, length, start, step, dtype, wide);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_sizes(Samples& s) {
  s.add({Ints{2, 3}});
  s.add({Ints{}});
  s.add({Ints{0, 3}});
  s.add({Ints{4}, DType::i64});
  s.add({Ints{4}, DType::bf16});
  s.refuse({Ints{2, -1}}, "negative");
}
void sample_fills(Samples& s) {
  s.add({Ints{2, 3}, 2.5});
  s.add({Ints{2}, 7});
  s.add({Ints{}, true});
  s.add({Ints{0, 3}, 2.5, DType::f64});
  s.add({Ints{4}, 3, DType::bf16});
  s.add({Ints{2, 2}, TensorSpec{{}}});
  s.refuse({Ints{2, -1}, 0.0}, "negative");
  s.refuse({Ints{2}, TensorSpec{{3}}}, "0-d");
}
void sample_likes(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{}, DType::i64, -9, 9}});
  s.add({TensorSpec{{0, 3}}, DType::f64});
}
void sample_full_likes(Samples& s) {
  s.add({TensorSpec{{2, 3}}, 2.5});
  s.add({TensorSpec{{}, DType::i64, -9, 9}, 3});
  s.add({TensorSpec{{0, 3}}, 1, DType::f64});
}
void sample_ranges(Samples& s) {
  s.add({5});
  s.add({0});
  s.add({2, 9, 3});
  s.add({9, 2, -3});
  s.add({0.0, 1.0, 0.25});
  s.add({3.5});
  s.add({1, 4, 1, DType::bf16});
  s.add({2.9, -2.9, -1.0, DType::i32});
  s.add({-2.1, 2.1, 2.0, DType::i8});
  s.add({0.1, -7.9, -4.0, DType::i16});
  s.add({0.0, 2.0, 0.5, DType::i32});
  s.add({2.9, -2.9, -1.0, DType::i64});
  s.refuse({1, 5, 0}, "step");
  s.refuse({1, 5, -1}, "does not lead");
}

constexpr OpRow kRows[] = {
    composite("full(int[] size, tensor|number fill_value, dtype? dtype=None, device? device=None) -> tensor",
              CastPolicy::none, "A tensor filled with one value; of the value's dtype unless one is given.", full_op,
              sample_fills),
    composite("zeros(int[] size, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "A tensor of zeros; f32 unless a dtype is given.", fill_with_constant<0>, sample_sizes),
    composite("ones(int[] size, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "A tensor of ones; f32 unless a dtype is given.", fill_with_constant<1>, sample_sizes),
    composite(
        "full_like(tensor input, tensor|number fill_value, dtype? dtype=None, device? device=None) -> tensor",
        CastPolicy::none, "A tensor of input's size filled with one value; of input's dtype unless one is given.",
        [](Call& c) { return fill_like_input(c, c.args[1], 2); }, sample_full_likes),
    composite("zeros_like(tensor input, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "A tensor of zeros of input's size and dtype.", constant_like<0>, sample_likes),
    composite("ones_like(tensor input, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "A tensor of ones of input's size and dtype.", constant_like<1>, sample_likes),
    composite("arange(tensor|number start, tensor|number? end=None, tensor|number step=1, dtype? dtype=None, "
              "device? device=None) -> tensor",
              CastPolicy::none,
              "start, start + step ... up to but not including end; one number alone is the end. Integers give "
              "i64, others f32.",
              arange, sample_ranges, kCounts),
};

}  // namespace

extern const OpRows create_ops = kRows;

}  // namespace thunder
