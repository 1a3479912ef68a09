// Shared by the ops of linear algebra: checks and products of matrices in the last two dims, and their samples.
#pragma once

#include "ops/tables.h"

namespace thunder {

inline void require_matrix(const Call& c, size_t i = 0) {
  c.require(c.type(i).rank() >= 2, c.op.schema.params[i].name, " must have at least 2 dims, got ", name(c.type(i)));
}
// The last two dims of `like`, those in front of both broadcast.
inline Var batch_of(Var x, Var other) {
  const auto front = [](const Shape& s) { return Shape(std::span<const Dim>(s.data(), s.size() - 2)); };
  Shape shape = broadcast(front(x.shape()), front(other.shape()));
  shape.push_back(x.size(-2)), shape.push_back(x.size(-1));
  return expand_to(x, shape);
}
inline Var triangular(Var a, Var b, bool upper, bool transposed, bool unit) {
  return a.builder->call(Prim::triangular_solve, {batch_of(a, b), batch_of(b, a), upper, transposed, unit});
}
// What singular values, the largest of which is kept along the last dim, must exceed to count: `largest` times rtol,
// or atol, numbers or one for each matrix. Without either as much as rounding makes of `most` rows or columns.
inline Var singular_cut(const Call& c, Var largest, int64_t most, size_t atol, size_t rtol) {
  const bool wide = largest.dtype() == DType::f64;
  const double epsilon = wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon(),
               usual = epsilon * static_cast<double>(most);
  const auto given = [&](size_t i) -> In {
    if (c.args[i].kind != ArgKind::value) return number_of(c.args[i]);
    return convert(c.builder.call("unsqueeze", {c.var(i), -1}), largest.dtype());
  };
  if (c.has(rtol)) {
    Var cut = largest * given(rtol);
    return c.has(atol) ? maximum(cut, given(atol)) : cut;
  }
  if (!c.has(atol)) return largest * usual;
  const In least = given(atol);
  if (least.kind != ArgKind::value) return least.f > 0 ? full_like(largest, least.f) : maximum(largest * usual, least);
  Var each = c.builder.var(least.v);
  return maximum(where(gt(each, 0.0), 0.0, largest * usual), each);
}
// Descending; of symmetric matrices by their eigenvalues, which are not in order then.
inline Var singular_values(const Call& c, Var x, bool hermitian) {
  return hermitian ? abs(c.builder.call("linalg_eigvalsh", {x})) : c.builder.call("linalg_svdvals", {x});
}

inline const TensorSpec kSquare{{3, 3}}, kBatch{{2, 3, 3}, DType::f64}, kTall{{4, 2}}, kWide{{2, 4}, DType::f64},
    kPositive{{2, 1, 1}, DType::f32, 0.5, 2};
inline const TensorSpec kTriangle{{2, 3, 3}, DType::f64, 0.5, 2};

inline void matrix_samples(Samples& s) {
  s.add({kSquare}), s.add({kTall}), s.add({kWide}), s.add({TensorSpec{{2, 3, 2}, DType::f64}});
  s.refuse({TensorSpec{{3}}}, "2 dims");
}

}  // namespace thunder
