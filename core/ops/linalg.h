// What the ops of linear algebra share: checks and products of matrices in the last two dims, and their samples.
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
  return a.builder->call("prims.triangular_solve", {batch_of(a, b), batch_of(b, a), upper, transposed, unit});
}

inline const TensorSpec kSquare{{3, 3}}, kBatch{{2, 3, 3}, DType::f64}, kTall{{4, 2}}, kWide{{2, 4}, DType::f64},
    kPositive{{2, 1, 1}, DType::f32, 0.5, 2};
inline const TensorSpec kTriangle{{2, 3, 3}, DType::f64, 0.5, 2};

inline void matrix_samples(Samples& s) {
  s.add({kSquare}), s.add({kTall}), s.add({kWide}), s.add({TensorSpec{{2, 3, 2}, DType::f64}});
  s.refuse({TensorSpec{{3}}}, "2 dims");
}

}  // namespace thunder
