// Oracles of linear algebra: Gauss' elimination and Jacobi's rotations.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

Ints leading(const Ints& shape) { return Ints(shape.begin(), shape.end() - 2); }
int64_t rows_of(const Array& a) { return a.shape[a.shape.size() - 2]; }

Matrix zeros(size_t rows, size_t columns) { return Matrix(rows, Row(columns, 0)); }
Matrix identity(size_t n) {
  Matrix out = zeros(n, n);
  for (size_t i = 0; i < n; i++) out[i][i] = 1;
  return out;
}
size_t width(const Matrix& m) { return m.empty() ? 0 : m[0].size(); }
Matrix transposed(const Matrix& a) {
  Matrix out = zeros(width(a), a.size());
  for (size_t i = 0; i < a.size(); i++)
    for (size_t j = 0; j < width(a); j++) out[j][i] = a[i][j];
  return out;
}
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out = zeros(a.size(), width(b));
  for (size_t i = 0; i < a.size(); i++)
    for (size_t j = 0; j < width(b); j++)
      for (size_t k = 0; k < b.size(); k++) out[i][j] += a[i][k] * b[k][j];
  return out;
}
// The matrix whose batch dims broadcast to `batch`.
Matrix matrix_at(const Array& a, const Ints& batch) {
  const int64_t n = rows_of(a), m = a.shape.back();
  const size_t own = a.shape.size() - 2;
  Matrix out = zeros(static_cast<size_t>(n), static_cast<size_t>(m));
  Ints index;
  for (size_t d = 0; d < own; d++) index.push_back(a.shape[d] == 1 ? 0 : batch[batch.size() - own + d]);
  index.resize(own + 2);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      index[own] = i, index[own + 1] = j;
      out[static_cast<size_t>(i)][static_cast<size_t>(j)] = at(a, index);
    }
  return out;
}
void append(Array& out, const Matrix& m) {
  for (const Row& r : m) out.data.insert(out.data.end(), r.begin(), r.end());
}
// f(matrix) for each of a batch, of this shape.
Array each(const Array& a, const Ints& shape, const std::function<Matrix(const Matrix&)>& f) {
  Array out{leading(a.shape), {}, DType::none};
  each_index(out.shape, [&](const Ints& batch) { append(out, f(matrix_at(a, batch))); });
  out.shape.insert(out.shape.end(), shape.begin(), shape.end());
  return out;
}
Array each_number(const Array& a, const std::function<double(const Matrix&)>& f) {
  return each(a, {}, [&](const Matrix& m) { return Matrix{{f(m)}}; });
}

// X of A X = B, and the determinant, by elimination with the largest pivot.
double eliminate(Matrix a, Matrix& b) {
  double det = 1;
  const size_t n = a.size();
  for (size_t c = 0; c < n; c++) {
    size_t best = c;
    for (size_t r = c; r < n; r++)
      if (std::fabs(a[r][c]) > std::fabs(a[best][c])) best = r;
    if (best != c) std::swap(a[c], a[best]), std::swap(b[c], b[best]), det = -det;
    det *= a[c][c];
    for (size_t r = 0; r < n; r++) {
      if (r == c || a[c][c] == 0) continue;
      const double by = a[r][c] / a[c][c];
      for (size_t j = 0; j < n; j++) a[r][j] -= by * a[c][j];
      for (double& x : b[r]) x -= by * b[c][static_cast<size_t>(&x - b[r].data())];
    }
  }
  for (size_t r = 0; r < n; r++)
    for (double& x : b[r]) x /= a[r][r];
  return det;
}
Matrix solved(const Matrix& a, Matrix b) {
  eliminate(a, b);
  return b;
}
double determinant(const Matrix& a) {
  Matrix none = zeros(a.size(), 0);
  return eliminate(a, none);
}
Matrix inverse(const Matrix& a) { return solved(a, identity(a.size())); }

// Ascending, of a symmetric matrix.
Row eigenvalues(Matrix a) {
  const size_t n = a.size();
  for (int sweep = 0; sweep < 60; sweep++)
    for (size_t p = 0; p < n; p++)
      for (size_t q = p + 1; q < n; q++) {
        if (a[p][q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]), c = std::cos(angle), s = std::sin(angle);
        for (size_t k = 0; k < n; k++) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (size_t k = 0; k < n; k++) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
        }
      }
  Row out;
  for (size_t i = 0; i < n; i++) out.push_back(a[i][i]);
  std::sort(out.begin(), out.end());
  return out;
}
// Descending: of a matrix [[0, A], [A^T, 0]] they are the greatest eigenvalues.
Row singular_values(const Matrix& a) {
  const size_t m = a.size(), n = width(a);
  Matrix both = zeros(m + n, m + n);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) both[i][m + j] = both[m + j][i] = a[i][j];
  Row out = eigenvalues(both);
  std::reverse(out.begin(), out.end());
  out.resize(std::min(m, n));
  return out;
}
Matrix half(const Matrix& a, bool upper) {
  Matrix out = a;
  for (size_t i = 0; i < a.size(); i++)
    for (size_t j = 0; j < i; j++) (upper ? out[i][j] : out[j][i]) = upper ? a[j][i] : a[i][j];
  return out;
}
Matrix triangle(const Matrix& a, bool upper, bool unit) {
  Matrix out = a;
  for (size_t i = 0; i < a.size(); i++)
    for (size_t j = 0; j < a.size(); j++)
      if (i == j ? unit : upper ? j < i : j > i) out[i][j] = i == j ? 1 : 0;
  return out;
}
Matrix pseudoinverse(const Matrix& a) {
  const Matrix t = transposed(a);
  return a.size() >= width(a) ? product(inverse(product(t, a)), t) : product(t, inverse(product(a, t)));
}

Ints square(const Array& a) { return {rows_of(a), a.shape.back()}; }

Arrays cholesky(const Arguments& a) {  // of 1 by 1 matrices; the others' test is tests/core/ops/linalg_test.cpp
  return {each(a.tensor(0), square(a.tensor(0)), [](const Matrix& m) { return Matrix{{std::sqrt(m[0][0])}}; })};
}
Arrays cholesky_solve(const Arguments& a) {
  const Array &b = a.tensor(0), &l = a.tensor(1);
  Array out{broadcast_shape(leading(b.shape), leading(l.shape)), {}, DType::none};
  each_index(out.shape, [&](const Ints& i) {
    Matrix t = triangle(matrix_at(l, i), a.flag(2, false), false);
    if (a.flag(2, false)) t = transposed(t);
    append(out, solved(product(t, transposed(t)), matrix_at(b, i)));
  });
  out.shape.push_back(rows_of(b)), out.shape.push_back(b.shape.back());
  return {out};
}
Arrays cholesky_inverse(const Arguments& a) {
  return {each(a.tensor(0), square(a.tensor(0)), [&](const Matrix& m) {
    Matrix t = triangle(m, a.flag(1, false), false);
    if (a.flag(1, false)) t = transposed(t);
    return inverse(product(t, transposed(t)));
  })};
}
Arrays svdvals(const Arguments& a) {
  return {each(a.tensor(0), {std::min(rows_of(a.tensor(0)), a.tensor(0).shape.back())}, [](const Matrix& m) { return Matrix{singular_values(m)}; })};
}
Arrays eigvalsh(const Arguments& a) {
  return {each(a.tensor(0), {rows_of(a.tensor(0))}, [&](const Matrix& m) { return Matrix{eigenvalues(half(m, a.text(1, "L") == "U"))}; })};
}
Arrays inv(const Arguments& a) { return {each(a.tensor(0), square(a.tensor(0)), inverse)}; }
Arrays det(const Arguments& a) { return {each_number(a.tensor(0), determinant)}; }
Arrays slogdet(const Arguments& a) {
  return {each_number(a.tensor(0), [](const Matrix& m) { const double d = determinant(m); return d > 0 ? 1.0 : d < 0 ? -1.0 : 0.0; }),
          each_number(a.tensor(0), [](const Matrix& m) { return std::log(std::fabs(determinant(m))); })};
}
Arrays logdet(const Arguments& a) { return {each_number(a.tensor(0), [](const Matrix& m) { return std::log(determinant(m)); })}; }
Arrays pinv(const Arguments& a) { return {each(a.tensor(0), {a.tensor(0).shape.back(), rows_of(a.tensor(0))}, pseudoinverse)}; }

// f(A, B) for each of both batches, where B may hold vectors.
Array pairs(const Array& a, Array b, int64_t rows, const std::function<Matrix(const Matrix&, const Matrix&)>& f) {
  const bool vector = b.shape.size() == 1 || (b.shape.size() + 1 == a.shape.size() && std::equal(b.shape.begin(), b.shape.end(), a.shape.begin()));
  if (vector) b.shape.push_back(1);
  Array out{broadcast_shape(leading(a.shape), leading(b.shape)), {}, DType::none};
  each_index(out.shape, [&](const Ints& i) { append(out, f(matrix_at(a, i), matrix_at(b, i))); });
  out.shape.push_back(rows);
  if (!vector) out.shape.push_back(b.shape.back());
  return out;
}
Arrays solve(const Arguments& a) {
  const bool left = a.flag(2, true);
  return {pairs(a.tensor(0), a.tensor(1), left ? rows_of(a.tensor(0)) : rows_of(a.tensor(1)), [&](const Matrix& m, const Matrix& b) {
    return left ? solved(m, b) : transposed(solved(transposed(m), transposed(b)));
  })};
}
Arrays solve_triangular(const Arguments& a) {
  const bool left = a.flag(3, true);
  return {pairs(a.tensor(0), a.tensor(1), rows_of(a.tensor(1)), [&](const Matrix& m, const Matrix& b) {
    const Matrix t = triangle(m, a.flag(2, false), a.flag(4, false));
    return left ? solved(t, b) : transposed(solved(transposed(t), transposed(b)));
  })};
}
Arrays triangular_solve(const Arguments& a) {
  return {pairs(a.tensor(1), a.tensor(0), rows_of(a.tensor(1)), [&](const Matrix& m, const Matrix& b) {
            const Matrix t = triangle(m, a.flag(2, true), a.flag(4, false));
            return solved(a.flag(3, false) ? transposed(t) : t, b);
          }),
          a.tensor(1)};
}
Arrays lstsq(const Arguments& a) {
  const Array x = pairs(a.tensor(0), a.tensor(1), a.tensor(0).shape.back(), [](const Matrix& m, const Matrix& b) { return product(pseudoinverse(m), b); });
  Array rest = pairs(a.tensor(0), a.tensor(1), 1, [](const Matrix& m, const Matrix& b) {
    const Matrix fit = product(m, product(pseudoinverse(m), b));
    Row sums(width(b), 0);
    for (size_t i = 0; i < b.size(); i++)
      for (size_t j = 0; j < sums.size(); j++) sums[j] += (fit[i][j] - b[i][j]) * (fit[i][j] - b[i][j]);
    return Matrix{sums};
  });
  if (a.tensor(1).shape.size() > 1) rest.shape.erase(rest.shape.end() - 2);
  const Array none{{0}, {}, DType::none};
  const std::string driver = a.text(3, "gelsy");
  const auto full = [&](const Matrix& m) { return static_cast<double>(singular_values(m).size()); };
  return {x, driver != "gelsy" && rows_of(a.tensor(0)) > a.tensor(0).shape.back() ? rest : none, driver == "gels" ? none : each_number(a.tensor(0), full),
          driver == "gelsd" || driver == "gelss" ? svdvals(a)[0] : none};
}
Arrays matrix_exp(const Arguments& a) {
  return {each(a.tensor(0), square(a.tensor(0)), [](const Matrix& m) {
    Matrix out = identity(m.size()), term = out;
    for (int k = 1; k < 80; k++) {
      term = product(term, m);
      for (size_t i = 0; i < m.size(); i++)
        for (size_t j = 0; j < m.size(); j++) out[i][j] += term[i][j] /= k;
    }
    return out;
  })};
}
Arrays matrix_power(const Arguments& a) {
  const int64_t n = a.integer(1, 0);
  return {each(a.tensor(0), square(a.tensor(0)), [&](const Matrix& m) {
    Matrix out = identity(m.size());
    const Matrix by = n < 0 ? inverse(m) : m;
    for (int64_t k = 0; k < std::abs(n); k++) out = product(out, by);
    return out;
  })};
}

// ---- norms ----

double norm_of(const Row& x, double p) {
  double sum = 0, most = 0;
  for (double v : x) sum += std::pow(std::fabs(v), p), most = std::max(most, std::fabs(v));
  return std::isinf(p) ? most : std::pow(sum, 1 / p);
}
// f(the elements of these dims in order) for each position of the others.
Array over(const Array& a, Ints dims, bool keep, const std::function<double(const Row&)>& f) {
  if (dims.empty())
    for (size_t d = 0; d < a.shape.size(); d++) dims.push_back(static_cast<int64_t>(d));
  Ints inside, kept = a.shape, shape;
  for (int64_t& d : dims) d = static_cast<int64_t>(axis_of(d, a.shape.size())), inside.push_back(a.shape[static_cast<size_t>(d)]);
  for (int64_t d : dims) kept[static_cast<size_t>(d)] = 1;
  Array out = make(kept, [&](Ints i) {
    Row all;
    each_index(inside, [&](const Ints& k) {
      for (size_t d = 0; d < dims.size(); d++) i[static_cast<size_t>(dims[d])] = k[d];
      all.push_back(at(a, i));
    });
    return f(all);
  });
  for (size_t d = 0; d < kept.size(); d++)
    if (keep || std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) shape.push_back(kept[d]);
  out.shape = shape;
  return out;
}
double matrix_norm_of(const Row& elements, int64_t columns, bool numbered, double ord) {
  if (!numbered) return norm_of(elements, 2);
  Matrix m;
  for (size_t i = 0; i < elements.size(); i += static_cast<size_t>(columns)) m.emplace_back(elements.begin() + static_cast<ptrdiff_t>(i), elements.begin() + static_cast<ptrdiff_t>(i) + columns);
  Row parts;
  if (std::fabs(ord) == 2) parts = singular_values(m);
  else
    for (const Row& r : std::fabs(ord) == 1 ? transposed(m) : m) parts.push_back(norm_of(r, 1));
  return ord > 0 ? *std::max_element(parts.begin(), parts.end()) : *std::min_element(parts.begin(), parts.end());
}
Arrays vector_norm(const Arguments& a) {
  return {over(a.tensor(0), a.ints(2), a.flag(3, false), [&](const Row& x) { return norm_of(x, a.number(1, 2)); })};
}
Arrays matrix_norm(const Arguments& a) {
  const Ints dims = a.ints(2, {-2, -1});
  const int64_t columns = a.tensor(0).shape[axis_of(dims[1], a.tensor(0).shape.size())];
  return {over(a.tensor(0), dims, a.flag(3, false), [&](const Row& x) { return matrix_norm_of(x, columns, a.has(1), a.number(1, 2)); })};
}
Arrays norm(const Arguments& a) {
  if (!a.has(1) || (a.has(2) ? a.ints(2).size() == 1 : a.tensor(0).shape.size() == 1)) return vector_norm(a);
  return matrix_norm(a);
}
Arrays nuclear(const Arguments& a) {
  const Ints dims = a.ints(1, {-2, -1});
  const int64_t columns = a.tensor(0).shape[axis_of(dims[1], a.tensor(0).shape.size())];
  return {over(a.tensor(0), dims, a.flag(2, false), [&](const Row& x) {
    Matrix m;
    for (size_t i = 0; i < x.size(); i += static_cast<size_t>(columns)) m.emplace_back(x.begin() + static_cast<ptrdiff_t>(i), x.begin() + static_cast<ptrdiff_t>(i) + columns);
    return norm_of(singular_values(m), 1);
  })};
}
Arrays cond(const Arguments& a) {
  return {each_number(a.tensor(0), [&](const Matrix& m) {
    const double p = a.number(1, 2);
    const auto size = [&](const Matrix& x) {
      Row all;
      for (const Row& r : x) all.insert(all.end(), r.begin(), r.end());
      return matrix_norm_of(all, static_cast<int64_t>(width(x)), true, p);
    };
    const Row s = singular_values(m);
    return p == 2 ? s.front() / s.back() : p == -2 ? s.back() / s.front() : size(m) * size(inverse(m));
  })};
}
Arrays matrix_rank(const Arguments& a) {
  return {each_number(a.tensor(0), [&](const Matrix& m) {
    const Row s = singular_values(m);
    const double atol = a.has(1) ? a.tensor(1).data[0] : 0, rtol = a.has(2) ? a.tensor(2).data[0] : 1e-6;  // the same for each matrix
    return static_cast<double>(std::count_if(s.begin(), s.end(), [&](double v) { return v > std::max(atol, rtol * s.front()); }));
  })};
}
constexpr OracleRow kRows[] = {
    {"linalg_cholesky", cholesky}, {"cholesky_solve", cholesky_solve}, {"cholesky_inverse", cholesky_inverse}, {"linalg_svdvals", svdvals},
    {"linalg_eigvalsh", eigvalsh}, {"linalg_inv", inv}, {"linalg_det", det}, {"linalg_slogdet", slogdet}, {"logdet", logdet}, {"linalg_pinv", pinv}, {"pinverse", pinv},
    {"linalg_solve", solve}, {"linalg_solve_triangular", solve_triangular}, {"triangular_solve", triangular_solve}, {"linalg_lstsq", lstsq},
    {"linalg_matrix_exp", matrix_exp}, {"matrix_power", matrix_power}, {"linalg_vector_norm", vector_norm}, {"linalg_matrix_norm", matrix_norm},
    {"linalg_norm", norm}, {"nuclear_norm", nuclear}, {"linalg_cond", cond}, {"linalg_matrix_rank", matrix_rank},
};

}  // namespace

std::span<const OracleRow> linalg_oracles() { return kRows; }

}  // namespace thunder::battery
