// Oracles of products of matrices and of attention.
#include <cmath>
#include <limits>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Ints leading(const Ints& shape, size_t behind) { return Ints(shape.begin(), shape.end() - static_cast<int64_t>(behind)); }
Ints joined(Ints a, std::initializer_list<int64_t> b) {
  a.insert(a.end(), b);
  return a;
}
// The element of a stack of matrices whose batch dims broadcast to `batch`.
double element(const Array& a, const Ints& batch, int64_t row, int64_t column) {
  Ints index = batch;
  index.push_back(row), index.push_back(column);
  const size_t own = a.shape.size() - 2;
  Ints from;
  for (size_t d = 0; d < own; d++) from.push_back(a.shape[d] == 1 ? 0 : batch[batch.size() - own + d]);
  from.push_back(row), from.push_back(column);
  return at(a, from);
}

Array product(Array a, Array b) {
  const bool row = a.shape.size() == 1, column = b.shape.size() == 1;
  if (row) a.shape.insert(a.shape.begin(), 1);
  if (column) b.shape.push_back(1);
  const Ints batch = broadcast_shape(leading(a.shape, 2), leading(b.shape, 2));
  const int64_t n = a.shape[a.shape.size() - 2], k = a.shape.back(), m = b.shape.back();
  Array out = make(joined(batch, {n, m}), [&](const Ints& i) {
    const Ints at_batch = leading(i, 2);
    double sum = 0;
    for (int64_t j = 0; j < k; j++) sum += element(a, at_batch, i[i.size() - 2], j) * element(b, at_batch, j, i.back());
    return sum;
  });
  if (row) out.shape.erase(out.shape.end() - 2);
  if (column) out.shape.pop_back();
  return out;
}
Arrays matmul(const Arguments& a) { return {product(a.tensor(0), a.tensor(1))}; }
Arrays linear(const Arguments& a) {
  const Array &x = a.tensor(0), &w = a.tensor(1);
  Ints shape = leading(x.shape, 1);
  if (w.shape.size() == 2) shape.push_back(w.shape[0]);
  return {make(shape, [&](const Ints& i) {
    Ints from = i, row;
    if (w.shape.size() == 2) row.push_back(from.back()), from.pop_back();
    double sum = a.has(2) ? broadcast_at(a.tensor(2), i) : 0;
    for (int64_t k = 0; k < x.shape.back(); k++) sum += at(x, joined(from, {k})) * at(w, joined(row, {k}));
    return sum;
  })};
}

// ---- attention ----

// One row of weights: the softmax of what takes part, zeros if nothing does.
std::vector<double> weights(std::vector<double> scores) {
  double top = -kInfinity, sum = 0;
  for (double s : scores) top = std::max(top, s);
  for (double& s : scores) sum += s = top == -kInfinity ? 0 : std::exp(s - top);
  for (double& s : scores) s = sum == 0 ? 0 : s / sum;
  return scores;
}
Array repeated_heads(const Array& x, int64_t heads) {
  const size_t dim = x.shape.size() - 3;
  const int64_t times = heads / x.shape[dim];
  Ints shape = x.shape;
  shape[dim] = heads;
  return make(shape, [&](const Ints& i) {
    Ints from = i;
    from[dim] /= times;
    return at(x, from);
  });
}
Arrays attention(const Arguments& a) {
  const Array& q = a.tensor(0);
  Array k = a.tensor(1), v = a.tensor(2);
  if (a.flag(7, false)) {
    const int64_t heads = q.shape[q.shape.size() - 3];
    k = repeated_heads(k, heads), v = repeated_heads(v, heads);
  }
  const bool causal = a.flag(5, false);
  const int64_t width = q.shape.back(), keys = k.shape[k.shape.size() - 2];
  const double scale = a.number(6, 1 / std::sqrt(static_cast<double>(width)));
  const Ints batch = broadcast_shape(broadcast_shape(leading(q.shape, 2), leading(k.shape, 2)), leading(v.shape, 2));
  return {make(joined(batch, {q.shape[q.shape.size() - 2], v.shape.back()}), [&](const Ints& o) {
    const Ints at_batch = leading(o, 2);
    const int64_t row = o[o.size() - 2];
    std::vector<double> scores;
    for (int64_t j = 0; j < keys; j++) {
      double score = 0;
      for (int64_t d = 0; d < width; d++) score += element(q, at_batch, row, d) * element(k, at_batch, j, d) * scale;
      if (causal && j > row) score = -kInfinity;
      if (a.has(3)) {
        const double mask = broadcast_at(a.tensor(3), joined(at_batch, {row, j}));
        if (a.tensor(3).dtype != DType::boolean) score += mask;
        else if (mask == 0) score = -kInfinity;
      }
      scores.push_back(score);
    }
    scores = weights(scores);
    double sum = 0;
    for (int64_t j = 0; j < keys; j++) sum += scores[static_cast<size_t>(j)] * element(v, at_batch, j, o.back());
    return sum;
  })};
}

constexpr OracleRow kRows[] = {
    {"matmul", matmul}, {"prims.matmul", matmul}, {"linear", linear}, {"scaled_dot_product_attention", attention},
};

}  // namespace

std::span<const OracleRow> matrix_oracles() { return kRows; }

}  // namespace thunder::battery
