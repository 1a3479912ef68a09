// The order of elements along a dim: extrema with their places, sorting, medians.
#include "ops/tables.h"

namespace thunder {
namespace {

// ---- one place of each line ----

Shape kept_shape(Var x, size_t axis) {
  Shape kept = x.shape();
  if (x.rank()) kept[axis] = 1;
  return kept;
}
Var drop_axis(Var x, size_t axis, bool keepdim) {
  if (keepdim || x.rank() == 0) return x;
  Shape shape = x.shape();
  shape.erase(axis);
  return reshape_to(x, shape);
}

// A key that is smallest where the input is greatest. Integers do not overflow.
Var descending_key(Var x) {
  if (is_real(x.dtype())) return -x;
  if (x.dtype() == DType::boolean) return not_(x);
  return x.builder->call(Prim::sub, {full_like(x, -1), x});
}
Results argmin(Call& c) { return c.builder.call("argmax", {descending_key(c.var(0)), c.args[1], c.args[2]}); }

// max and min: of all elements; along a dim with their places; of two tensors.
template <bool maximum>
Results extremum(Call& c) {
  Builder& b = c.builder;
  const bool pair = c.has(3) || c.args[1].kind == ArgKind::value;
  if (pair) {
    c.require(!(c.has(3) && c.has(1)), "takes either dim or other");
    return b.call(maximum ? "maximum" : "minimum", {c.args[0], c.has(3) ? c.args[3] : c.args[1]});
  }
  Var x = c.var(0);
  if (!c.has(1)) return b.call(maximum ? "amax" : "amin", {x});
  c.require(c.args[1].kind == ArgKind::integer, "dim must be an integer, got ", kind_of(c.args[1]));
  const size_t axis = normalize_axis(c.args[1].i, x.rank());
  Var place = b.call(Prim::argmax, {maximum ? x : descending_key(x), static_cast<int64_t>(axis)});
  place = reshape_to(place, kept_shape(x, axis));
  Var value = gather_along(x, axis, place);
  return {drop_axis(value, axis, c.flag(2)).id, drop_axis(place, axis, c.flag(2)).id};
}
Results aminmax(Call& c) {
  Shape dims;
  if (c.has(1)) dims.push_back(c.integer(1));
  const In over = c.has(1) ? In(dims) : In(nullptr);
  Var low = c.builder.call("amin", {c.var(0), over, c.flag(2)}),
      high = c.builder.call("amax", {c.var(0), over, c.flag(2)});
  return {low.id, high.id};
}

// ---- sorting ----

Results call_sort(Var x, int64_t axis, bool descending) {
  return x.builder->results(Prim::sort, {x, axis, descending});
}
Results sort(Call& c) {
  const auto axis = static_cast<int64_t>(c.axis(1, c.type(0).rank()));
  return call_sort(c.var(0), axis, c.flag(2));
}
Results argsort(Call& c) { return c.builder.var(sort(c)[1]); }
Results msort(Call& c) {
  return c.builder.var(call_sort(c.var(0), 0, false)[0]);
}
Results topk(Call& c) {
  Var x = c.var(0);
  const size_t axis = c.axis(2, x.rank());
  const int64_t k = c.integer(1), n = x.rank() ? hint(x.shape()[axis]) : 1;
  c.require(k >= 0 && k <= n, "k must be between 0 and the size ", n, " of dim ", c.integer(2), ", got ", k);
  if (x.rank() == 0) return call_sort(x, 0, false);
  return c.builder.results(Prim::topk, {x, static_cast<int64_t>(axis), k, c.flag(3)});
}

// The result of a prim that keeps the dim with size 1.
Results drop_axis_of_both(Call& c, const Results& both, size_t axis, bool keepdim) {
  return {drop_axis(c.builder.var(both[0]), axis, keepdim).id, drop_axis(c.builder.var(both[1]), axis, keepdim).id};
}
Dim checked_line_size(const Call& c, Var x, size_t axis) {
  const Dim n = x.rank() ? x.shape()[axis] : Dim(1);
  c.require(!(n == Dim(0)), "dim ", axis, " of ", name(x.type()), " has no elements");
  return n;
}
Results kthvalue(Call& c) {
  Var x = c.var(0);
  const size_t axis = c.axis(2, x.rank());
  const int64_t k = c.integer(1);
  c.require(k >= 1 && k <= hint(checked_line_size(c, x, axis)), "k must be between 1 and the size ",
            hint(checked_line_size(c, x, axis)), " of dim ", c.integer(2), ", got ", k);
  return drop_axis_of_both(c, c.builder.results(Prim::kthvalue, {x, static_cast<int64_t>(axis), k}), axis, c.flag(3));
}

// The lower of the two in the middle. NaN, which sorts last, is the median of a line that has one, or is left out.
template <bool without_nan>
Results median(Call& c) {
  Var x = c.var(0);
  const bool all = !c.has(1);
  if (all) x = reshape_to(x, Shape{elements(x.shape())});
  const size_t axis = all ? 0 : c.axis(1, x.rank());
  checked_line_size(c, x, axis);
  const Results found = c.builder.results(Prim::median, {x, static_cast<int64_t>(axis), without_nan});
  Results both = drop_axis_of_both(c, found, axis, !all && c.flag(2));
  if (!all) return both;
  return reshape_to(c.builder.var(both[0]), Shape{});
}
Results mode(Call& c) {
  Var x = c.var(0);
  const size_t axis = c.axis(1, x.rank());
  return drop_axis_of_both(c, c.builder.results(Prim::mode, {x, static_cast<int64_t>(axis)}), axis, c.flag(2));
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_extrema(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3, 4}}, 1});
  s.add({TensorSpec{{2, 3}}, -1, true});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}}, SampleArg(), false, TensorSpec{{2, 1}}});
  s.add({TensorSpec{{5}, DType::i64, -9, 9}, 0});
  s.add({TensorSpec{{5}, DType::u8, 0, 200}, 0});
  s.add({TensorSpec{{}}, 0});
  s.refuse({TensorSpec{{2, 3}}, 2}, "out of range");
  s.refuse({TensorSpec{{0, 3}}}, "no elements");
  s.refuse({TensorSpec{{2, 3}}, 0.5}, "dim must be an integer");
}
void sample_sorted_places(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3}}, 0});
  s.add({TensorSpec{{2, 3, 4}}, -2, true});
  s.add({TensorSpec{{5}, DType::i64, -9, 9}, 0});
  s.add({TensorSpec{{5}, DType::boolean, 0, 1}, 0});
  s.refuse({TensorSpec{{2, 3}}, 2}, "out of range");
}
void sample_both_ends(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3}}, 1, true});
  s.refuse({TensorSpec{{0, 3}}}, "no elements");
}
void sample_sorts(Samples& s) {
  s.add({TensorSpec{{2, 5}}});
  s.add({TensorSpec{{4, 3}}, 0, true});
  s.add({TensorSpec{{6}, DType::i64, 0, 2}, 0});
  s.add({TensorSpec{{}}, 0});
  s.add({TensorSpec{{5}, DType::bf16}, 0});
  s.add({TensorSpec{{0, 3}}, 0});
  s.refuse({TensorSpec{{2, 3}}, 2}, "out of range");
}
void sample_greatest(Samples& s) {
  s.add({TensorSpec{{2, 5}}, 2});
  s.add({TensorSpec{{4, 3}}, 3, 0, false});
  s.add({TensorSpec{{6}, DType::i64, 0, 9}, 6});
  s.refuse({TensorSpec{{2, 3}}, 4}, "k must be between");
}
void sample_ranked(Samples& s) {
  s.add({TensorSpec{{2, 5}}, 2});
  s.add({TensorSpec{{4, 3}}, 3, 0, true});
  s.refuse({TensorSpec{{2, 3}}, 0}, "k must be between");
}
void sample_middles(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 4}}, 1});
  s.add({TensorSpec{{5, 3}}, 0, true});
  s.add({TensorSpec{{6}, DType::i64, 0, 9}, 0});
  s.refuse({TensorSpec{{2, 0}}, 1}, "no elements");
}
void sample_commonest(Samples& s) {
  s.add({TensorSpec{{2, 7}, DType::i64, 0, 3}});
  s.add({TensorSpec{{7, 2}, DType::i64, 0, 3}, 0, true});
  s.refuse({TensorSpec{{2, 0}}, 1}, "no elements");
}
consteval OpRow order_row(SchemaText schema, std::string_view doc, DecomposeFn decompose, SamplesFn samples,
                          std::string_view nondiff = {}) {
  return composite(schema, CastPolicy::none, doc, decompose, samples, 0, {.nondiff = nondiff});
}
constexpr std::string_view kRanks = "the result is an index";

constexpr OpRow kRows[] = {
    order_row(
        "max(tensor input, tensor|number? dim=None, bool keepdim=False, tensor? other=None) -> (tensor values, "
        "tensor? indices)",
        "The greatest of all elements; with dim the greatest along it and its first place; with a tensor the greater "
        "of two.",
        extremum<true>, sample_extrema),
    order_row(
        "min(tensor input, tensor|number? dim=None, bool keepdim=False, tensor? other=None) -> (tensor values, "
        "tensor? indices)",
        "The least of all elements; with dim the least along it and its first place; with a tensor the lesser of two.",
        extremum<false>, sample_extrema),
    order_row("argmin(tensor input, int? dim=None, bool keepdim=False) -> tensor",
              "Index of the first minimum along dim, or among all elements in row-major order.", argmin,
              sample_sorted_places, kRanks),
    order_row("aminmax(tensor input, int? dim=None, bool keepdim=False) -> (tensor min, tensor max)",
              "The least and the greatest along dim, or of all.", aminmax, sample_both_ends),
    order_row(
        "sort(tensor input, int dim=-1, bool descending=False, bool stable=False) -> (tensor values, tensor indices)",
        "The elements along dim in order, and where they were; equal ones stay as they are, NaN is the greatest.", sort,
        sample_sorts),
    order_row("argsort(tensor input, int dim=-1, bool descending=False, bool stable=False) -> tensor",
              "Where the elements along dim are in order.", argsort, sample_sorts, kRanks),
    order_row("msort(tensor input) -> tensor", "The elements along the first dim in order.", msort,
              [](Samples& s) {
                s.add({TensorSpec{{4, 3}}});
              }),
    order_row(
        "topk(tensor input, int k, int dim=-1, bool largest=True, bool sorted=True) -> (tensor values, tensor indices)",
        "The k greatest (or least) along dim in order, and where they were.", topk, sample_greatest),
    order_row("kthvalue(tensor input, int k, int dim=-1, bool keepdim=False) -> (tensor values, tensor indices)",
              "The k-th least along dim, and where it was.", kthvalue, sample_ranked),
    order_row("median(tensor input, int? dim=None, bool keepdim=False) -> (tensor values, tensor? indices)",
              "The lower middle of all elements; with dim that along it and its place. NaN if any is.", median<false>,
              sample_middles),
    order_row("nanmedian(tensor input, int? dim=None, bool keepdim=False) -> (tensor values, tensor? indices)",
              "median of what is not NaN.", median<true>, sample_middles),
    order_row("mode(tensor input, int dim=-1, bool keepdim=False) -> (tensor values, tensor indices)",
              "The commonest value along dim, of several the least, and its last place.", mode, sample_commonest),
};

}  // namespace

extern const OpRows order_ops = kRows;

}  // namespace thunder
