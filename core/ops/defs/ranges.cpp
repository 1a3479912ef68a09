// Tensors of regular numbers: identity matrices, evenly spaced values, indices of triangles, diagonals.
#include <algorithm>

#include "base/checked.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// 0, 1, 2 ... along one of two axes.
Var row_numbers(Builder& b, Dim n, Device device) {
  return counted_along(b, n, 0, 2, device);
}
Var column_numbers(Builder& b, Dim m, Device device) {
  return counted_along(b, m, 1, 2, device);
}

Results eye(Call& c) {
  const int64_t n = c.integer(0), m = c.has(1) ? c.integer(1) : n;
  c.require(n >= 0 && m >= 0, "sizes must not be negative, got ", n, " and ", m);
  return convert(eq(row_numbers(c.builder, n, c.device(3)), column_numbers(c.builder, m, c.device(3))),
                 c.dtype(2, DType::f32));
}

// From both ends, so that they are exact.
Var evenly_spaced(Call& c, size_t dtype) {
  // Towards integers the ends are such first, as in PyTorch.
  const bool whole = is_integer(c.dtype(dtype, DType::f32));
  const double start = whole ? std::trunc(c.real(0)) : c.real(0), end = whole ? std::trunc(c.real(1)) : c.real(1);
  const int64_t steps = c.integer(2);
  c.require(steps >= 0, "steps must not be negative, got ", steps);
  Var i = c.builder.call(Prim::iota, {Shape{steps}, DType::f64, c.device(dtype + 1)});
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  if (steps < 2) return i * step + start;
  return where(lt(i, static_cast<double>(steps / 2)), i * step + start,
               end - (static_cast<double>(steps - 1) - i) * step);
}
Results linspace(Call& c) {
  return convert(evenly_spaced(c, 3), c.dtype(3, DType::f32));
}
Results logspace(Call& c) {
  return convert(c.builder.call("pow", {full(c.builder, {}, c.real(3), DType::f64, c.device(5)), evenly_spaced(c, 4)}),
                 c.dtype(4, DType::f32));
}

// The indices of the elements of a matrix on one side of a diagonal, in order.
template <bool lower>
Results triangle_indices(Call& c) {
  const int64_t rows = c.integer(0), columns = c.integer(1);
  c.require(rows >= 0 && columns >= 0 && rows < int64_t{1} << 20 && columns < int64_t{1} << 20,
            "sizes must be between 0 and 1048575, got ", rows, " and ", columns);
  const int64_t far = std::clamp(c.integer(2), -rows - 1, columns + 1);  // beyond, nothing changes
  int64_t count = 0;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t below = std::clamp<int64_t>(r + far + (lower ? 1 : 0), 0, columns);
    count += lower ? below : columns - below;
  }
  Builder& b = c.builder;
  const Device device = c.device(4);
  // Where each row of the triangle ends, how many come before it, and its first column.
  Var row = b.call(Prim::iota, {Shape{rows}, DType::i64, device});
  Var edge = minimum(maximum(row + (lower ? far + 1 : far), 0), columns);
  Var lengths = lower ? edge : -(edge - columns), ends = b.call(Prim::cumsum, {lengths, 0, false});
  Var place = b.call(Prim::iota, {Shape{count}, DType::i64, device});
  if (count == 0) return convert(b.call("stack", {ValueList{place.id, place.id}, 0}), c.dtype(3, DType::i64));
  Var at = b.call(Prim::searchsorted, {ends, place, true});
  const auto of_row = [&](Var x) { return b.call(Prim::take, {x, 0, at}); };
  Var column = place - of_row(ends - lengths);
  if (!lower) column = column + of_row(edge);
  return convert(b.call("stack", {ValueList{at.id, column.id}, 0}), c.dtype(3, DType::i64));
}

// ---- diagonals ----

Results diagonal(Call& c) {
  const size_t rank = c.type(0).rank();
  const auto a = static_cast<int64_t>(c.axis(2, rank)), b = static_cast<int64_t>(c.axis(3, rank));
  return c.builder.call(Prim::diagonal, {c.var(0), c.integer(1), a, b});
}
// Matrices with the last dim on a diagonal, zeros elsewhere.
Var embed_diagonal(Var x, int64_t offset) {
  Builder& b = *x.builder;
  const int64_t more = offset < 0 ? checked_sub(0, offset) : offset;
  if (more) x = b.call("pad", {x, Shape{0, more}});
  const Dim n = x.size(-1);
  Shape column = x.shape(), square = x.shape();
  // Element k is in row k for a diagonal above the main one, in column k for one below it.
  if (offset >= 0)
    column.push_back(1);
  else
    column.insert(x.rank() - 1, 1);
  square.push_back(n);
  Var hit = eq(row_numbers(b, n, x.type().device) + offset, column_numbers(b, n, x.type().device));
  return where(hit, expand_to(reshape_to(x, column), square), full(b, {}, 0, x.dtype(), x.type().device));
}
Results diag_embed(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() >= 1, "input must have at least one dim");
  const size_t rank = x.rank() + 1, a = c.axis(2, rank), b = c.axis(3, rank);
  c.require(a != b, "dim1 and dim2 must differ, got ", c.integer(2), " and ", c.integer(3));
  Var y = embed_diagonal(x, a < b ? c.integer(1) : checked_sub(0, c.integer(1)));
  return c.builder.call(
      "movedim", {y, Shape{-2, -1}, Shape{static_cast<int64_t>(std::min(a, b)), static_cast<int64_t>(std::max(a, b))}});
}
Results diag(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() == 1 || x.rank() == 2, "input must be a vector or a matrix; ", c.types());
  if (x.rank() == 2) return c.builder.call("diagonal", {x, c.integer(1), 0, 1});
  return embed_diagonal(x, c.integer(1));
}
Results diagflat(Call& c) {
  return embed_diagonal(reshape_to(c.var(0), Shape{elements(c.type(0).shape)}), c.integer(1));
}

// ---- tensors like others, whose values nobody asked for ----

Results empty(Call& c) {
  return c.builder.call("zeros", {c.args[0], c.args[1], c.args[2]});
}
Results empty_like(Call& c) {
  return c.builder.call("zeros_like", {c.args[0], c.args[1], c.args[2]});
}
template <int value>
Results new_filled(Call& c) {
  return c.builder.call("full",
                        {c.args[1], value, c.dtype(2, c.type(0).dtype), c.has(3) ? c.device(3) : c.type(0).device});
}
Results new_full(Call& c) {
  return c.builder.call("full",
                        {c.args[1], c.args[2], c.dtype(3, c.type(0).dtype), c.has(4) ? c.device(4) : c.type(0).device});
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_identities(Samples& s) {
  s.add({3});
  s.add({2, 4, DType::i64});
  s.add({0});
  s.refuse({-1}, "negative");
}
void sample_spacings(Samples& s) {
  s.add({0.0, 1.0, 5});
  s.add({-2.0, 3.0, 4, DType::f64});
  s.add({1.0, 2.0, 1});
  s.refuse({0.0, 1.0, -1}, "negative");
}
void sample_log_spacings(Samples& s) {
  s.add({0.0, 2.0, 5});
  s.add({-2.0, 3.0, 4, 2.0, DType::f64});
}
void sample_triangles(Samples& s) {
  s.add({3, 4});
  s.add({4, 3, -1});
  s.add({3, 3, 1});
  s.add({0, 3});
  s.refuse({-1, 3}, "sizes");
}
void sample_diagonals(Samples& s) {
  s.add({TensorSpec{{3, 4}}});
  s.add({TensorSpec{{2, 4, 3}}, -1, 1, 2});
  s.add({TensorSpec{{4, 2, 3}}, 1, 0, -1});
  s.add({TensorSpec{{2, 3}}, 5});
  s.refuse({TensorSpec{{3}}}, "out of range");
  s.refuse({TensorSpec{{3, 4}}, 0, 1, 1}, "two different dims");
}
void sample_grids(Samples& s) {
  s.add({TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}}, 1});
  s.add({TensorSpec{{2, 3}}, -1, 0, 2});
  s.refuse({TensorSpec{{}}}, "at least one dim");
}
void sample_either_way(Samples& s) {
  s.add({TensorSpec{{3}}, 1});
  s.add({TensorSpec{{3}}, -2});
  s.add({TensorSpec{{3, 4}}, 1});
  s.refuse({TensorSpec{{2, 2, 2}}}, "a vector or a matrix");
}
void sample_flat_diagonals(Samples& s) {
  s.add({TensorSpec{{2, 2}}, 1});
}
void sample_new_tensors(Samples& s) {
  s.add({TensorSpec{{2}}, Ints{2, 3}});
  s.add({TensorSpec{{2}, DType::i64, 0, 9}, Ints{3}, DType::f64});
}
void sample_fills(Samples& s) {
  s.add({TensorSpec{{2}}, Ints{2, 3}, 2.5});
}

consteval OpRow alias(SchemaText schema, std::string_view target, std::string_view doc, DecomposeFn decompose,
                      SamplesFn samples) {
  return composite(schema, CastPolicy::none, doc, decompose, samples, 0, {.alias_of = target});
}

constexpr OpRow kRows[] = {
    composite("eye(int n, int? m=None, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "Ones on the diagonal of an n by m matrix of zeros; f32 unless a dtype is given.", eye,
              sample_identities),
    composite("linspace(float start, float end, int steps, dtype? dtype=None, device? device=None) -> tensor",
              CastPolicy::none, "steps evenly spaced numbers from start to end.", linspace, sample_spacings),
    composite("logspace(float start, float end, int steps, float base=10.0, dtype? dtype=None, device? device=None) -> "
              "tensor",
              CastPolicy::none, "base to the power of steps evenly spaced numbers from start to end.", logspace,
              sample_log_spacings),
    composite("tril_indices(int row, int col, int offset=0, dtype? dtype=None, device? device=None) -> tensor",
              CastPolicy::none, "The rows and columns of the elements on and below a diagonal, as two rows.",
              triangle_indices<true>, sample_triangles),
    composite("triu_indices(int row, int col, int offset=0, dtype? dtype=None, device? device=None) -> tensor",
              CastPolicy::none, "The rows and columns of the elements on and above a diagonal, as two rows.",
              triangle_indices<false>, sample_triangles),
    composite("diagonal(tensor input, int offset=0, int dim1=0, int dim2=1) -> tensor", CastPolicy::none,
              "A view of the elements on a diagonal of two dims, as a new last dim.", diagonal, sample_diagonals,
              kView),
    composite("diag_embed(tensor input, int offset=0, int dim1=-2, int dim2=-1) -> tensor", CastPolicy::none,
              "Matrices whose diagonals are the last dim, zeros elsewhere.", diag_embed, sample_grids),
    composite("diag(tensor input, int diagonal=0) -> tensor", CastPolicy::none,
              "The diagonal of a matrix, or a matrix with a vector as its diagonal.", diag, sample_either_way),
    composite("diagflat(tensor input, int offset=0) -> tensor", CastPolicy::none,
              "A matrix with all elements of the input as its diagonal.", diagflat, sample_flat_diagonals),
    alias("empty(int[] size, dtype? dtype=None, device? device=None) -> tensor", "zeros",
          "A tensor for values to come, which are zeros so far.", empty,
          [](Samples& s) {
            s.add({Ints{2, 3}});
          }),
    alias("empty_like(tensor input, dtype? dtype=None, device? device=None) -> tensor", "zeros_like",
          "A tensor of input's size and dtype for values to come.", empty_like,
          [](Samples& s) {
            s.add({TensorSpec{{2, 3}}});
          }),
    composite("new_zeros(tensor input, int[] size, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "Zeros of input's dtype.", new_filled<0>, sample_new_tensors),
    composite("new_ones(tensor input, int[] size, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "Ones of input's dtype.", new_filled<1>, sample_new_tensors),
    composite("new_full(tensor input, int[] size, tensor|number fill_value, dtype? dtype=None, device? device=None) -> "
              "tensor",
              CastPolicy::none, "A tensor of input's dtype filled with one value.", new_full, sample_fills),
};

}  // namespace

extern const OpRows ranges_ops = kRows;

}  // namespace thunder
