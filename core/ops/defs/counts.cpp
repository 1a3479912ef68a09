// Quantiles, and how many elements lie where: places in sorted sequences, histograms, membership.
#include "ops/tables.h"

namespace thunder {
namespace {

// Interpolates between the two sorted elements around (n - 1) q.
Results quantile(Call& c) {
  Var x = c.var(0), q = in_dtype(c, 1, DType::f64);
  c.require(is_real(x.dtype()), "input must be real, got ", name(x.type()));
  c.require(q.rank() <= 1, "q must be a number or a vector; ", c.types());
  const bool all = !c.has(2);
  const size_t rank = x.rank();
  if (all) x = reshape_to(x, Shape{elements(x.shape())});
  const size_t axis = all ? 0 : c.axis(2, rank);
  if (x.rank() == 0) x = reshape_to(x, Shape{1});
  const Dim n = x.shape()[axis];
  c.require(!(n == Dim(0)), "dim ", axis, " of ", name(x.type()), " has no elements");
  c.require(n.constant(), "dim ", axis, " of ", name(x.type()), " has a symbolic size");
  // The quantiles' own dim comes first.
  Var lines = c.builder.call(Prim::sort, {x, static_cast<int64_t>(axis), false});
  Var nan = c.builder.call("any", {isnan(x), Shape{static_cast<int64_t>(axis)}, true});
  Shape shape = lines.shape();
  shape[axis] = q.rank() ? q.size(0) : Dim(1);
  Var rank_of = to_device(q, x.type().device) * static_cast<double>(n.value() - 1);
  rank_of = along_axis(q.rank() ? rank_of : reshape_to(rank_of, Shape{1}), axis, x.rank());
  const std::string_view how = c.text(4);
  Var low = floor(rank_of), high = -floor(-rank_of), rest = rank_of - low;
  const auto pick = [&](Var place) { return gather_along(lines, axis, expand_to(convert(place, DType::i64), shape)); };
  Var y;
  if (how == "linear")
    y = pick(low) + (pick(high) - pick(low)) * convert(rest, x.dtype());
  else if (how == "midpoint")
    y = (pick(low) + pick(high)) * 0.5;
  else if (how == "nearest")
    y = pick(apply("round", rank_of));
  else if (how == "lower" || how == "higher")
    y = pick(how == "lower" ? low : high);
  else
    c.require(false, "interpolation must be 'linear', 'lower', 'higher', 'midpoint' or 'nearest', got '", how, "'");
  y = where(nan, std::numeric_limits<double>::quiet_NaN(), y);
  if (q.rank()) y = c.builder.call("movedim", {y, static_cast<int64_t>(axis), 0});
  Shape result;
  if (q.rank()) result.push_back(q.size(0));
  for (size_t i = 0; i < rank; i++)
    if (!all && i != axis)
      result.push_back(x.shape()[i]);
    else if (c.flag(3))
      result.push_back(1);
  return reshape_to(y, result);
}

// ---- counts ----

// The first two arguments in one dtype; their shapes stay. A number goes to the tensor's device.
std::pair<Var, Var> promote_operand_pair(const Call& c) {
  const DType dtype = common_dtype(c, [&](Promotion& p) {
    for (size_t i : {0, 1})
      p.add(dtype_of(c, i), is_plain_number(c, i) ? Strength::number : strength(c.type(i)));
  });
  Var x = in_dtype(c, 0, dtype), y = in_dtype(c, 1, dtype);
  if (x.rank() == 0) x = to_device(x, y.type().device);
  if (y.rank() == 0) y = to_device(y, x.type().device);
  return {x, y};
}
// Places as PyTorch counts them: i64, or i32 where the flag says so.
Results call_searchsorted(Call& c, Var sequence, Var x, bool right, size_t narrow) {
  Var at = c.builder.call(Prim::searchsorted, {sequence, x, right});
  return c.flag(narrow) ? convert(at, DType::i32) : at;
}
// sorted_sequence, input, right, out_int32, side, sorter
Results searchsorted(Call& c) {
  auto [sequence, x] = promote_operand_pair(c);
  bool right = c.flag(2);
  if (c.has(4)) {
    c.require(c.text(4) == "left" || c.text(4) == "right", "side must be 'left' or 'right', got '", c.text(4), "'");
    c.require(!right || c.text(4) == "right", "side and right say opposite things: side is 'left', right is True");
    right = c.text(4) == "right";
  }
  if (c.has(5)) {
    c.require(c.type(5).shape == sequence.shape() && sequence.rank() > 0,
              "sorter must have the shape of sorted_sequence; ", c.types());
    const auto last = static_cast<int64_t>(sequence.rank()) - 1;
    sequence = c.builder.call(Prim::gather, {sequence, last, convert(c.var(5), DType::i64)});
  }
  return call_searchsorted(c, sequence, x, right, 3);
}
Results bucketize(Call& c) {
  auto [x, boundaries] = promote_operand_pair(c);
  return call_searchsorted(c, boundaries, x, c.flag(2), 3);
}
// Counts in `bins` equal parts from min to max, or of the data's own range where both are 0.
Results histc(Call& c) {
  Var x = c.var(0);
  const int64_t bins = c.integer(1);
  c.require(bins > 0 && bins < int64_t{1} << 31, "bins must be positive, got ", bins);
  c.require(is_real(x.dtype()), "input must be real, got ", name(x.type()));
  c.require(c.real(2) <= c.real(3), "min must not exceed max, got ", c.real(2), " and ", c.real(3));
  x = reshape_to(computed(x), Shape{elements(x.shape())});
  Var low = full(c.builder, {}, c.real(2), x.dtype()), high = full(c.builder, {}, c.real(3), x.dtype());
  if (c.real(2) == c.real(3))
    low = c.builder.call(Prim::amin, {x, Shape{0}}), high = c.builder.call(Prim::amax, {x, Shape{0}});
  Var flat = eq(low, high);
  low = where(flat, low - 1.0, low), high = where(flat, high + 1.0, high);
  Var inside = both(ge(x, low), le(x, high));
  Var bin = floor((x - low) / (high - low) * static_cast<double>(bins));
  // Integers: f32 cannot count beyond 2^24. Of as few bits as hold them, since they are all stored.
  const Dim count = elements(x.shape());
  const DType counted = count.constant() && count.value() <= INT32_MAX ? DType::i32 : DType::i64;
  bin = convert(where(inside, clamped(bin, 0, static_cast<double>(bins - 1)), 0.0), counted);
  Var zeros = full(c.builder, Shape{bins}, 0, counted, x.type().device);
  return convert(c.builder.call(Prim::scatter_add, {zeros, 0, bin, convert(inside, counted)}), c.type(0).dtype);
}
Results isin(Call& c) {
  Var x = c.var(0), test = c.var(1);
  Shape longer = x.shape();
  longer.push_back(1);
  Var hit = eq(reshape_to(x, longer), reshape_to(test, Shape{elements(test.shape())}));
  Var found = c.builder.call("any", {hit, Shape{-1}});
  return c.flag(2) ? not_(found) : found;
}

// ---- samples ----

void sample_quantiles(Samples& s) {
  s.add({TensorSpec{{2, 5}}, 0.3});
  s.add({TensorSpec{{2, 5}}, 0.6, 1});
  s.add_without_gradient({TensorSpec{{4, 3}}, TensorSpec{{2}, DType::f32, 0, 1}, 0, true});
  for (const char* how : {"lower", "higher", "midpoint", "nearest"}) s.add({TensorSpec{{6}}, 0.35, 0, false, how});
  s.refuse({TensorSpec{{6}}, 0.5, 0, false, "cubic"}, "'cubic'");
}
void sample_sequences(Samples& s) {
  s.add({TensorSpec{{1}}, TensorSpec{{2, 3}}});
  s.add({TensorSpec{{1}, DType::i64, 2, 2}, TensorSpec{{5}, DType::i64, 0, 4}, true});
  s.add({TensorSpec{{2, 1}}, TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 1}}, TensorSpec{{2, 3}}, false, true, "right", TensorSpec{{2, 1}, DType::i64, 0, 0}});
  s.add({TensorSpec{{1}}, 0.5, false, false, "left"});
  s.refuse({TensorSpec{{1}}, TensorSpec{{2}}, true, false, "left"}, "opposite");
  s.refuse({TensorSpec{{1}}, TensorSpec{{2}}, false, false, "middle"}, "'middle'");
}
void sample_boundaries(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{1}}});
  s.add({TensorSpec{{5}, DType::i64, 0, 4}, TensorSpec{{1}, DType::i64, 2, 2}, true});
  s.add({0.5, TensorSpec{{1}}, false, true});
}
void sample_histograms(Samples& s) {
  s.add({TensorSpec{{20}}, 5});
  s.add({TensorSpec{{4, 5}}, 4, -1.0, 1.0});
  s.refuse({TensorSpec{{4}}, 0}, "positive");
}
void sample_members(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::i64, 0, 5}, TensorSpec{{3}, DType::i64, 0, 5}});
  s.add({TensorSpec{{4}, DType::i64, 0, 5}, TensorSpec{{3}, DType::i64, 0, 5}, true});
}

consteval OpRow row(SchemaText schema, std::string_view doc, DecomposeFn decompose, SamplesFn samples,
                    std::string_view nondiff = {}) {
  return composite(schema, CastPolicy::none, doc, decompose, samples, 0, {.nondiff = nondiff});
}
constexpr std::string_view kIndex = "the result is an index", kWholeCounts = "the result counts";

constexpr OpRow kRows[] = {
    row("quantile(tensor input, tensor|number q, int? dim=None, bool keepdim=False, str interpolation='linear') -> "
        "tensor",
        "The values below which the shares q of the elements along dim lie; those of a vector q come first.", quantile,
        sample_quantiles),
    row("searchsorted(tensor sorted_sequence, tensor|number input, bool right=False, bool out_int32=False, str? "
        "side=None, tensor? sorter=None) -> tensor",
        "Where each element would have to be put in to keep the last dim of the sequence in order.", searchsorted,
        sample_sequences, kIndex),
    row("bucketize(tensor|number input, tensor boundaries, bool right=False, bool out_int32=False) -> tensor",
        "Between which boundaries each element lies.", bucketize, sample_boundaries, kIndex),
    row("histc(tensor input, int bins=100, float min=0, float max=0) -> tensor",
        "How many elements lie in each of `bins` equal parts from min to max, or of their own range where both are "
        "equal.",
        histc, sample_histograms, kWholeCounts),
    row("isin(tensor elements, tensor test_elements, bool invert=False) -> tensor",
        "Whether each element is among the others.", isin, sample_members, "the result is boolean"),
};

}  // namespace

extern const OpRows counts_ops = kRows;

}  // namespace thunder
