// Muon against its formula, for wide and tall matrices: momentum in double, the iteration in bf16 as PyTorch has it.
#include "core/modules/fixture.h"
#include "ir/elements.h"

namespace thunder {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(b[0].size()));
  for (size_t i = 0; i < a.size(); i++)
    for (size_t j = 0; j < b[0].size(); j++)
      for (size_t k = 0; k < b.size(); k++) c[i][j] += a[i][k] * b[k][j];
  return c;
}
Matrix transposed(const Matrix& a) {
  Matrix t(a[0].size(), std::vector<double>(a.size()));
  for (size_t i = 0; i < a.size(); i++)
    for (size_t j = 0; j < a[0].size(); j++) t[j][i] = a[i][j];
  return t;
}

Matrix rounded(Matrix x) {
  for (auto& row : x)
    for (double& v : row) v = static_cast<float>(bf16(static_cast<float>(v)));
  return x;
}
// a * x + b * y.
Matrix sum(double a, const Matrix& x, double b, const Matrix& y) {
  Matrix out = x;
  for (size_t r = 0; r < x.size(); r++)
    for (size_t c = 0; c < x[0].size(); c++) out[r][c] = a * x[r][c] + b * y[r][c];
  return out;
}

// Five steps of Newton and Schulz's iteration with PyTorch's coefficients.
Matrix orthogonal(Matrix x) {
  x = rounded(x);
  const bool tall = x.size() > x[0].size();
  if (tall) x = transposed(x);
  double square = 0;
  for (auto& row : x)
    for (double v : row) square += v * v;
  const double norm = rounded({{std::sqrt(square)}})[0][0];
  for (auto& row : x)
    for (double& v : row) v /= norm;
  x = rounded(x);
  for (int i = 0; i < 5; i++) {
    const Matrix gram = rounded(product(x, transposed(x)));
    const Matrix update = rounded(sum(-4.775, gram, 2.0315, product(gram, gram)));
    x = rounded(sum(3.4445, x, 1, product(update, x)));
  }
  return tall ? transposed(x) : x;
}

struct Muon : Modules {
  void expect_steps(int64_t rows, int64_t columns) {
    auto p = wave({rows, columns});
    Values params;
    params.push(p);
    Options o;
    o.set("lr", Any::real(0.1));
    Optimizer optimizer(environment, "Muon", params, &o);
    const auto matrix = [&](const Tensor& t) {
      const Floats values = floats(t);
      Matrix m(static_cast<size_t>(rows));
      for (size_t i = 0; i < values.size(); i++) m[i / static_cast<size_t>(columns)].push_back(values[i]);
      return m;
    };
    Matrix wanted = matrix(*p), buffer(wanted.size(), std::vector<double>(wanted[0].size()));
    const double scale = std::sqrt(std::max(1.0, static_cast<double>(rows) / static_cast<double>(columns)));
    for (int t = 1; t <= 3; t++) {
      auto gradient = wave({rows, columns}, static_cast<float>(t));
      eager([&](Scope& s, const Values& in, Values&) { optimizer.step(s, in); }, {gradient});
      ASSERT_EQ(error, "");
      const Matrix g = matrix(*gradient);
      Matrix direction = g;
      for (size_t r = 0; r < g.size(); r++)
        for (size_t c = 0; c < g[0].size(); c++) {
          buffer[r][c] = 0.95 * buffer[r][c] + 0.05 * g[r][c];
          direction[r][c] = 0.05 * g[r][c] + 0.95 * buffer[r][c];
        }
      direction = orthogonal(direction);
      for (size_t r = 0; r < g.size(); r++)
        for (size_t c = 0; c < g[0].size(); c++)
          wanted[r][c] = wanted[r][c] * (1 - 0.1 * 0.1) - 0.1 * scale * direction[r][c];
    }
    Floats flat;
    for (auto& row : wanted) flat.insert(flat.end(), row.begin(), row.end());
    expect_near(floats(*p), flat, 1e-4f);
  }
};

TEST_F(Muon, steps_along_orthogonal_directions) {
  expect_steps(2, 3);
  expect_steps(5, 2);
  expect_steps(3, 3);
}

TEST_F(Muon, takes_matrices_alone) {
  Values params;
  params.push(wave({3}));
  EXPECT_EQ(thrown([&] { Optimizer(environment, "Muon", params, nullptr); }),
            "Muon: parameter '0' must be a matrix, got f32[3]; give others to AdamW");
}

}  // namespace
}  // namespace thunder
