// Ops whose results' shapes depend on values: they read how many there are before they gather them.
#include <algorithm>

#include "ops/places.h"
#include "ops/tables.h"

namespace thunder {
namespace {

Var flatten(Var x) { return reshape_to(x, Shape{elements(x.shape())}); }
// A vector is gathered by single elements, which costs less than slices of one element.
Var take_places(Var x, Var places) {
  return x.builder->call(x.rank() == 1 ? "prims.gather" : "prims.take", {x, 0, places});
}
// The number of elements is known wherever values are.
int64_t concrete_size(Dim size) { return hint(size); }

// ---- nonzero, masked_select ----

Results nonzero(Call& c) { return nonzero_places(c, c.var(0)); }
Results nonzero_static(Call& c) { return c.builder.call(Prim::nonzero, {c.var(0), c.integer(1), c.integer(2)}); }
Results nonzero_numpy(Call& c) {
  Var x = c.var(0);
  Results out;
  for (Var v : places_by_dim(c, x.rank() ? x : reshape_to(x, Shape{1}))) out.push_back(v.id);
  return out;
}

Results masked_select(Call& c) {
  Var x = c.var(0), mask = c.var(1);
  c.require(mask.dtype() == DType::boolean, "mask must be bool; ", c.types());
  Shape shape;
  try {
    shape = broadcast(x.shape(), mask.shape());
  } catch (const Error& e) {
    c.require(false, e.message(), "; ", c.types());
  }
  return picked(c, expand_to(x, shape), expand_to(mask, shape));
}

// ---- unique ----

// What is asked for of entries, in the first dim of `sorted`, equal ones of which are neighbours; `order`: where each
// was.
struct Unique {
  Call& c;
  Var sorted, order;
  bool inverse, counts;
  Results results(const Shape& inverse_shape) const;

 private:
  // Whether each entry differs from the one before it.
  Var mark_group_begins() const;
};

Var Unique::mark_group_begins() const {
  const int64_t n = concrete_size(sorted.shape()[0]);
  const Device device = sorted.type().device;
  Var first = full(c.builder, Shape{std::min<int64_t>(n, 1)}, 1, DType::boolean, device);
  if (n < 2) return first;
  Var differs = ne(c.builder.call("slice", {sorted, 0, 1, n, 1}), c.builder.call("slice", {sorted, 0, 0, n - 1, 1}));
  Shape rest;
  for (size_t i = 1; i < differs.rank(); i++) rest.push_back(static_cast<int64_t>(i));
  if (!rest.empty()) differs = c.builder.call("any", {differs, rest});
  return c.builder.call(Prim::cat, {ValueList{first.id, differs.id}, 0});
}

Results Unique::results(const Shape& inverse_shape) const {
  Builder& b = c.builder;
  const Dim n = sorted.shape()[0];
  const Device device = sorted.type().device;
  Var first = mark_group_begins(), starts = places_by_dim(c, first)[0];
  Results out{take_places(sorted, starts).id};
  if (inverse) {
    Var group = b.call(Prim::cumsum, {convert(first, DType::i64), 0, false}) - 1;
    if (order)
      group = b.call(Prim::index_put, {full(b, Shape{n}, 0, DType::i64, device), ValueList{order.id}, group, false});
    out.push_back(reshape_to(group, inverse_shape).id);
  }
  if (counts) {
    const int64_t found = concrete_size(starts.shape()[0]);
    Var end = full(b, Shape{std::min<int64_t>(found, 1)}, static_cast<double>(concrete_size(n)), DType::i64, device);
    Var ends = b.call(Prim::cat,
                      {ValueList{b.call("slice", {starts, 0, std::min<int64_t>(found, 1), found, 1}).id, end.id}, 0});
    out.push_back((ends - starts).id);
  }
  return out;
}

// The entries along the parameter `dim`, first; without one the flattened elements.
Var entries_along(const Call& c, size_t param) {
  Var x = c.var(0);
  if (!c.has(param)) return flatten(x);
  c.require(x.rank() > 0, "a tensor of rank 0 has no dim ", c.integer(param));
  Var entries = c.builder.call("movedim", {x, c.integer(param), 0});
  for (size_t i = 1; i < x.rank(); i++)
    c.require(!(entries.shape()[i] == Dim(0)), "the entries along dim ", c.integer(param), " have no elements; ",
              c.types());
  return entries;
}
Results decompose_unique(Call& c, size_t inverse, size_t dim, bool sort) {
  Var entries = entries_along(c, dim), order;
  const Dim n = entries.shape()[0];
  if (sort && !c.has(dim)) {
    const Results both = c.builder.results(Prim::sort, {entries, 0, false});
    entries = c.builder.var(both[0]), order = c.builder.var(both[1]);
  } else if (sort) {
    Shape rest(entries.shape().begin() + 1, entries.shape().end());
    order = c.builder.call(Prim::sort_rows, {reshape_to(entries, Shape{n, elements(rest)})});
    entries = take_places(entries, order);
  }
  Results out =
      Unique{c, entries, order, c.flag(inverse), c.flag(inverse + 1)}.results(c.has(dim) ? Shape{n} : c.type(0).shape);
  if (c.has(dim)) out[0] = c.builder.call("movedim", {c.builder.var(out[0]), 0, c.integer(dim)}).id;
  return out;
}
Results unique(Call& c) { return decompose_unique(c, 2, 4, true); }
Results unique_consecutive(Call& c) { return decompose_unique(c, 1, 3, false); }

// ---- bincount ----

Results bincount(Call& c) {
  Var x = c.var(0);
  const int64_t least = c.integer(2);
  c.require(x.rank() == 1 && is_integer(x.dtype()), "input must be a vector of integers; ", c.types());
  c.require(least >= 0, "minlength must not be negative, got ", least);
  c.require(!c.has(1) || c.type(1).shape == x.shape(), "weights must have the shape of input; ", c.types());
  x = convert(x, DType::i64);
  int64_t size = least;
  if (concrete_size(x.shape()[0]) > 0) {
    const int64_t low = c.value_of(c.builder.call(Prim::amin, {x, Shape{0}})),
                  high = c.value_of(c.builder.call(Prim::amax, {x, Shape{0}}));
    c.require(low >= 0, "input must not be negative, its least element is ", low);
    c.require(high < std::numeric_limits<int64_t>::max(), "input's greatest element ", high,
              " is too large to count up to");
    size = std::max(least, high + 1);
  }
  const DType dtype = !c.has(1) ? DType::i64 : c.type(1).dtype == DType::f32 ? DType::f32 : DType::f64;
  Var ones = c.has(1) ? convert(c.var(1), dtype)
                      : expand_to(full(c.builder, Shape{1}, 1, dtype, x.type().device), x.shape());
  return c.builder.call(Prim::scatter_add, {full(c.builder, Shape{size}, 0, dtype, x.type().device), 0, x, ones});
}

// ---- samples ----

TensorSpec flag_spec(std::vector<int64_t> shape) { return {std::move(shape), DType::boolean, 0, 1}; }
TensorSpec small_integer_spec(std::vector<int64_t> shape) { return {std::move(shape), DType::i64, 0, 3}; }

void sample_places(Samples& s) {
  s.add_eager({small_integer_spec({3, 4})});
  s.add_eager({flag_spec({2, 3, 2})});
  s.add_eager({TensorSpec{{5}}});
  s.add_eager({flag_spec({})});
}
void sample_static_places(Samples& s) {
  s.add({small_integer_spec({3, 4}), 7});
  s.add({flag_spec({2, 3}), 9, 5});
  s.add({TensorSpec{{4}}, 0});
  s.refuse({flag_spec({2}), -1}, "size must not be negative, got -1");
}
void sample_selected(Samples& s) {
  s.add_eager({TensorSpec{{2, 3}}, flag_spec({2, 3})});
  s.add_eager({TensorSpec{{2, 1, 3}}, flag_spec({4, 1})});
  s.add_eager({TensorSpec{{6}, DType::bf16}, flag_spec({6})});
  s.refuse({TensorSpec{{2, 3}}, small_integer_spec({2, 3})}, "mask must be bool");
  s.refuse({TensorSpec{{2, 3}}, flag_spec({4})}, "broadcast");
}
void sample_distinct(Samples& s) {
  s.add_eager({small_integer_spec({3, 4})});
  s.add_eager({small_integer_spec({8}), true, true});
  s.add_eager({small_integer_spec({2, 5}), true, true, true});
  s.add_eager({small_integer_spec({9}), true, false, true});
  s.add_eager({TensorSpec{{6, 2}, DType::i64, 0, 1}, true, true, true, 0});
  s.add_eager({TensorSpec{{2, 6}, DType::i64, 0, 1}, true, true, true, -1});
  s.add_eager({TensorSpec{{5}}});
  s.add_eager({TensorSpec{{0}}, true, true, true});
  s.refuse({TensorSpec{{2, 0}}, true, false, false, 0}, "have no elements");
  s.refuse({TensorSpec{{2}}, true, false, false, 3}, "out of range");
}
void sample_runs(Samples& s) {
  s.add_eager({TensorSpec{{12}, DType::i64, 0, 1}});
  s.add_eager({TensorSpec{{3, 4}, DType::i64, 0, 1}, true, true});
  s.add_eager({TensorSpec{{8, 2}, DType::boolean, 0, 1}, true, true, 0});
  s.add_eager({TensorSpec{{0}}, true, true});
}
void sample_counted(Samples& s) {
  s.add_eager({small_integer_spec({9})});
  s.add_eager({small_integer_spec({9}), TensorSpec{{9}}, 6});
  s.add_eager({TensorSpec{{5}, DType::i32, 0, 4}, small_integer_spec({5}), 2});
  s.add({small_integer_spec({0}), SampleArg(), 3});
  s.refuse({small_integer_spec({2, 2})}, "vector of integers");
  s.refuse({TensorSpec{{3}, DType::i64, -2, -2}}, "its least element is -2");
  s.refuse({small_integer_spec({3}), TensorSpec{{4}}}, "weights must have the shape");
  s.refuse({small_integer_spec({3}), SampleArg(), -1}, "minlength must not be negative, got -1");
}

constexpr std::string_view kIndexes = "the result is an index";

constexpr OpRow kRows[] = {
    composite("nonzero(tensor input) -> tensor", CastPolicy::none,
              "The places of the elements that are not zero, a row for each in row-major order.", nonzero,
              sample_places, kEager, {.nondiff = kIndexes, .variant = {"as_tuple", "nonzero_numpy"}}),
    composite("argwhere(tensor input) -> tensor", CastPolicy::none,
              "The places of the elements that are not zero, a row for each in row-major order.", nonzero,
              sample_places, kEager, {.nondiff = kIndexes, .alias_of = "nonzero"}),
    composite("nonzero_numpy(tensor input) -> tensor[]", CastPolicy::none,
              "The places of the elements that are not zero, a tensor for each dim, as indices have it.", nonzero_numpy,
              sample_places, kEager, {.nondiff = kIndexes}),
    composite("nonzero_static(tensor input, int size, int fill_value=-1) -> tensor", CastPolicy::none,
              "The places of the first `size` elements that are not zero; rows of fill_value where there are fewer.",
              nonzero_static, sample_static_places, 0, {.nondiff = kIndexes}),
    composite("masked_select(tensor input, tensor mask) -> tensor", CastPolicy::none,
              "The elements where the mask holds, in row-major order of what both broadcast to.", masked_select,
              sample_selected, kEager),
    composite("unique(tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False, "
              "int? dim=None) -> (tensor, tensor?, tensor?)",
              CastPolicy::none,
              "The distinct elements, or slices along dim, always in order; where each element is among them; "
              "how often each occurs.",
              unique, sample_distinct, kEager, {.nondiff = "the result chooses among equal elements"}),
    composite("unique_consecutive(tensor input, bool return_inverse=False, bool return_counts=False, int? "
              "dim=None) -> (tensor, tensor?, tensor?)",
              CastPolicy::none,
              "The elements, or slices along dim, without those that equal the one before; which of them each "
              "became; how many each was.",
              unique_consecutive, sample_runs, kEager, {.nondiff = "the result chooses among equal elements"}),
    composite("bincount(tensor input, tensor? weights=None, int minlength=0) -> tensor", CastPolicy::none,
              "How often each of 0, 1, 2 ... occurs, or the sums of the weights there; at least minlength of them.",
              bincount, sample_counted, kEager, {.nondiff = "the result counts"}),
};

}  // namespace

extern const OpRows nonzero_ops = kRows;

}  // namespace thunder
