// Views under PyTorch's names: results share the memory of their input.
#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/normal.h"
#include "ir/prim.h"
#include "ir/same_size.h"
#include "ops/builder.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// ---- reshape, view, flatten ----

// The shape asked for, with -1 replaced by what the other dims leave.
Shape complete_shape(const Call& c, const TensorType& from, std::span<const Dim> asked) {
  Shape shape(asked), rest;
  size_t unknown = SIZE_MAX;
  for (size_t i = 0; i < shape.size(); i++) {
    if (!(shape[i] == Dim(-1))) {
      c.require(unnoted_hint(shape[i]) >= 0, "a size must not be negative, got ", name(asked));
      rest.push_back(shape[i]);
      continue;
    }
    c.require(unknown == SIZE_MAX, "only one size can be -1, got ", name(asked));
    unknown = i;
  }
  if (unknown == SIZE_MAX) {
    c.require(same_elements(from.shape, rest), "shape ", name(asked), " has ", name(elements(shape)),
              " elements, the input ", name(from), " has ", name(elements(from.shape)));
    return shape;
  }
  const Product have(from.shape), known(rest);
  c.require(!known.zero(), "any size would do for -1 in ", name(asked), ", whose other sizes give no elements");
  auto left = have.divide(known);
  // Symbolic sizes may not divide in general although those seen do: the division is guarded.
  if (const Dim all = elements(from.shape), by = elements(rest); !left && hint(all) % hint(by) == 0) left = all / by;
  c.require(left.has_value(), "the input ", name(from), " has ", name(elements(from.shape)),
            " elements, which sizes of ", name(rest), " do not divide for shape ", name(asked));
  shape[unknown] = *left;
  return shape;
}

Results reshape(Call& c) {
  Var x = c.var(0);
  return reshape_to(x, complete_shape(c, x.type(), c.dims(1)));
}

Results view(Call& c) {
  Var x = c.var(0);
  const Shape shape = complete_shape(c, x.type(), c.dims(1));
  Var seen = reshape_to(x, shape);
  c.require(c.builder.aliases(seen.id, x.id), "the input's strides do not let ", name(x.type()), " be seen as ",
            name(shape), " without a copy; use reshape");
  return seen;
}

Results flatten(Call& c) {
  Var x = c.var(0);
  const size_t start = c.axis(1, x.rank()), end = c.axis(2, x.rank());
  c.require(start <= end, "start_dim ", c.integer(1), " lies behind end_dim ", c.integer(2), " for input ",
            name(x.type()));
  if (x.rank() == 0) return reshape_to(x, Shape{1});
  const Shape& from = x.shape();
  Shape shape(from.begin(), from.begin() + start);
  shape.push_back(elements({from.begin() + start, end + 1 - start}));
  for (size_t i = end + 1; i < from.size(); i++) shape.push_back(from[i]);
  return reshape_to(x, shape);
}

// ---- permute, transpose ----

Results permute(Call& c) {
  Shape order;
  for (Dim d : c.dims(1)) order.push_back(static_cast<int64_t>(normalize_axis(hint(d), c.type(0).rank())));
  // Always recorded, so that a wrong list of dims is refused by the prim.
  return c.builder.call(Prim::permute, {c.var(0), order});
}

Results transpose(Call& c) {
  Var x = c.var(0);
  const size_t a = c.axis(1, x.rank()), b = c.axis(2, x.rank());
  if (a == b) return x;
  Shape order;
  for (size_t i = 0; i < x.rank(); i++) order.push_back(static_cast<int64_t>(i));
  std::swap(order[a], order[b]);
  return permute_to(x, order);
}

// ---- squeeze, unsqueeze, expand ----

Results squeeze(Call& c) {
  Var x = c.var(0);
  SmallVector<bool, 8> chosen(std::max<size_t>(x.rank(), 1), !c.has(1));
  for (Dim d : c.has(1) ? c.dims(1) : std::span<const Dim>()) chosen[normalize_axis(hint(d), x.rank())] = true;
  Shape shape;
  for (size_t i = 0; i < x.rank(); i++)
    if (!chosen[i] || !(x.shape()[i] == Dim(1))) shape.push_back(x.shape()[i]);
  return reshape_to(x, shape);
}

Results unsqueeze(Call& c) {
  Var x = c.var(0);
  Shape shape = x.shape();
  shape.insert(normalize_axis(c.integer(1), x.rank() + 1), 1);
  return reshape_to(x, shape);
}

Results expand(Call& c) {
  Var x = c.var(0);
  Shape to(c.dims(1));
  c.require(to.size() >= x.rank(), "needs at least the input's ", x.rank(), " sizes, got ", name(to), "; ", c.types());
  const size_t lead = to.size() - x.rank();
  for (size_t i = 0; i < to.size(); i++) {
    if (to[i] == Dim(-1)) {
      c.require(i >= lead, "size -1 in ", name(c.dims(1)), " keeps a dim that the input ", name(x.type()),
                " does not have");
      to[i] = x.shape()[i - lead];
    }
    c.require(unnoted_hint(to[i]) >= 0, "a size must not be negative, got ", name(c.dims(1)));
  }
  return expand_to(x, to);
}

// ---- samples ----

std::vector<int64_t> dims_of(std::initializer_list<int64_t> list) {
  return list;
}

void sample_reshapes(Samples& s) {
  s.add({TensorSpec{{2, 6}}, dims_of({3, -1})});
  s.add({TensorSpec{{2, 0}}, dims_of({-1, 2})});
  s.add({TensorSpec{{}}, dims_of({1})});
  s.refuse({TensorSpec{{2, 3}}, dims_of({4, -1})}, "do not divide");
  s.refuse({TensorSpec{{2, 3}}, dims_of({7})}, "7 elements");
  s.refuse({TensorSpec{{2, 3}}, dims_of({-1, -1})}, "only one");
  s.refuse({TensorSpec{{0}}, dims_of({0, -1})}, "any size");
  s.refuse({TensorSpec{{2}}, dims_of({-2})}, "negative");
}
void flatten_samples(Samples& s) {
  s.add({TensorSpec{{2, 3, 4}}});
  s.add({TensorSpec{{2, 3, 4}}, 1, -1});
  s.add({TensorSpec{{}}});
  s.refuse({TensorSpec{{2, 3, 4}}, 2, 1}, "behind");
}
void sample_permutes(Samples& s) {
  s.add({TensorSpec{{2, 3, 4}}, dims_of({-1, 0, 1})});
  s.refuse({TensorSpec{{2, 3}}, dims_of({1})}, "one dim for each");
  s.refuse({TensorSpec{{2, 3}}, dims_of({1, 2})}, "out of range");
}
void transpose_samples(Samples& s) {
  s.add({TensorSpec{{2, 3, 4}}, 0, -1});
  s.add({TensorSpec{{}}, 0, -1});
  s.refuse({TensorSpec{{2, 3}}, 0, 2}, "out of range");
}
void squeeze_samples(Samples& s) {
  s.add({TensorSpec{{1, 3, 1}}});
  s.add({TensorSpec{{1, 3, 1}}, 0});
  s.add({TensorSpec{{1, 3, 1}}, dims_of({0, -1})});
  s.add({TensorSpec{{}}});
  s.refuse({TensorSpec{{2}}, 3}, "out of range");
}
void unsqueeze_samples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, -1});
  s.add({TensorSpec{{}}, 0});
  s.refuse({TensorSpec{{2}}, 3}, "out of range");
}
void sample_expands(Samples& s) {
  s.add({TensorSpec{{3, 1}}, dims_of({2, -1, 4})});
  s.add({TensorSpec{{}}, dims_of({3})});
  s.refuse({TensorSpec{{3}}, dims_of({-1, 3})}, "keeps a dim");
  s.refuse({TensorSpec{{3}}, dims_of({4})}, "expanded");
}
constexpr OpRow kRows[] = {
    composite("reshape(tensor input, int[] shape) -> tensor", CastPolicy::none,
              "The same elements under another shape, one size of which may be -1. A view if the strides allow "
              "it, else a copy.",
              reshape, sample_reshapes, kMayView),
    composite("view(tensor input, int[] size) -> tensor", CastPolicy::none,
              "As reshape, but refuses where a copy would be needed.", view, sample_reshapes, kView),
    composite("flatten(tensor input, int start_dim=0, int end_dim=-1) -> tensor", CastPolicy::none,
              "Merges the dims from start_dim to end_dim into one.", flatten, flatten_samples, kMayView | kReturnsSelf),
    composite("permute(tensor input, int[] dims) -> tensor", CastPolicy::none, "A view with the dims in another order.",
              permute, sample_permutes, kView),
    composite("transpose(tensor input, int dim0, int dim1) -> tensor", CastPolicy::none,
              "A view with two dims exchanged.", transpose, transpose_samples, kView),
    composite("squeeze(tensor input, int[]? dim=None) -> tensor", CastPolicy::none,
              "A view without the dims of size 1, or without those of them that dim names.", squeeze, squeeze_samples,
              kView),
    composite("unsqueeze(tensor input, int dim) -> tensor", CastPolicy::none,
              "A view with a dim of size 1 added before dim.", unsqueeze, unsqueeze_samples, kView),
    composite("expand(tensor input, int[] size) -> tensor", CastPolicy::none,
              "A view in which dims of size 1 are repeated; -1 keeps a size.", expand, sample_expands, kView),
};

}  // namespace

extern const OpRows views_ops = kRows;

}  // namespace thunder
