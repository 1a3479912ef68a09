// Sums, means and maxima of rows of a table.
#include <algorithm>

#include "ops/tables.h"

namespace thunder {
namespace {

// Parameters: input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx.

// All indices in a row, the bag of each, and how many bags there are.
struct Bags {
  Var index, bag;
  Dim count;
};
Bags read_bags(const Call& c) {
  Builder& b = c.builder;
  Var index = c.var(0);
  const Device device = index.type().device;
  if (!c.has(2)) {
    c.require(index.rank() == 2, "without offsets input must have two dims, whose rows are the bags; ", c.types());
    const Shape flat{elements(index.shape())};
    Var row = expand_to(counted_along(b, index.size(0), 0, 2, device), index.shape());
    return {reshape_to(index, flat), reshape_to(row, flat), index.size(0)};
  }
  c.require(index.rank() == 1 && c.type(2).rank() == 1, "with offsets input and offsets must be vectors; ", c.types());
  Var offsets = convert(c.var(2), DType::i64), place = b.call(Prim::iota, {Shape{index.size(0)}, DType::i64, device});
  Dim n = offsets.size(0);
  if (c.flag(5)) {
    c.require(hint(n) > 0, "with include_last_offset offsets must not be empty");
    n = n - 1;
    offsets = b.call(Prim::slice, {offsets, Shape{0}, Shape{n}, Shape{1}});
  }
  return {index, b.call("searchsorted", {offsets, place, true}) - 1, n};
}
// Pools the rows of weight in each bag; rows of the padding index do not count.
Var pool_bags(const Call& c, const Bags& bags, Var weight, std::string_view mode) {
  Builder& b = c.builder;
  const Device device = weight.type().device;
  Var rows = b.call(Prim::take, {weight, 0, bags.index}),
      members = full(b, bags.index.shape(), 1, weight.dtype(), device);
  if (c.has(4)) rows = rows * along_axis(reshape_to(convert(c.var(4), weight.dtype()), bags.index.shape()), 0, 2);
  if (c.has(6)) {
    const int64_t n = hint(weight.size(0)), row = c.integer(6);
    c.require(row < n && row >= -n, "padding_idx ", row, " is out of range for a weight of ", n, " rows");
    Var kept = ne(bags.index, row < 0 ? row + n : row);
    rows = where(along_axis(kept, 0, 2), rows, mode == "max" ? -kInfinity : 0.0);
    members = convert(kept, weight.dtype());
  }
  Var zeros = full(b, Shape{bags.count, weight.size(1)}, 0, weight.dtype(), device);
  if (mode == "max") {
    Var to = expand_to(along_axis(bags.bag, 0, 2), rows.shape());
    Var y = b.call("scatter_reduce", {zeros, 0, to, rows, "amax", false});
    return where(eq(y, -kInfinity), 0.0, y);
  }
  Var y = b.call(Prim::take_add, {zeros, 0, bags.bag, rows});
  if (mode == "sum") return y;
  Var none = full(b, Shape{bags.count}, 0, weight.dtype(), device);
  Var n = b.call(Prim::scatter_add, {none, 0, bags.bag, members});
  return y / along_axis(maximum(n, 1.0), 0, 2);
}
Results embedding_bag(Call& c) {
  Var index = c.var(0), weight = c.var(1);
  const std::string_view mode = c.text(3);
  c.require(mode == "sum" || mode == "mean" || mode == "max", "mode must be 'sum', 'mean' or 'max', got '", mode, "'");
  c.require(weight.rank() == 2 && is_real(weight.dtype()), "weight must be a real matrix; ", c.types());
  c.require(!c.has(4) || mode == "sum", "per_sample_weights belong to mode 'sum', got '", mode, "'");
  c.require(!c.has(4) || c.type(4).shape == index.shape(), "per_sample_weights must have the shape of input; ",
            c.types());
  const DType dtype = weight.dtype();
  if (c.has(2) || c.has(6) || c.has(4)) return convert(pool_bags(c, read_bags(c), computed(weight), mode), dtype);
  c.require(index.rank() == 2, "without offsets input must have two dims, whose rows are the bags; ", c.types());
  Var rows = c.builder.call(Prim::take, {computed(weight), 0, index});
  return convert(c.builder.call(mode == "max" ? "amax" : mode, {rows, Shape{1}}), dtype);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_bags(Samples& s) {
  const TensorSpec rows{{2, 3}, DType::i64, 0, 4}, table{{5, 4}};
  for (const char* mode : {"sum", "mean", "max"}) s.add({rows, table, SampleArg(), mode});
  s.add({rows, table, SampleArg(), "sum", TensorSpec{{2, 3}}});
  s.add({TensorSpec{{6}, DType::i64, 0, 4}, table, TensorSpec{{1}, DType::i64, 0, 0}});
  const TensorSpec line{{6}, DType::i64, 0, 4}, start{{1}, DType::i64, 0, 0};
  s.add({line, table, start, "max"});
  for (const char* mode : {"sum", "mean"}) s.add({rows, table, SampleArg(), mode, SampleArg(), false, -2});
  s.add_without_gradient({line, table, start, "max", SampleArg(), false, 3});
  s.refuse({rows, table, SampleArg(), "sum", SampleArg(), false, 5}, "padding_idx 5");
  s.refuse({rows, table, SampleArg(), "median"}, "'median'");
  s.refuse({TensorSpec{{6}, DType::i64, 0, 4}, table}, "two dims");
}

constexpr OpRow kRows[] = {
    composite(
        "embedding_bag(tensor input, tensor weight, tensor? offsets=None, str mode='mean', tensor? "
        "per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> tensor",
        CastPolicy::none,
        "The sum, mean or maximum of the rows of weight at the indices in each row of input, or between offsets, of "
        "which the last may be the end; indices equal to padding_idx count for nothing.",
        embedding_bag, sample_bags),
};

}  // namespace

extern const OpRows embedding_bag_ops = kRows;

}  // namespace thunder
