// Oracles of pools, convolutions and their transposes of any number of dims, and of windows as columns.
#include <algorithm>
#include <cmath>
#include <limits>

#include "battery/oracle_loops.h"

namespace thunder::battery {
namespace {

int64_t of(const Ints& values, size_t i) { return values[values.size() == 1 ? 0 : i]; }
Ints last(const Ints& shape, size_t n) { return {shape.end() - static_cast<int64_t>(n), shape.end()}; }
Ints first(const Ints& shape, size_t n) { return {shape.begin(), shape.begin() + static_cast<int64_t>(n)}; }
Ints joined(Ints a, const Ints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Pool {
  Ints kernel, stride, padding, dilation;
  bool ceil;
};
int64_t results(int64_t n, const Pool& p, size_t i) {
  const int64_t reach = (of(p.kernel, i) - 1) * of(p.dilation, i) + 1, left = n + 2 * of(p.padding, i) - reach, step = of(p.stride, i);
  int64_t out = left / step + 1;
  if (p.ceil && left % step != 0 && out * step < n + of(p.padding, i)) out++;
  return out;
}
// Calls f(values inside, how many places lie in the padded input, where the values are in the flattened plane) for
// each window of the last `dims` dims.
template <class F>
Array pooled(const Array& x, size_t dims, const Pool& p, F f) {
  const Ints lead = first(x.shape, x.shape.size() - dims), plane = last(x.shape, dims);
  Ints out;
  for (size_t i = 0; i < dims; i++) out.push_back(results(plane[i], p, i));
  return make(joined(lead, out), [&](const Ints& at_result) {
    std::vector<double> values, where;
    int64_t places = 0;
    Ints kernel;
    for (size_t i = 0; i < dims; i++) kernel.push_back(of(p.kernel, i));
    each_index(kernel, [&](const Ints& tap) {
      Ints at_input = first(at_result, lead.size());
      bool inside = true, padded = true;
      for (size_t i = 0; i < dims; i++) {
        const int64_t at = at_result[lead.size() + i] * of(p.stride, i) + tap[i] * of(p.dilation, i) - of(p.padding, i);
        inside &= at >= 0 && at < plane[i], padded &= at < plane[i] + of(p.padding, i);
        at_input.push_back(at);
      }
      places += padded;
      if (!inside) return;
      values.push_back(at(x, at_input));
      where.push_back(static_cast<double>(place(plane, last(at_input, dims))));
    });
    return f(values, places, where);
  });
}
template <size_t dims>
Arrays avg_pool(const Arguments& a) {
  const Pool p{a.ints(1), a.ints(2, a.ints(1)), a.ints(3, {0}), {1}, a.flag(4, false)};
  return {pooled(a.tensor(0), dims, p, [&](const std::vector<double>& v, int64_t places, auto&) {
    if (dims > 1 && a.has(6)) return total(v) / a.number(6, 1);
    return total(v) / (a.flag(5, true) ? static_cast<double>(places) : static_cast<double>(v.size()));
  })};
}
template <size_t dims>
Arrays lp_pool(const Arguments& a) {
  const Pool p{a.ints(2), a.ints(3, a.ints(2)), {0}, {1}, a.flag(4, false)};
  double kernel = 1;
  for (size_t i = 0; i < dims; i++) kernel *= static_cast<double>(of(p.kernel, i));
  // As in PyTorch, a window that hangs over the end counts as a whole one.
  return {pooled(a.tensor(0), dims, p, [&](const std::vector<double>& v, int64_t places, auto&) {
    double sum = 0;
    for (double x : v) sum += std::pow(x, a.number(1, 2));
    return std::pow(sum / static_cast<double>(places) * kernel, 1 / a.number(1, 2));
  })};
}
template <size_t dims, bool with_indices = false>
Arrays max_pool(const Arguments& a) {
  const Pool p{a.ints(1), a.ints(2, a.ints(1)), a.ints(3, {0}), a.ints(4, {1}), a.flag(5, false)};
  const auto greatest = [](const std::vector<double>& v, int64_t, auto&) {
    return *std::max_element(v.begin(), v.end());
  };
  const auto where = [](const std::vector<double>& v, int64_t, const std::vector<double>& places) {
    return places[static_cast<size_t>(std::max_element(v.begin(), v.end()) - v.begin())];
  };
  Arrays out{pooled(a.tensor(0), dims, p, greatest)};
  if (with_indices) out.push_back(pooled(a.tensor(0), dims, p, where));
  return out;
}
template <size_t dims>
Arrays max_unpool(const Arguments& a) {
  const Array &x = a.tensor(0), &indices = a.tensor(1);
  const Ints kernel = a.ints(2), stride = a.ints(3, kernel), padding = a.ints(4, {0});
  Ints shape = first(x.shape, x.shape.size() - dims);
  for (size_t i = 0; i < dims; i++)
    shape.push_back(a.has(5) ? a.ints(5)[i]
                             : (x.shape[shape.size()] - 1) * of(stride, i) - 2 * of(padding, i) + of(kernel, i));
  Array y = make(shape, [](const Ints&) { return 0.0; });
  const auto plane = static_cast<size_t>(count(last(shape, dims)));
  const auto from = static_cast<size_t>(count(last(x.shape, dims)));
  for (size_t i = 0; i < x.data.size(); i++)
    y.data[i / from * plane + static_cast<size_t>(indices.data[i])] = x.data[i];
  return {y};
}
// Windows at random: each begins where the steps before it, of two sizes, have led.
template <size_t dims, bool with_indices>
Arrays fractional(const Arguments& a) {
  const Array &x = a.tensor(0), &samples = a.tensor(4);
  const Ints lead = first(x.shape, x.shape.size() - dims), plane = last(x.shape, dims);
  Ints out, kernel;
  for (size_t i = 0; i < dims; i++) out.push_back(of(a.ints(2), i)), kernel.push_back(of(a.ints(1), i));
  Array where = make(joined(lead, out), [](const Ints&) { return 0.0; });
  Array best = make(joined(lead, out), [&](const Ints& r) {
    Ints begin;
    for (size_t i = 0; i < dims; i++) {
      const Ints which{lead.size() == 2 ? r[0] : 0, r[lead.size() - 1], static_cast<int64_t>(dims == 2 ? 1 - i : i)};
      const int64_t k = r[lead.size() + i], furthest = plane[i] - kernel[i];
      const double step = out[i] > 1 ? static_cast<double>(furthest) / static_cast<double>(out[i] - 1) : 0, s = at(samples, which);
      begin.push_back(k == out[i] - 1 ? furthest : static_cast<int64_t>((static_cast<double>(k) + s) * step) - static_cast<int64_t>(s * step));
    }
    double greatest = -std::numeric_limits<double>::infinity();
    each_index(kernel, [&](const Ints& i) {
      Ints from = first(r, lead.size());
      for (size_t d = 0; d < dims; d++) from.push_back(begin[d] + i[d]);
      if (at(x, from) > greatest) {
        greatest = at(x, from);
        where.data[static_cast<size_t>(place(where.shape, r))] = static_cast<double>(place(plane, last(from, dims)));
      }
    });
    return greatest;
  });
  return with_indices ? Arrays{best, where} : Arrays{best};
}
enum class Share { mean, greatest, place };
template <size_t dims, Share share>
Array adaptive(const Arguments& a) {
  const Array& x = a.tensor(0);
  const Ints lead = first(x.shape, x.shape.size() - dims), plane = last(x.shape, dims);
  Ints out;
  for (size_t i = 0; i < dims; i++) out.push_back(of(a.ints(1), i) < 0 ? plane[i] : of(a.ints(1), i));
  return make(joined(lead, out), [&](const Ints& r) {
    Ints starts, sizes;
    for (size_t i = 0; i < dims; i++) {
      const int64_t k = r[lead.size() + i], start = k * plane[i] / out[i], end = ((k + 1) * plane[i] + out[i] - 1) / out[i];
      starts.push_back(start), sizes.push_back(end - start);
    }
    std::vector<double> v, where;
    each_index(sizes, [&](const Ints& i) {
      Ints at_input = first(r, lead.size());
      for (size_t d = 0; d < dims; d++) at_input.push_back(starts[d] + i[d]);
      v.push_back(at(x, at_input));
      where.push_back(static_cast<double>(place(plane, last(at_input, dims))));
    });
    if (share == Share::mean) return total(v) / static_cast<double>(v.size());
    const auto best = std::max_element(v.begin(), v.end());
    return share == Share::greatest ? *best : where[static_cast<size_t>(best - v.begin())];
  });
}
template <size_t dims>
Arrays adaptive_avg_pool(const Arguments& a) {
  return {adaptive<dims, Share::mean>(a)};
}
template <size_t dims>
Arrays adaptive_max_pool(const Arguments& a) {
  return {adaptive<dims, Share::greatest>(a)};
}
template <size_t dims>
Arrays adaptive_with_indices(const Arguments& a) {
  return {adaptive<dims, Share::greatest>(a), adaptive<dims, Share::place>(a)};
}

// ---- convolutions ----

Array batched(const Array& x, size_t dims) { return x.shape.size() == dims + 2 ? x : Array{joined({1}, x.shape), x.data, DType::none}; }
Arrays unbatched(const Arguments& a, Array y, size_t dims) {
  if (a.tensor(0).shape.size() == dims + 1) y.shape.erase(y.shape.begin());
  return {y};
}
double bias(const Arguments& a, int64_t channel) { return a.has(2) ? a.tensor(2).data[static_cast<size_t>(channel)] : 0; }

template <size_t dims>
Arrays convolution(const Arguments& a) {
  const Array x = batched(a.tensor(0), dims), &w = a.tensor(1);
  const std::string how = a.text(4, "");
  Pool p{last(w.shape, dims), a.ints(3, {1}), how.empty() ? a.ints(4, {0}) : Ints(dims, 0), a.ints(5, {1}), false};
  const int64_t groups = a.integer(6, 1), outs = w.shape[0] / groups;
  Ints shape{x.shape[0], w.shape[0]};
  for (size_t i = 0; i < dims; i++) {
    shape.push_back(how == "same" ? x.shape[2 + i] : results(x.shape[2 + i], p, i));
    if (how == "same") p.padding[i] = of(p.dilation, i) * (w.shape[2 + i] - 1) / 2;
  }
  return unbatched(a, make(shape, [&](const Ints& r) {
    double sum = bias(a, r[1]);
    each_index(last(w.shape, dims + 1), [&](const Ints& tap) {
      Ints at_x{r[0], r[1] / outs * w.shape[1] + tap[0]};
      for (size_t i = 0; i < dims; i++) {
        at_x.push_back(r[2 + i] * of(p.stride, i) + tap[1 + i] * of(p.dilation, i) - of(p.padding, i));
        if (at_x.back() < 0 || at_x.back() >= x.shape[2 + i]) return;
      }
      sum += at(x, at_x) * at(w, joined({r[1]}, tap));
    });
    return sum;
  }), dims);
}
template <size_t dims>
Arrays transposed(const Arguments& a) {
  const Array x = batched(a.tensor(0), dims), &w = a.tensor(1);
  const Ints stride = a.ints(3, {1}), padding = a.ints(4, {0}), extra = a.ints(5, {0}), dilation = a.ints(7, {1});
  const int64_t groups = a.integer(6, 1), ins = w.shape[0] / groups;
  Ints shape{x.shape[0], w.shape[1] * groups};
  for (size_t i = 0; i < dims; i++)
    shape.push_back((x.shape[2 + i] - 1) * of(stride, i) - 2 * of(padding, i) + of(dilation, i) * (w.shape[2 + i] - 1) + of(extra, i) + 1);
  Array y = make(shape, [&](const Ints& r) { return bias(a, r[1]); });
  // Each input element sends the kernel to where it lies in the result.
  each_index(x.shape, [&](const Ints& from) {
    each_index(last(w.shape, dims + 1), [&](const Ints& tap) {
      Ints to{from[0], from[1] / ins * w.shape[1] + tap[0]};
      for (size_t i = 0; i < dims; i++) {
        to.push_back(from[2 + i] * of(stride, i) + tap[1 + i] * of(dilation, i) - of(padding, i));
        if (to.back() < 0 || to.back() >= shape[2 + i]) return;
      }
      y.data[place(y.shape, to)] += at(x, from) * at(w, joined({from[1]}, tap));
    });
  });
  return unbatched(a, y, dims);
}

// ---- windows as columns: kernel, dilation, padding, stride from parameter `p` on ----

struct Columns {
  Pool pool;
  Ints places;
};
Columns columns(const Arguments& a, size_t p, const Ints& plane) {
  Columns c{{a.ints(p), a.ints(p + 3, {1}), a.ints(p + 2, {0}), a.ints(p + 1, {1}), false}, {}};
  for (size_t i = 0; i < 2; i++) c.places.push_back(results(plane[i], c.pool, i));
  return c;
}
// Calls f(index of the column element, index of the pixel) for those inside of the image.
template <class F>
void each_tap(const Columns& c, const Ints& lead, const Ints& plane, F f) {
  const int64_t kh = of(c.pool.kernel, 0), kw = of(c.pool.kernel, 1);
  each_index(joined(lead, {kh, kw, c.places[0], c.places[1]}), [&](const Ints& i) {
    const size_t n = lead.size();
    const int64_t y = i[n + 2] * of(c.pool.stride, 0) + i[n] * of(c.pool.dilation, 0) - of(c.pool.padding, 0);
    const int64_t x = i[n + 3] * of(c.pool.stride, 1) + i[n + 1] * of(c.pool.dilation, 1) - of(c.pool.padding, 1);
    if (y < 0 || x < 0 || y >= plane[0] || x >= plane[1]) return;
    Ints column = first(i, n);
    column.back() = (column.back() * kh + i[n]) * kw + i[n + 1];
    column.push_back(i[n + 2] * c.places[1] + i[n + 3]);
    f(column, joined(first(i, n), {y, x}));
  });
}
Arrays im2col(const Arguments& a) {
  const Array& x = a.tensor(0);
  const Ints lead = first(x.shape, x.shape.size() - 2), plane = last(x.shape, 2);
  const Columns c = columns(a, 1, plane);
  Ints shape = lead;
  shape.back() *= of(c.pool.kernel, 0) * of(c.pool.kernel, 1);
  shape.push_back(c.places[0] * c.places[1]);
  Array y = make(shape, [](const Ints&) { return 0.0; });
  each_tap(c, lead, plane, [&](const Ints& column, const Ints& pixel) { y.data[place(y.shape, column)] = at(x, pixel); });
  return {y};
}
Arrays fold(const Arguments& a) {
  const Array& x = a.tensor(0);
  const Ints plane = a.ints(1);
  const Columns c = columns(a, 2, plane);
  Ints lead = first(x.shape, x.shape.size() - 1);
  lead.back() /= of(c.pool.kernel, 0) * of(c.pool.kernel, 1);
  Array y = make(joined(lead, plane), [](const Ints&) { return 0.0; });
  each_tap(c, lead, plane, [&](const Ints& column, const Ints& pixel) { y.data[place(y.shape, pixel)] += at(x, column); });
  return {y};
}

constexpr OracleRow kRows[] = {
    {"avg_pool1d", avg_pool<1>}, {"avg_pool2d", avg_pool<2>}, {"avg_pool3d", avg_pool<3>},
    {"lp_pool1d", lp_pool<1>}, {"lp_pool2d", lp_pool<2>}, {"lp_pool3d", lp_pool<3>},
    {"max_pool1d", max_pool<1>}, {"max_pool3d", max_pool<3>},
    {"max_pool1d_with_indices", max_pool<1, true>}, {"max_pool3d_with_indices", max_pool<3, true>},
    {"max_unpool1d", max_unpool<1>}, {"max_unpool2d", max_unpool<2>}, {"max_unpool3d", max_unpool<3>},
    {"adaptive_avg_pool1d", adaptive_avg_pool<1>}, {"adaptive_avg_pool2d", adaptive_avg_pool<2>},
    {"adaptive_avg_pool3d", adaptive_avg_pool<3>}, {"adaptive_max_pool1d", adaptive_max_pool<1>},
    {"adaptive_max_pool2d", adaptive_max_pool<2>}, {"adaptive_max_pool3d", adaptive_max_pool<3>},
    {"adaptive_max_pool1d_with_indices", adaptive_with_indices<1>},
    {"adaptive_max_pool2d_with_indices", adaptive_with_indices<2>},
    {"adaptive_max_pool3d_with_indices", adaptive_with_indices<3>},
    {"conv1d", convolution<1>}, {"conv2d", convolution<2>}, {"conv3d", convolution<3>},
    {"conv_transpose1d", transposed<1>}, {"conv_transpose2d", transposed<2>}, {"conv_transpose3d", transposed<3>},
    {"fractional_max_pool2d", fractional<2, false>}, {"fractional_max_pool3d", fractional<3, false>},
    {"fractional_max_pool2d_with_indices", fractional<2, true>},
    {"fractional_max_pool3d_with_indices", fractional<3, true>},
    {"im2col", im2col}, {"fold", fold},
};

}  // namespace

std::span<const OracleRow> pool_oracles() { return kRows; }

}  // namespace thunder::battery
