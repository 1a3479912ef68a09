// Oracles of norms.
#include <cmath>
#include <limits>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

struct Moments {
  double mean = 0, variance = 0, squares = 0;  // the biased variance; the mean of squares
  double n = 0;
};
Moments moments(const std::vector<double>& values) {
  Moments m;
  m.n = static_cast<double>(values.size());
  for (double v : values) m.mean += v / m.n, m.squares += v * v / m.n;
  for (double v : values) m.variance += (v - m.mean) * (v - m.mean) / m.n;
  return m;
}
// The moments of each row of the last dims, rows one after the other.
std::vector<Moments> of_rows(const Array& x, int64_t row) {
  std::vector<Moments> out;
  for (int64_t start = 0; row > 0 && start < count(x.shape); start += row)
    out.push_back(moments({x.data.begin() + start, x.data.begin() + start + row}));
  return out;
}
Arrays layer_norm(const Arguments& a) {
  Array y = a.tensor(0);
  const int64_t row = count(a.ints(1));
  const auto m = of_rows(y, row);
  const double eps = a.number(4, 1e-5);
  for (size_t i = 0; i < y.data.size(); i++) {
    const Moments& own = m[i / static_cast<size_t>(row)];
    const size_t at_row = i % static_cast<size_t>(row);
    y.data[i] = (y.data[i] - own.mean) / std::sqrt(own.variance + eps);
    if (a.has(2)) y.data[i] *= a.tensor(2).data[at_row];
    if (a.has(3)) y.data[i] += a.tensor(3).data[at_row];
  }
  return {y};
}
Arrays rms_norm(const Arguments& a) {
  Array y = a.tensor(0);
  const int64_t row = count(a.ints(1));
  const auto m = of_rows(y, row);
  const double least = y.dtype == DType::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const double eps = a.number(3, least);
  for (size_t i = 0; i < y.data.size(); i++) {
    y.data[i] /= std::sqrt(m[i / static_cast<size_t>(row)].squares + eps);
    if (a.has(2)) y.data[i] *= a.tensor(2).data[i % static_cast<size_t>(row)];
  }
  return {y};
}

// ---- channels: dim 1 ----

std::vector<Moments> of_channels(const Array& x) {
  std::vector<std::vector<double>> values(static_cast<size_t>(x.shape[1]));
  each_index(x.shape, [&](const Ints& i) { values[static_cast<size_t>(i[1])].push_back(at(x, i)); });
  std::vector<Moments> out;
  for (auto& v : values) out.push_back(moments(v));
  return out;
}
Array scaled(const Arguments& a, const std::vector<Moments>& m, double eps) {
  const Array& x = a.tensor(0);
  return make(x.shape, [&](const Ints& i) {
    const Moments& own = m[static_cast<size_t>(i[1])];
    double v = (at(x, i) - own.mean) / std::sqrt(own.variance + eps);
    if (a.has(3)) v *= at(a.tensor(3), {i[1]});
    if (a.has(4)) v += at(a.tensor(4), {i[1]});
    return v;
  });
}
Arrays batch_norm(const Arguments& a) {
  std::vector<Moments> m;
  if (a.flag(5, false)) m = of_channels(a.tensor(0));
  else
    for (size_t c = 0; c < a.tensor(1).data.size(); c++) m.push_back({a.tensor(1).data[c], a.tensor(2).data[c], 0, 0});
  return {scaled(a, m, a.number(7, 1e-5))};
}
Arrays batch_norm_update(const Arguments& a) {
  const auto m = of_channels(a.tensor(0));
  const double momentum = a.number(5, 0.1);
  Array mean = a.tensor(1), variance = a.tensor(2);
  for (size_t c = 0; c < m.size(); c++) {
    mean.data[c] = (1 - momentum) * mean.data[c] + momentum * m[c].mean;
    variance.data[c] = (1 - momentum) * variance.data[c] + momentum * m[c].variance * m[c].n / (m[c].n - 1);
  }
  return {scaled(a, m, a.number(6, 1e-5)), mean, variance};
}
Arrays batch_norm_stats(const Arguments& a) {
  const auto m = of_channels(a.tensor(0));
  const Ints channels = {static_cast<int64_t>(m.size())};
  return {make(channels, [&](const Ints& i) { return m[static_cast<size_t>(i[0])].mean; }),
          make(channels, [&](const Ints& i) { return 1 / std::sqrt(m[static_cast<size_t>(i[0])].variance + a.number(1, 0)); })};
}

constexpr OracleRow kRows[] = {
    {"layer_norm", layer_norm},
    {"rms_norm", rms_norm},
    {"batch_norm", batch_norm},
    {"batch_norm_update", batch_norm_update},
    {"batch_norm_stats", batch_norm_stats},
};

}  // namespace

std::span<const OracleRow> norm_oracles() { return kRows; }

}  // namespace thunder::battery
