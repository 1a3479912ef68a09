// Oracles of softmax and of losses.
#include <cmath>
#include <limits>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

Array log_softmax_along(const Array& x, size_t dim) {
  if (x.shape.empty()) return {{}, {0.0}, DType::none};
  return make(x.shape, [&](const Ints& i) {
    Ints from = i;
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (from[dim] = 0; from[dim] < x.shape[dim]; from[dim]++) top = std::max(top, at(x, from));
    for (from[dim] = 0; from[dim] < x.shape[dim]; from[dim]++) sum += std::exp(at(x, from) - top);
    return at(x, i) - top - std::log(sum);
  });
}
Arrays log_softmax(const Arguments& a) { return {log_softmax_along(a.tensor(0), axis_of(a.integer(1, 0), a.tensor(0).shape.size()))}; }
Arrays softmax(const Arguments& a) {
  Arrays y = log_softmax(a);
  for (double& v : y[0].data) v = std::exp(v);
  return y;
}

// Rows of a loss: their values, what each weighs in the mean, and the reduction's text.
Arrays reduced(const Array& rows, double weight, const std::string& reduction) {
  if (reduction == "none") return {rows};
  double sum = 0;
  for (double v : rows.data) sum += v;
  return {{{}, {reduction == "mean" ? sum / weight : sum}, DType::none}};
}
Arrays mse_loss(const Arguments& a) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  Array rows = make(broadcast_shape(x.shape, y.shape), [&](const Ints& i) {
    const double d = broadcast_at(x, i) - broadcast_at(y, i);
    return d * d;
  });
  return reduced(rows, static_cast<double>(rows.data.size()), a.text(2, "mean"));
}
// From logarithms of probabilities and class indices; `smoothing` spreads a share over all classes.
Arrays by_index(const Arguments& a, const Array& logs, const std::string& reduction, double smoothing) {
  const Array& target = a.tensor(1);
  const size_t dim = logs.shape.size() == 1 ? 0 : 1;
  const int64_t classes = logs.shape[dim];
  auto weight = [&](int64_t c) { return a.has(2) ? a.tensor(2).data[static_cast<size_t>(c)] : 1.0; };
  double total = 0;
  Array rows = make(target.shape, [&](const Ints& i) {
    const auto y = static_cast<int64_t>(at(target, i));
    if (y == a.integer(3, -100)) return 0.0;
    Ints from = i;
    from.insert(from.begin() + static_cast<int64_t>(dim), y);
    double loss = -(1 - smoothing) * weight(y) * at(logs, from);
    for (int64_t c = 0; smoothing > 0 && c < classes; c++) {
      from[dim] = c;
      loss -= smoothing / static_cast<double>(classes) * weight(c) * at(logs, from);
    }
    total += weight(y);
    return loss;
  });
  return reduced(rows, total, reduction);
}
Arrays by_probability(const Arguments& a, const Array& logs, const std::string& reduction, double smoothing) {
  const Array& target = a.tensor(1);
  const size_t dim = logs.shape.size() == 1 ? 0 : 1;
  const int64_t classes = logs.shape[dim];
  Ints shape = logs.shape;
  shape.erase(shape.begin() + static_cast<int64_t>(dim));
  Array rows = make(shape, [&](const Ints& i) {
    Ints from = i;
    from.insert(from.begin() + static_cast<int64_t>(dim), 0);
    double loss = 0;
    for (int64_t c = 0; c < classes; c++) {
      from[dim] = c;
      const double p = at(target, from) * (1 - smoothing) + smoothing / static_cast<double>(classes);
      loss -= p * (a.has(2) ? a.tensor(2).data[static_cast<size_t>(c)] : 1.0) * at(logs, from);
    }
    return loss;
  });
  return reduced(rows, static_cast<double>(rows.data.size()), reduction);
}
Arrays nll_loss(const Arguments& a) { return by_index(a, a.tensor(0), a.text(4, "mean"), 0); }
Arrays cross_entropy(const Arguments& a) {
  const Array& x = a.tensor(0);
  const Array logs = log_softmax_along(x, x.shape.size() == 1 ? 0 : 1);
  const bool probabilities = a.tensor(1).shape == x.shape && is_real(a.tensor(1).dtype);
  return (probabilities ? by_probability : by_index)(a, logs, a.text(4, "mean"), a.number(5, 0));
}

Arrays vocab_parallel_cross_entropy(const Arguments& a) {
  const Array logs = log_softmax_along(a.tensor(0), 1);
  double counted = 0;
  Array rows = make(a.tensor(1).shape, [&](const Ints& i) {
    const auto y = static_cast<int64_t>(at(a.tensor(1), i));
    if (y == a.integer(3, -100)) return 0.0;
    counted++;
    return -at(logs, {i[0], y});
  });
  return reduced(rows, counted, a.text(4, "mean"));
}

Arrays linear_cross_entropy(const Arguments& a) {
  const Array &x = a.tensor(0), &w = a.tensor(1), &t = a.tensor(2);
  const int64_t classes = w.shape[0], features = w.shape[1];
  const double smoothing = a.number(6, 0);
  double total = 0;
  size_t row = 0;
  Array rows = make(t.shape, [&](const Ints& i) {
    std::vector<double> scores;
    for (int64_t c = 0; c < classes; c++) {
      double sum = a.has(3) ? a.tensor(3).data[static_cast<size_t>(c)] : 0;
      for (int64_t k = 0; k < features; k++) sum += x.data[row * static_cast<size_t>(features) + static_cast<size_t>(k)] * at(w, {c, k});
      scores.push_back(sum);
    }
    row++;
    double whole = 0, all = 0;
    for (const double score : scores) whole += std::exp(score);
    for (const double score : scores) all += std::log(whole) - score;
    const auto own = static_cast<int64_t>(at(t, i));
    if (own == a.integer(5, -100)) return 0.0;
    total++;
    return (1 - smoothing) * (std::log(whole) - scores[static_cast<size_t>(own)]) + smoothing * all / static_cast<double>(classes);
  });
  return reduced(rows, total, a.text(4, "mean"));
}

constexpr OracleRow kRows[] = {
    {"linear_cross_entropy", linear_cross_entropy},
    {"vocab_parallel_cross_entropy", vocab_parallel_cross_entropy},
    {"softmax", softmax}, {"log_softmax", log_softmax}, {"mse_loss", mse_loss}, {"nll_loss", nll_loss}, {"cross_entropy", cross_entropy},
};

}  // namespace

std::span<const OracleRow> loss_oracles() { return kRows; }

}  // namespace thunder::battery
