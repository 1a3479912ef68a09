// Prims that reduce dims, or put their elements in order.
#include "onnx/export/rows.h"

namespace thunder::onnx_export {
namespace {

// The reduced axes; without any given, all axes.
std::vector<int64_t> axes_of(const Line& l) {
  std::vector<int64_t> axes = l.ints(1);
  for (int64_t& d : axes) d = static_cast<int64_t>(normalize_axis(d, l.type(0).rank()));
  for (size_t i = 0; axes.size() < l.type(0).rank() && l.arg(1).dim_list().empty(); i++)
    axes.push_back(static_cast<int64_t>(i));
  return axes;
}
bool emit_reduction(Line& l, const char* op) {
  l.give(l.reduce(op, l.in(0), axes_of(l), false));
  return true;
}
// The sum of booleans is whether any is true.
bool sum(Line& l) {
  return emit_reduction(l, l.type(0).dtype == DType::boolean ? "ReduceMax" : "ReduceSum");
}
bool amax(Line& l) {
  return emit_reduction(l, "ReduceMax");
}
bool amin(Line& l) {
  return emit_reduction(l, "ReduceMin");
}
bool prod(Line& l) {
  if (!l.type(0).rank()) return l.give(l.in(0)), true;
  l.give(l.reduce("ReduceProd", l.in(0), {static_cast<int64_t>(l.axis(1, l.type(0).rank()))}, false));
  return true;
}

// The input with at least one dim, for ops that know no scalars; the axis counts in it.
struct Lines {
  Val in;
  size_t axis, rank;
  Dim size;
};
Lines lines_of(const Line& l, size_t axis_at = 1) {
  const TensorType& t = l.type(0);
  if (!t.rank()) return {l.reshape(l.in(0), Shape{1}), 0, 1, 1};
  const size_t axis = l.axis(axis_at, t.rank());
  return {l.in(0), axis, t.rank(), t.shape[axis]};
}

bool argmax(Line& l) {
  const Lines of = lines_of(l);
  const Val place =
      l.make("ArgMax", {of.in}, {attr("axis", static_cast<int64_t>(of.axis)), attr("keepdims", int64_t{0})});
  l.give(l.type(0).rank() ? place : l.reshape(place, Shape{}));
  return true;
}

bool cumsum(Line& l) {
  const Lines of = lines_of(l);
  const Val axis = l.graph.scalar(static_cast<int64_t>(of.axis), DType::i64);
  const Val made = l.make("CumSum", {of.in, axis}, {attr("reverse", int64_t{l.arg(2).i})});
  l.give(l.type(0).rank() ? made : l.reshape(made, Shape{}));
  return true;
}

std::vector<Val> emit_topk(const Line& l, const Lines& of, Dim k, bool largest) {
  return l.graph.nodes(
      "TopK", {of.in, l.shape(Shape{k})},
      {attr("axis", static_cast<int64_t>(of.axis)), attr("largest", int64_t{largest}), attr("sorted", int64_t{1})});
}
void give_pair(Line& l, const std::vector<Val>& pair) {
  for (size_t i = 0; i < 2; i++) l.give(l.type(0).rank() ? pair[i] : l.reshape(pair[i], l.result(i).shape));
}
bool sort(Line& l) {
  const Lines of = lines_of(l);
  give_pair(l, emit_topk(l, of, of.size, l.arg(2).i));
  return true;
}
bool topk(Line& l) {
  give_pair(l, emit_topk(l, lines_of(l), l.arg(2).dim(), l.arg(3).i));
  return true;
}
// The k-th least: the last of the k least.
bool emit_kth_smallest(Line& l, Dim k) {
  const Lines of = lines_of(l);
  std::vector<Val> out;
  for (const Val v : emit_topk(l, of, k, false))
    out.push_back(l.make(
        "Slice", {v, l.shape(Shape{k - 1}), l.shape(Shape{k}), l.graph.integers({static_cast<int64_t>(of.axis)})}));
  give_pair(l, out);
  return true;
}
bool kthvalue(Line& l) {
  return emit_kth_smallest(l, l.arg(2).dim());
}
bool median(Line& l) {
  if (l.arg(2).i) fail(Code::unimplemented, "ONNX has no order in which NaN does not count");
  return emit_kth_smallest(l, (lines_of(l).size - 1) / 2 + 1);
}

// How many elements of the sequence come before each. NaN comes last, of a sequence and of what is searched.
bool searchsorted(Line& l) {
  const size_t rank = l.type(0).rank();
  const Val sequence = rank == 1 ? l.in(0) : l.unsqueeze(l.in(0), static_cast<int64_t>(rank) - 1);
  const Val wanted = l.unsqueeze(l.in(1), static_cast<int64_t>(l.type(1).rank()));
  const bool right = l.arg(2).i;
  Val before = l.make(right ? "LessOrEqual" : "Less", {sequence, wanted});
  if (is_real(l.type(0).dtype)) {
    Val last = l.make("IsNaN", {wanted});
    if (!right) last = l.make("And", {last, l.make("Not", {l.make("IsNaN", {sequence})})});
    before = l.make("Or", {before, last});
  }
  l.give(l.reduce("ReduceSum", l.graph.cast(before, DType::i64), {-1}, false));
  return true;
}

}  // namespace

const Row amax_row = {"ReduceMax", amax};
const Row amin_row = {"ReduceMin", amin};
const Row argmax_row = {"ArgMax", argmax};
const Row cumsum_row = {"CumSum", cumsum};
const Row kthvalue_row = {"TopK, Slice", kthvalue};
const Row median_row = {"TopK, Slice", median};
const Row prod_row = {"ReduceProd", prod};
const Row searchsorted_row = {"Less, ReduceSum", searchsorted};
const Row sort_row = {"TopK", sort};
const Row sum_row = {"ReduceSum", sum};
const Row topk_row = {"TopK", topk};

}  // namespace thunder::onnx_export
