// Oracles of resized, rearranged and sampled images, and of norms over parts of the channels.
#include <algorithm>
#include <cmath>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

Ints with(Ints i, size_t axis, int64_t at) {
  i[axis] = at;
  return i;
}

// ---- interpolation: one dim after the other ----

double cubic_weight(double d) {
  constexpr double a = -0.75;
  d = std::fabs(d);
  return d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1 : d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}
double filter_weight(double d, bool cubic) {
  d = std::fabs(d);
  if (!cubic) return std::max(0.0, 1 - d);
  return d < 1 ? 1.5 * d * d * d - 2.5 * d * d + 1 : d < 2 ? -0.5 * d * d * d + 2.5 * d * d - 4 * d + 2 : 0;
}
// The mean of the pixels around each result's centre, by a filter as wide as the size shrinks.
Array filtered(const Array& x, size_t axis, int64_t to, bool cubic, bool corners) {
  const int64_t n = x.shape[axis];
  const double scale = corners ? (to > 1 ? static_cast<double>(n - 1) / static_cast<double>(to - 1) : 0) : static_cast<double>(n) / static_cast<double>(to);
  const double wider = std::max(scale, 1.0), reach = (cubic ? 2 : 1) * wider;
  return make(with(x.shape, axis, to), [&](const Ints& i) {
    const double centre = scale * (static_cast<double>(i[axis]) + 0.5);
    const auto first = std::max<int64_t>(0, static_cast<int64_t>(centre - reach + 0.5)), end = std::min(n, static_cast<int64_t>(centre + reach + 0.5));
    double sum = 0, all = 0;
    for (int64_t j = first; j < end; j++) {
      const double w = filter_weight((static_cast<double>(j) - centre + 0.5) / wider, cubic);
      sum += w * battery::at(x, with(i, axis, j)), all += w;
    }
    return sum / all;
  });
}
Array resized(const Array& x, size_t axis, int64_t to, const std::string& mode, bool corners) {
  const int64_t n = x.shape[axis];
  const auto from = static_cast<double>(n), size = static_cast<double>(to);
  const double scale = corners ? (to > 1 ? (from - 1) / (size - 1) : 0) : from / size;
  const auto pixel = [&](const Ints& i, double at) { return battery::at(x, with(i, axis, static_cast<int64_t>(std::clamp(at, 0.0, from - 1)))); };
  return make(with(x.shape, axis, to), [&](const Ints& i) {
    const auto k = static_cast<double>(i[axis]);
    if (mode == "nearest") return pixel(i, std::floor(k * scale));
    if (mode == "nearest-exact") return pixel(i, std::floor((k + 0.5) * scale));
    if (mode == "area") {
      const double start = std::floor(k * from / size), end = std::ceil((k + 1) * from / size);
      double sum = 0;
      for (double at = start; at < end; at++) sum += pixel(i, at);
      return sum / (end - start);
    }
    double at = corners ? k * scale : (k + 0.5) * scale - 0.5;
    if (mode == "bicubic") {
      double sum = 0;
      for (double tap = std::floor(at) - 1; tap <= std::floor(at) + 2; tap++) sum += pixel(i, tap) * cubic_weight(at - tap);
      return sum;
    }
    at = std::max(at, 0.0);
    const double low = std::floor(at), w = at - low;
    return pixel(i, low) * (1 - w) + pixel(i, low + 1) * w;
  });
}
Arrays interpolate(const Arguments& a) {
  Array x = a.tensor(0);
  const Ints size = a.ints(1);
  for (size_t d = 2; d < a.tensor(0).shape.size(); d++) {
    const int64_t to = size[size.size() == 1 ? 0 : d - 2];
    if (a.flag(6, false)) x = filtered(x, d, to, a.text(3, "") == "bicubic", a.flag(4, false));
    else x = resized(x, d, to, a.text(3, "nearest"), a.flag(4, false));
  }
  return {x};
}

// ---- channels as pixels ----

Arrays pixel_shuffle(const Arguments& a) {
  const Array& x = a.tensor(0);
  const int64_t r = a.integer(1, 1);
  const size_t n = x.shape.size();
  Ints shape = x.shape;
  shape[n - 3] /= r * r, shape[n - 2] *= r, shape[n - 1] *= r;
  return {make(shape, [&](Ints i) {
    i[n - 3] = (i[n - 3] * r + i[n - 2] % r) * r + i[n - 1] % r;
    i[n - 2] /= r, i[n - 1] /= r;
    return at(x, i);
  })};
}
Arrays pixel_unshuffle(const Arguments& a) {
  const Array& x = a.tensor(0);
  const int64_t r = a.integer(1, 1);
  const size_t n = x.shape.size();
  Ints shape = x.shape;
  shape[n - 3] *= r * r, shape[n - 2] /= r, shape[n - 1] /= r;
  return {make(shape, [&](Ints i) {
    const int64_t inside = i[n - 3] % (r * r);
    i[n - 3] /= r * r, i[n - 2] = i[n - 2] * r + inside / r, i[n - 1] = i[n - 1] * r + inside % r;
    return at(x, i);
  })};
}
Arrays channel_shuffle(const Arguments& a) {
  const Array& x = a.tensor(0);
  const int64_t groups = a.integer(1, 1), each = x.shape[1] / groups;
  return {make(x.shape, [&](const Ints& i) { return at(x, with(i, 1, i[1] % groups * each + i[1] / groups)); })};
}

// ---- norms ----

// The elements for which same(i, j) holds, standardised together.
template <class F>
Array standardised(const Array& x, double eps, F same) {
  return make(x.shape, [&](const Ints& i) {
    double n = 0, sum = 0, squares = 0;
    each_index(x.shape, [&](const Ints& j) {
      if (same(i, j)) n++, sum += at(x, j);
    });
    each_index(x.shape, [&](const Ints& j) {
      if (same(i, j)) squares += (at(x, j) - sum / n) * (at(x, j) - sum / n);
    });
    return (at(x, i) - sum / n) / std::sqrt(squares / n + eps);
  });
}
double channel(const Arguments& a, size_t param, const Ints& i, double otherwise) { return a.has(param) ? a.tensor(param).data[static_cast<size_t>(i[1])] : otherwise; }
Arrays scaled(const Arguments& a, const Array& y, size_t weight) {
  return {make(y.shape, [&](const Ints& i) { return at(y, i) * channel(a, weight, i, 1) + channel(a, weight + 1, i, 0); })};
}
Arrays group_norm(const Arguments& a) {
  const Array& x = a.tensor(0);
  const int64_t each = x.shape[1] / a.integer(1, 1);
  return scaled(a, standardised(x, a.number(4, 1e-5), [&](const Ints& i, const Ints& j) { return i[0] == j[0] && i[1] / each == j[1] / each; }), 2);
}
Arrays instance_norm(const Arguments& a) {
  const Array& x = a.tensor(0);
  const double eps = a.number(7, 1e-5);
  if (a.flag(5, true)) return scaled(a, standardised(x, eps, [](const Ints& i, const Ints& j) { return i[0] == j[0] && i[1] == j[1]; }), 3);
  return scaled(a, make(x.shape, [&](const Ints& i) { return (at(x, i) - channel(a, 1, i, 0)) / std::sqrt(channel(a, 2, i, 1) + eps); }), 3);
}
Arrays local_response_norm(const Arguments& a) {
  const Array& x = a.tensor(0);
  const int64_t size = a.integer(1, 1);
  return {make(x.shape, [&](const Ints& i) {
    double sum = 0;
    for (int64_t c = i[1] - size / 2; c <= i[1] + (size - 1) / 2; c++)
      if (c >= 0 && c < x.shape[1]) sum += at(x, with(i, 1, c)) * at(x, with(i, 1, c));
    return at(x, i) / std::pow(a.number(4, 1) + a.number(2, 1e-4) * sum / static_cast<double>(size), a.number(3, 0.75));
  })};
}

// ---- grids, and sums of rows of a table ----

Arrays embedding_bag(const Arguments& a) {
  const Array &index = a.tensor(0), &table = a.tensor(1);
  const std::string mode = a.text(3, "mean");
  const int64_t columns = table.shape[1], n = count(index.shape), bags = a.has(2) ? a.tensor(2).shape[0] - a.flag(5, false) : index.shape[0];
  const int64_t padding = a.has(6) ? (a.integer(6, 0) + table.shape[0]) % table.shape[0] : -1;
  const auto bag_of = [&](int64_t i) {
    if (!a.has(2)) return i / index.shape[1];
    int64_t bag = -1;
    for (double start : a.tensor(2).data) bag += start <= static_cast<double>(i);
    return std::min(bag, bags - 1);
  };
  return {make({bags, columns}, [&](const Ints& at_result) {
    double sum = 0, top = -HUGE_VAL, members = 0;
    for (int64_t i = 0; i < n; i++) {
      if (bag_of(i) != at_result[0] || static_cast<int64_t>(index.data[static_cast<size_t>(i)]) == padding) continue;
      const double v = at(table, {static_cast<int64_t>(index.data[static_cast<size_t>(i)]), at_result[1]});
      sum += v * (a.has(4) ? a.tensor(4).data[static_cast<size_t>(i)] : 1), top = std::max(top, v), members++;
    }
    return mode == "max" ? (members > 0 ? top : 0) : mode == "mean" ? sum / std::max(members, 1.0) : sum;
  })};
}

double place_of(int64_t i, int64_t n, bool corners) {
  if (corners) return n > 1 ? -1 + 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) : 0;
  return -1 + (2.0 * static_cast<double>(i) + 1) / static_cast<double>(n);
}
Arrays affine_grid(const Arguments& a) {
  const Ints size = a.ints(1);
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  Ints shape{size.begin() + 2, size.end()};
  shape.insert(shape.begin(), size[0]), shape.push_back(dims);
  return {make(shape, [&](const Ints& i) {
    double sum = at(a.tensor(0), {i[0], i.back(), dims});
    for (int64_t k = 0; k < dims; k++) {
      const auto d = static_cast<size_t>(dims - k);  // the first coordinate is along the last dim
      sum += at(a.tensor(0), {i[0], i.back(), k}) * place_of(i[d], size[d + 1], a.flag(2, false));
    }
    return sum;
  })};
}

double scaled(double at, int64_t size, bool corners) {
  const auto n = static_cast<double>(size);
  return corners ? (at + 1) / 2 * (n - 1) : ((at + 1) * n - 1) / 2;
}
double padded(double p, int64_t size, const std::string& padding, bool corners) {
  const auto n = static_cast<double>(size);
  if (padding == "reflection") {
    const double low = corners ? 0 : -0.5, high = corners ? n - 1 : n - 0.5;
    for (int turn = 0; turn < 100 && (p < low || p > high); turn++) p = p < low ? 2 * low - p : 2 * high - p;
  }
  return padding == "zeros" ? p : std::clamp(p, 0.0, n - 1);
}
// Every pixel, by how near it is to the place along each dim.
Arrays grid_sample(const Arguments& a) {
  const Array &image = a.tensor(0), &grid = a.tensor(1);
  const std::string mode = a.text(2, "bilinear"), padding = a.text(3, "zeros");
  const bool corners = a.flag(4, false);
  const size_t dims = image.shape.size() - 2;
  Ints shape(grid.shape.begin(), grid.shape.end() - 1);
  shape.insert(shape.begin() + 1, image.shape[1]);
  return {make(shape, [&](const Ints& i) {
    Ints at_grid = i;
    at_grid.erase(at_grid.begin() + 1), at_grid.push_back(0);
    double whole = 0;
    // Pairs of a pixel along each dim and its weight there.
    std::vector<std::vector<std::pair<double, double>>> near(dims);
    for (size_t d = 0; d < dims; d++) {
      const int64_t size = image.shape[2 + d];
      at_grid.back() = static_cast<int64_t>(dims - 1 - d);
      const double place = scaled(at(grid, at_grid), size, corners);
      if (mode == "bicubic") {
        for (double tap = std::floor(place) - 1; tap <= std::floor(place) + 2; tap++)
          near[d].push_back({padded(tap, size, padding, corners), cubic_weight(place - tap)});
        continue;
      }
      const double p = padded(place, size, padding, corners);
      if (mode == "nearest") near[d].push_back({std::nearbyint(p), 1});
      else near[d] = {{std::floor(p), 1 - (p - std::floor(p))}, {std::floor(p) + 1, p - std::floor(p)}};
    }
    Ints counts;
    for (auto& pairs : near) counts.push_back(static_cast<int64_t>(pairs.size()));
    each_index(counts, [&](const Ints& which) {
      Ints from{i[0], i[1]};
      double weight = 1;
      for (size_t d = 0; d < dims; d++) {
        const auto [pixel, w] = near[d][static_cast<size_t>(which[d])];
        if (pixel < 0 || pixel >= static_cast<double>(image.shape[2 + d])) return;
        from.push_back(static_cast<int64_t>(pixel)), weight *= w;
      }
      whole += weight * at(image, from);
    });
    return whole;
  })};
}

constexpr OracleRow kRows[] = {
    {"embedding_bag", embedding_bag},
    {"affine_grid", affine_grid},
    {"grid_sample", grid_sample},
    {"interpolate", interpolate},
    {"pixel_shuffle", pixel_shuffle},
    {"pixel_unshuffle", pixel_unshuffle},
    {"channel_shuffle", channel_shuffle},
    {"group_norm", group_norm},
    {"instance_norm", instance_norm},
    {"local_response_norm", local_response_norm},
};

}  // namespace

std::span<const OracleRow> image_oracles() { return kRows; }

}  // namespace thunder::battery
