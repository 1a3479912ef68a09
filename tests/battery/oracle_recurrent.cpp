// Oracles of recurrent networks: one unit of one sample at one time.
#include <cmath>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

using Row = std::vector<double>;
enum class Unit { tanh, relu, lstm, gru };

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

Row row_of(const Array& a, int64_t i) {
  const auto width = static_cast<size_t>(a.shape.back());
  const auto from = a.data.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(i) * width);
  return {from, from + static_cast<std::ptrdiff_t>(width)};
}
// weight @ x + bias
Row product(const Array& weight, const Array* bias, const Row& x) {
  Row y;
  for (int64_t i = 0; i < weight.shape[0]; i++) {
    double sum = bias ? bias->data[static_cast<size_t>(i)] : 0;
    for (size_t k = 0; k < x.size(); k++) sum += at(weight, {i, static_cast<int64_t>(k)}) * x[k];
    y.push_back(sum);
  }
  return y;
}

struct Weights {
  const Array *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;
};

// The next h, and c in place.
Row step(Unit unit, const Weights& w, const Row& x, const Row& h, Row& c) {
  const Row from_x = product(*w.w_ih, w.b_ih, x), from_h = product(*w.w_hh, w.b_hh, h);
  const size_t gates = unit == Unit::lstm ? 4 : unit == Unit::gru ? 3 : 1, n = from_x.size() / gates;
  Row made;
  for (size_t i = 0; i < n; i++) {
    const auto both = [&](size_t gate) { return from_x[gate * n + i] + from_h[gate * n + i]; };
    if (unit == Unit::tanh) made.push_back(std::tanh(both(0)));
    if (unit == Unit::relu) made.push_back(both(0) > 0 ? both(0) : 0);
    if (unit == Unit::lstm) {
      c[i] = logistic(both(1)) * c[i] + logistic(both(0)) * std::tanh(both(2));
      made.push_back(logistic(both(3)) * std::tanh(c[i]));
    }
    if (unit == Unit::gru) {
      const double z = logistic(both(1)), fresh = std::tanh(from_x[2 * n + i] + logistic(both(0)) * from_h[2 * n + i]);
      made.push_back((1 - z) * fresh + z * h[i]);
    }
  }
  return w.w_hr ? product(*w.w_hr, nullptr, made) : made;
}

template <Unit unit>
Arrays cell(const Arguments& a) {
  const Array& x = a.tensor(0);
  Array h = a.tensors(1)[0], c = unit == Unit::lstm ? a.tensors(1)[1] : Array{};
  const Weights w{&a.tensor(2), &a.tensor(3), a.has(4) ? &a.tensor(4) : nullptr, a.has(5) ? &a.tensor(5) : nullptr, nullptr};
  const int64_t batch = count(x.shape) / x.shape.back();
  Row next_h, next_c;
  for (int64_t i = 0; i < batch; i++) {
    Row own = unit == Unit::lstm ? row_of(c, i) : Row();
    const Row made = step(unit, w, row_of(x, i), row_of(h, i), own);
    next_h.insert(next_h.end(), made.begin(), made.end());
    next_c.insert(next_c.end(), own.begin(), own.end());
  }
  h.data = next_h, c.data = next_c;
  return unit == Unit::lstm ? Arrays{h, c} : Arrays{h};
}

// One sample's sequence of rows through all layers; the last states go to rows `sample` of h and c.
template <Unit unit>
std::vector<Row> sequence(const Arguments& a, std::vector<Row> rows, Array& h, Array& c, int64_t sample) {
  const auto& params = a.tensors(2);
  const bool biases = a.flag(3, false);
  const int64_t layers = a.integer(4, 1), directions = a.flag(7, false) ? 2 : 1, batch = h.shape[1];
  const size_t each = params.size() / static_cast<size_t>(layers * directions);
  for (int64_t layer = 0; layer < layers; layer++) {
    std::vector<Row> made(rows.size());
    for (int64_t d = 0; d < directions; d++) {
      const int64_t block = layer * directions + d;
      const Array* p = &params[static_cast<size_t>(block) * each];
      const Weights w{p, p + 1, biases ? p + 2 : nullptr, biases ? p + 3 : nullptr, each % 2 ? p + each - 1 : nullptr};
      Row own = row_of(h, block * batch + sample), memory = unit == Unit::lstm ? row_of(c, block * batch + sample) : Row();
      for (size_t i = 0; i < rows.size(); i++) {
        const size_t t = d == 0 ? i : rows.size() - 1 - i;
        own = step(unit, w, rows[t], own, memory);
        made[t].insert(made[t].end(), own.begin(), own.end());
      }
      for (size_t k = 0; k < own.size(); k++) at(h, {block, sample, static_cast<int64_t>(k)}) = own[k];
      for (size_t k = 0; k < memory.size(); k++) at(c, {block, sample, static_cast<int64_t>(k)}) = memory[k];
    }
    rows = made;
  }
  return rows;
}

template <Unit unit>
Arrays network(const Arguments& a) {
  const Array& x = a.tensor(0);
  Array h = a.tensors(1)[0], c = unit == Unit::lstm ? a.tensors(1)[1] : Array{};
  const bool batch_first = a.flag(8, false);
  const int64_t length = x.shape[batch_first ? 1 : 0], batch = x.shape[batch_first ? 0 : 1];
  const auto place = [&](int64_t t, int64_t sample) { return batch_first ? sample * length + t : t * batch + sample; };
  std::vector<Row> all(static_cast<size_t>(length * batch));
  for (int64_t sample = 0; sample < batch; sample++) {
    std::vector<Row> rows;
    for (int64_t t = 0; t < length; t++) rows.push_back(row_of(x, place(t, sample)));
    rows = sequence<unit>(a, rows, h, c, sample);
    for (int64_t t = 0; t < length; t++) all[static_cast<size_t>(place(t, sample))] = rows[static_cast<size_t>(t)];
  }
  Array y{{x.shape[0], x.shape[1], static_cast<int64_t>(all[0].size())}, {}, DType::none};
  for (const Row& row : all) y.data.insert(y.data.end(), row.begin(), row.end());
  return unit == Unit::lstm ? Arrays{y, h, c} : Arrays{y, h};
}

constexpr OracleRow kRows[] = {
    {"rnn_tanh_cell", cell<Unit::tanh>}, {"rnn_relu_cell", cell<Unit::relu>}, {"lstm_cell", cell<Unit::lstm>},
    {"gru_cell", cell<Unit::gru>},       {"rnn_tanh", network<Unit::tanh>},   {"rnn_relu", network<Unit::relu>},
    {"lstm", network<Unit::lstm>},       {"gru", network<Unit::gru>},
};

}  // namespace

std::span<const OracleRow> recurrent_oracles() { return kRows; }

}  // namespace thunder::battery
