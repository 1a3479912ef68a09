// Oracles of windows that move over images: convolution and pooling.
#include <limits>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

struct Pair {
  int64_t y, x;
};
Pair pair(const Arguments& a, size_t i, Pair otherwise) {
  const Ints v = a.ints(i);
  return v.empty() ? otherwise : v.size() == 1 ? Pair{v[0], v[0]} : Pair{v[0], v[1]};
}

// ---- convolution ----

struct Convolution {
  Ints image, weight;
  Pair stride, padding, dilation;
  int64_t groups;

  // Stride, padding, dilation and groups are arguments from `first` on.
  Convolution(const Arguments& a, size_t first, Ints x, Ints w)
      : image(std::move(x)), weight(std::move(w)), stride(pair(a, first, {1, 1})), padding(pair(a, first + 1, {0, 0})),
        dilation(pair(a, first + 2, {1, 1})), groups(a.integer(first + 3, 1)) {}

  Ints output() const {
    return {image[0], weight[0], (image[2] + 2 * padding.y - dilation.y * (weight[2] - 1) - 1) / stride.y + 1,
            (image[3] + 2 * padding.x - dilation.x * (weight[3] - 1) - 1) / stride.x + 1};
  }
  // Calls f(place in the output, in the image, in the weight) for each product that a convolution sums.
  template <class F>
  void each_product(F f) const {
    const int64_t per_group = weight[0] / groups;
    each_index(output(), [&](const Ints& o) {
      each_index({weight[1], weight[2], weight[3]}, [&](const Ints& k) {
        const int64_t y = o[2] * stride.y - padding.y + k[1] * dilation.y, x = o[3] * stride.x - padding.x + k[2] * dilation.x;
        if (y < 0 || x < 0 || y >= image[2] || x >= image[3]) return;
        f(o, Ints{o[0], o[1] / per_group * weight[1] + k[0], y, x}, Ints{o[1], k[0], k[1], k[2]});
      });
    });
  }
};
Array zeros(const Ints& shape) {
  return make(shape, [](const Ints&) { return 0.0; });
}
Array convolved(const Array& x, const Array& w, const Convolution& c) {
  Array out = zeros(c.output());
  c.each_product([&](const Ints& o, const Ints& i, const Ints& k) { at(out, o) += at(x, i) * at(w, k); });
  return out;
}
Arrays prims_conv2d(const Arguments& a) {
  const Array &x = a.tensor(0), &w = a.tensor(1);
  return {convolved(x, w, Convolution(a, 2, x.shape, w.shape))};
}
Arrays conv2d_input_grad(const Arguments& a) {
  Array out = zeros(a.ints(2));
  Convolution(a, 3, out.shape, a.tensor(1).shape).each_product([&](const Ints& o, const Ints& i, const Ints& k) {
    at(out, i) += at(a.tensor(0), o) * at(a.tensor(1), k);
  });
  return {out};
}
Arrays conv2d_weight_grad(const Arguments& a) {
  Array out = zeros(a.ints(2));
  Convolution(a, 3, a.tensor(1).shape, out.shape).each_product([&](const Ints& o, const Ints& i, const Ints& k) {
    at(out, k) += at(a.tensor(0), o) * at(a.tensor(1), i);
  });
  return {out};
}

// ---- pooling ----

int64_t pooled_size(int64_t n, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil) {
  const int64_t room = n + 2 * padding - dilation * (kernel - 1) - 1;
  int64_t size = (room + (ceil ? stride - 1 : 0)) / stride + 1;
  // A window must start inside the image or its left padding.
  if (ceil && (size - 1) * stride >= n + padding) size--;
  return size;
}
Arrays max_pool2d_with_indices(const Arguments& a) {
  Array x = a.tensor(0);
  const bool single = x.shape.size() == 3;
  if (single) x.shape.insert(x.shape.begin(), 1);
  const Pair kernel = pair(a, 1, {1, 1}), stride = pair(a, 2, kernel), padding = pair(a, 3, {0, 0}), dilation = pair(a, 4, {1, 1});
  const bool ceil = a.flag(5, false);
  const Ints shape = {x.shape[0], x.shape[1], pooled_size(x.shape[2], kernel.y, stride.y, padding.y, dilation.y, ceil),
                      pooled_size(x.shape[3], kernel.x, stride.x, padding.x, dilation.x, ceil)};
  Array best{shape, {}, DType::none}, where{shape, {}, DType::none};
  each_index(shape, [&](const Ints& o) {
    double top = -std::numeric_limits<double>::infinity(), place = -1;
    each_index({kernel.y, kernel.x}, [&](const Ints& k) {
      const int64_t y = o[2] * stride.y - padding.y + k[0] * dilation.y, z = o[3] * stride.x - padding.x + k[1] * dilation.x;
      if (y < 0 || z < 0 || y >= x.shape[2] || z >= x.shape[3]) return;
      const double v = at(x, {o[0], o[1], y, z});
      if (place < 0 || v > top || v != v) top = v, place = static_cast<double>(y * x.shape[3] + z);
    });
    best.data.push_back(top), where.data.push_back(place);
  });
  if (single) best.shape.erase(best.shape.begin()), where.shape.erase(where.shape.begin());
  return {best, where};
}
Arrays max_pool2d(const Arguments& a) { return {max_pool2d_with_indices(a)[0]}; }
Arrays max_pool2d_backward(const Arguments& a) {
  const Array &grad = a.tensor(0), &indices = a.tensor(1);
  Array out = zeros(a.ints(2));
  each_index(grad.shape, [&](const Ints& i) {
    const auto pixel = static_cast<int64_t>(at(indices, i));
    at(out, {i[0], i[1], pixel / out.shape[3], pixel % out.shape[3]}) += at(grad, i);
  });
  return {out};
}

constexpr OracleRow kRows[] = {
    {"prims.conv2d", prims_conv2d},
    {"prims.conv2d_input_grad", conv2d_input_grad},
    {"prims.conv2d_weight_grad", conv2d_weight_grad},
    {"max_pool2d", max_pool2d},
    {"max_pool2d_with_indices", max_pool2d_with_indices},
    {"prims.max_pool2d", max_pool2d_with_indices},
    {"prims.max_pool2d_backward", max_pool2d_backward},
};

}  // namespace

std::span<const OracleRow> window_oracles() { return kRows; }

}  // namespace thunder::battery
