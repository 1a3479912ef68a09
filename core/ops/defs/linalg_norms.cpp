// torch.linalg's norms of vectors and matrices, and the condition number and rank.
#include <algorithm>

#include "ops/linalg.h"

namespace thunder {
namespace {

Var reduce_dim(std::string_view op, Var x, int64_t dim, bool keep) {
  return x.builder->call(op, {x, Shape{dim}, keep});
}

// input, ord, dim, keepdim, dtype
Results vector_norm(Call& c) {
  return c.builder.call("norm", {c.args[0], c.args[1], c.args[2], c.args[3], c.args[4]});
}

// The two dims last, in this order.
Var move_matrix_dims_last(Var x, size_t rows, size_t columns) {
  Shape order;
  for (size_t i = 0; i < x.rank(); i++)
    if (i != rows && i != columns) order.push_back(static_cast<int64_t>(i));
  order.push_back(static_cast<int64_t>(rows)), order.push_back(static_cast<int64_t>(columns));
  return permute_to(x, order);
}
Var restore_kept_dims(Var norm, Shape shape, size_t rows, size_t columns, bool keep) {
  if (!keep) return norm;
  shape[rows] = 1, shape[columns] = 1;
  return reshape_to(norm, shape);
}

enum class Order { frobenius, nuclear, number };
// ord none: Frobenius'. Its number else: 1 and infinity of sums of columns and rows, 2 of singular values; negative
// ones of the least.
Var matrix_norm_of(const Call& c, Var x, Order kind, double ord, size_t rows, size_t columns, bool keep) {
  Var m = move_matrix_dims_last(x, rows, columns), y;
  if (kind == Order::frobenius)
    y = c.builder.call("norm", {m, 2.0, Shape{-2, -1}, false});
  else if (kind == Order::nuclear)
    y = reduce_dim("sum", c.builder.call("linalg_svdvals", {m}), -1, false);
  else {
    const double size = std::abs(ord);
    c.require(size == 1 || size == 2 || std::isinf(size),
              "ord must be 1, -1, 2, -2, inf or -inf, or None for Frobenius' norm, got ", ord);
    Var parts = size == 2 ? c.builder.call("linalg_svdvals", {m})
                          : reduce_dim("sum", c.builder.call("abs", {m}), size == 1 ? -2 : -1, false);
    y = reduce_dim(ord > 0 ? "amax" : "amin", parts, -1, false);
  }
  return restore_kept_dims(y, x.shape(), rows, columns, keep);
}
std::pair<size_t, size_t> checked_dim_pair(const Call& c, std::span<const Dim> dims, size_t rank) {
  c.require(dims.size() == 2, "dim must name two dims, got ", name(dims));
  const auto a = normalize_axis(hint(dims[0]), rank), b = normalize_axis(hint(dims[1]), rank);
  c.require(a != b, "dim names one dim twice: ", name(dims));
  return {a, b};
}
Var convert_to_option_dtype(const Call& c, size_t i) {
  const DType dtype = c.dtype(i, c.type(0).dtype);
  c.require(is_real(dtype), "input must be real, got ", name(c.type(0)));
  return convert(c.var(0), dtype);
}

// A, ord, dim, keepdim, dtype
template <Order otherwise>
Results matrix_norm(Call& c) {
  Var x = convert_to_option_dtype(c, 4);
  c.require(x.rank() >= 2, "A must have at least 2 dims, got ", name(x.type()));
  const auto [rows, columns] = checked_dim_pair(c, c.dims(2), x.rank());
  return matrix_norm_of(c, x, c.has(1) ? Order::number : otherwise, c.has(1) ? c.real(1) : 0, rows, columns, c.flag(3));
}
// input, dim, keepdim
Results nuclear_norm(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() >= 2, "input must have at least 2 dims, got ", name(x.type()));
  const Shape last{-2, -1};
  const auto [rows, columns] = checked_dim_pair(c, c.has(1) ? c.dims(1) : std::span<const Dim>(last), x.rank());
  return matrix_norm_of(c, x, Order::nuclear, 0, rows, columns, c.flag(2));
}
// A, ord, dim, keepdim, dtype: of vectors where there is one dim, or no ord; else of matrices.
Results norm(Call& c) {
  Var x = convert_to_option_dtype(c, 4);
  const bool matrix = c.has(2) ? c.dims(2).size() == 2 && c.has(1) : c.has(1) && x.rank() == 2;
  c.require(!c.has(1) || matrix || c.has(2) || x.rank() == 1, "with an ord and no dim A must have 1 or 2 dims, got ",
            name(x.type()));
  if (!matrix) return c.builder.call("norm", {x, c.has(1) ? c.real(1) : 2.0, c.args[2], c.flag(3)});
  const Shape both{0, 1};
  const auto [rows, columns] = checked_dim_pair(c, c.has(2) ? c.dims(2) : std::span<const Dim>(both), x.rank());
  return matrix_norm_of(c, x, Order::number, c.real(1), rows, columns, c.flag(3));
}

// The norm times that of the inverse; of singular values the greatest by the least.
Results cond(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() >= 2, "A must have at least 2 dims, got ", name(x.type()));
  const double p = c.has(1) ? c.real(1) : 2;
  if (std::abs(p) != 2) {
    const auto size = [&](Var m) { return c.builder.call("linalg_matrix_norm", {m, p}); };
    return size(x) * size(c.builder.call("linalg_inv", {x}));
  }
  Var s = c.builder.call("linalg_svdvals", {x});
  Var most = reduce_dim("amax", s, -1, false), least = reduce_dim("amin", s, -1, false);
  return p > 0 ? most / least : least / most;
}
// A, atol, rtol, hermitian
Results matrix_rank(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() >= 2, "A must have at least 2 dims, got ", name(x.type()));
  Var s = singular_values(c, x, c.flag(3));
  if (hint(s.size(-1)) == 0) return c.builder.call("sum", {convert(s, DType::i64), Shape{-1}});
  const int64_t most = std::max(hint(x.size(-2)), hint(x.size(-1)));
  Var cut = singular_cut(c, reduce_dim("amax", s, -1, true), most, 1, 2);
  return c.builder.call("sum", {gt(s, cut), Shape{-1}});
}

const TensorSpec kMatrix{{3, 2}}, kBatch{{2, 3, 4}, DType::f64};

void sample_vectors(Samples& s) {
  s.add({kMatrix}), s.add({kBatch, 1.0, std::vector<int64_t>{1}, true}),
      s.add({kBatch, kInfinity, std::vector<int64_t>{0, 2}});
  s.add({TensorSpec{{4}}, 3.0});
}
void sample_matrices(Samples& s) {
  s.add({kMatrix});
  for (double ord : {1.0, -1.0, 2.0, -2.0, kInfinity, -kInfinity}) s.add({kBatch, ord});
  s.add({kBatch, 1.0, std::vector<int64_t>{0, -1}, true});
  s.refuse({TensorSpec{{3}}}, "2 dims"), s.refuse({kMatrix, 3.0}, "ord must be"),
      s.refuse({kMatrix, 1.0, std::vector<int64_t>{0, 0}}, "twice");
}
void sample_nuclears(Samples& s) {
  s.add({kMatrix}), s.add({kBatch, std::vector<int64_t>{0, 2}, true});
}
void sample_either(Samples& s) {
  s.add({kBatch}), s.add({kMatrix, 2.0}), s.add({TensorSpec{{4}}, 3.0}), s.add({kBatch, 1.0, std::vector<int64_t>{1}}),
      s.add({kBatch, 1.0, std::vector<int64_t>{1, 2}});
  s.refuse({kBatch, 1.0}, "1 or 2 dims");
}
void sample_conditions(Samples& s) {
  s.add({TensorSpec{{3, 3}, DType::f64}}), s.add({TensorSpec{{3, 3}, DType::f64}, 1.0}),
      s.add({TensorSpec{{3, 2}, DType::f64}, -2.0});
}
void sample_ranks(Samples& s) {
  s.add({kMatrix}), s.add({kBatch, 0.5}), s.add({kBatch, TensorSpec{{2}, DType::f64, 0.5, 0.5}});
  s.add({kBatch, SampleArg(), 0.25}), s.add({TensorSpec{{2, 1, 1}}, 0.5, SampleArg(), true});
}
void sample_chains(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2, 3}}, {{3, 4}}, {{4, 2}}}});
}

constexpr OpRow kRows[] = {
    composite(
        "linalg_vector_norm(tensor x, float ord=2.0, int[]? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor",
        CastPolicy::none, "norm, of all dims or of some as one vector.", vector_norm, sample_vectors),
    composite(
        "linalg_matrix_norm(tensor A, float? ord=None, int[] dim=[-2, -1], bool keepdim=False, dtype? dtype=None) -> "
        "tensor",
        CastPolicy::none,
        "Frobenius' norm of matrices; with ord 1 or inf the greatest sum of a column or row, with 2 the greatest "
        "singular value, with negative ones the least.",
        matrix_norm<Order::frobenius>, sample_matrices),
    composite("nuclear_norm(tensor input, int[]? dim=None, bool keepdim=False) -> tensor", CastPolicy::none,
              "The sum of the singular values.", nuclear_norm, sample_nuclears),
    composite(
        "linalg_norm(tensor A, float? ord=None, int[]? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor",
        CastPolicy::none, "linalg_vector_norm of one dim, or without ord; linalg_matrix_norm of two.", norm,
        sample_either),
    composite("linalg_cond(tensor A, float? p=None) -> tensor", CastPolicy::none,
              "The condition number by a norm of matrices, 2 unless given.", cond, sample_conditions),
    composite(
        "linalg_matrix_rank(tensor A, tensor|number? atol=None, tensor|number? rtol=None, bool hermitian=False) -> "
        "tensor",
        CastPolicy::none, "How many singular values exceed the tolerances, of which each matrix may have its own.",
        matrix_rank, sample_ranks, 0, {.nondiff = "the result is a count"}),
    another_name("linalg_multi_dot(tensor[] tensors) -> tensor", CastPolicy::lower_precision_fp, "multi_dot",
                 sample_chains),
};

}  // namespace

extern const OpRows linalg_norms_ops = kRows;

}  // namespace thunder
