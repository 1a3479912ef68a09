// The prims of max_pool2d: the largest pixel of each window and where it was, and the gradient that goes back there.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/thread_pool.h"
#include "ir/dim_reads.h"
#include "ops/batch.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/pair.h"
#include "ops/samples.h"

namespace thunder {
namespace {

struct PlaneWindow {
  std::array<int64_t, 2> size, stride, padding, dilation;
};
// kernel_size, stride, padding and dilation follow the input.
PlaneWindow read_window(std::span<const Arg> args) {
  return {pair_of(args[1]), pair_of(args[2]), pair_of(args[3]), pair_of(args[4])};
}

// ---- prims.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode) ----

void max_pool2d_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  c.require(t.rank() == 4, "input must be [batch, channels, height, width], got ", name(t));
  c.require(t.dtype != DType::boolean, "booleans have no order; ", c.types());
  require_pair(c, 1, 1), require_pair(c, 2, 1), require_pair(c, 3, 0), require_pair(c, 4, 1);
  const PlaneWindow w = read_window(c.args);
  for (size_t i = 0; i < 2; i++) {
    const Dim in = t.shape[2 + i];
    c.require(w.padding[i] <= w.size[i] / 2, "padding must be at most half of kernel_size, got ", w.padding[i], " and ",
              w.size[i]);
    c.require(w.padding[i] == 0 || is_at_most(w.dilation[i], in), "dilation ", w.dilation[i],
              " leaves windows without a pixel; input is ", name(t));
    const int64_t reach = (w.size[i] - 1) * w.dilation[i] + 1, up = c.flag(5) ? w.stride[i] - 1 : 0;
    Dim n = (in + (2 * w.padding[i] - reach + up)) / w.stride[i] + 1;
    // With ceil_mode, a window that would begin in the right padding is left out.
    if (c.flag(5) && is_at_most(in + w.padding[i], (n - 1) * w.stride[i])) n = n - 1;
    c.require(is_at_most(1, in) && is_at_most(1, n), "the window reaches over ", reach,
              " pixels, the padded input has ", name(in + 2 * w.padding[i]), "; input is ", name(t));
    t.shape[2 + i] = n;
  }
  out.push(t);
  t.dtype = DType::i64;
  out.push(t);
}

// Planes are shared among threads: body(image, channel), a few pixels alone not being worth another thread.
template <class F>
Status* each_plane(const KernelArgs& k, const Buffer& planes, const F& body) {
  constexpr int64_t kFew = 1 << 14;
  const int64_t channels = planes.shape[1], pixels = std::max<int64_t>(1, planes.shape[2] * planes.shape[3]);
  const auto one = [&](int64_t plane) { return body(plane / channels, plane % channels); };
  const auto some = [](int64_t begin, int64_t end, void* arg) -> Status* {
    for (int64_t i = begin; i < end; i++)
      if (Status* failed = (*static_cast<const decltype(one)*>(arg))(i)) return failed;
    return nullptr;
  };
  if (!k.threads) return some(0, planes.shape[0] * channels, const_cast<void*>(static_cast<const void*>(&one)));
  return k.threads->parallel_for(planes.shape[0] * channels, 1 + kFew / pixels, some,
                                 const_cast<void*>(static_cast<const void*>(&one)));
}

// The windows that have a pixel of the image at one of their places along an axis: the first, and the end.
struct Reach {
  int64_t begin, end;
};
Reach windows_inside(const PlaneWindow& w, size_t axis, int64_t place, int64_t pixels, int64_t windows) {
  const int64_t first = place * w.dilation[axis] - w.padding[axis], stride = w.stride[axis];
  const int64_t begin = std::min(first < 0 ? (-first + stride - 1) / stride : 0, windows);
  return {begin, std::clamp((pixels - first + stride - 1) / stride, begin, windows)};
}

// A plane of the image, and the windows of one row over it, place by place: each waits for no other. The first of the
// largest is chosen, and the last NaN beats all. Numbers are chosen as bits, without a branch that nobody could
// foretell.
template <class T>
class BestOfRow {
 public:
  BestOfRow(const Buffer& in, const PlaneWindow& w, int64_t windows)
      : in_(in), w_(w), best_(static_cast<size_t>(windows)), at_(best_.size()) {
    for (int64_t j = 0; j < w.size[1]; j++) reach_.push_back(windows_inside(w, 1, j, in.shape[3], windows));
  }

  void find_best_of_row(const T* plane, int64_t row) {
    std::fill(at_.begin(), at_.end(), -1);
    for (int64_t i = 0; i < w_.size[0]; i++) {
      const int64_t y = row * w_.stride[0] - w_.padding[0] + i * w_.dilation[0];
      if (y >= 0 && y < in_.shape[2])
        for (int64_t j = 0; j < w_.size[1]; j++) update_best(plane + y * in_.strides[2], y, j);
    }
  }
  T value(int64_t window) const { return std::bit_cast<T>(best_[static_cast<size_t>(window)]); }
  int64_t index(int64_t window) const { return at_[static_cast<size_t>(window)]; }

 private:
  using Bits = std::conditional_t<
      sizeof(T) == 8, uint64_t,
      std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;

  void update_best(const T* row, int64_t y, int64_t j) {
    const auto [begin, end] = reach_[static_cast<size_t>(j)];
    const int64_t first = j * w_.dilation[1] - w_.padding[1], stride = w_.stride[1], step = in_.strides[3],
                  before = y * in_.shape[3];
    for (int64_t window = begin; window < end; window++) {
      const int64_t x = first + window * stride;
      const T v = row[x * step];
      Bits& best = best_[static_cast<size_t>(window)];
      int64_t& at = at_[static_cast<size_t>(window)];
      bool better = (at < 0) | (static_cast<Compute<T>>(v) > static_cast<Compute<T>>(std::bit_cast<T>(best)));
      if constexpr (std::is_floating_point_v<Compute<T>>)
        better |= static_cast<Compute<T>>(v) != static_cast<Compute<T>>(v);
      best = static_cast<Bits>(best ^ ((best ^ std::bit_cast<Bits>(v)) & -static_cast<Bits>(better)));
      at ^= (at ^ (before + x)) & -static_cast<int64_t>(better);
    }
  }

  const Buffer& in_;
  const PlaneWindow& w_;
  std::vector<Bits> best_;
  std::vector<int64_t> at_;
  std::vector<Reach> reach_;  // by the window's columns
};

int64_t element_offset(const Buffer& b, int64_t n, int64_t c, int64_t y, int64_t x) {
  return n * b.strides[0] + c * b.strides[1] + y * b.strides[2] + x * b.strides[3];
}

Status* max_pool2d_kernel(const KernelArgs& k) {
  const Buffer &in = k.in[0], &values = k.out[0], &indices = k.out[1];
  const PlaneWindow w = read_window(k.args);
  return by_dtype(in.dtype, [&](auto t) -> Status* {
    using T = decltype(t);
    return each_plane(k, values, [&](int64_t n, int64_t c) -> Status* {
      BestOfRow<T> best(in, w, values.shape[3]);
      for (int64_t y = 0; y < values.shape[2]; y++) {
        best.find_best_of_row(in.as<T>() + element_offset(in, n, c, 0, 0), y);
        for (int64_t x = 0; x < values.shape[3]; x++) {
          values.as<T>()[element_offset(values, n, c, y, x)] = best.value(x);
          indices.as<int64_t>()[element_offset(indices, n, c, y, x)] = best.index(x);
        }
      }
      return nullptr;
    });
  });
}

void vjp(Grad& g) {
  g.add(0, g.builder.call(Prim::max_pool2d_backward, {computed(g.cotangent()), g.result(1), g.type(0).shape}));
}

// ---- prims.max_pool2d_backward(grad, indices, input_size) ----

void backward_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  c.require(t.rank() == 4 && c.dims(2).size() == 4, "grad and input_size must have four dims; ", c.types());
  c.require(c.type(1).shape == t.shape && c.type(1).dtype == DType::i64, "indices must be i64 and have grad's shape; ",
            c.types());
  c.require(is_real(t.dtype), "grad must be real; ", c.types());
  c.require(t.shape[0] == c.dims(2)[0] && t.shape[1] == c.dims(2)[1],
            "grad and input_size must agree on batch and channels, got ", name(t.shape), " and ", name(c.dims(2)));
  t.shape = Shape(c.dims(2));
  out.push(t);
}
Status* backward_kernel(const KernelArgs& k) {
  const Buffer &grad = k.in[0], &indices = k.in[1], &out = k.out[0];
  return by_real(out.dtype, [&](auto t) -> Status* {
    using T = decltype(t);
    const int64_t columns = out.shape[3], pixels = out.shape[2] * columns, step = out.strides[3];
    const bool dense = out.strides[2] == columns * step;  // a division less for each pixel
    return each_plane(k, out, [&](int64_t n, int64_t c) -> Status* {
      T* plane = out.as<T>() + element_offset(out, n, c, 0, 0);
      for (int64_t y = 0; y < out.shape[2]; y++)
        for (int64_t x = 0; x < columns; x++) plane[y * out.strides[2] + x * step] = T(0);
      for (int64_t y = 0; y < grad.shape[2]; y++)
        for (int64_t x = 0; x < grad.shape[3]; x++) {
          const int64_t p = indices.as<int64_t>()[element_offset(indices, n, c, y, x)];
          if (p < 0 || p >= pixels)
            return refuse(cat("prims.max_pool2d_backward: index ", p, " is out of range for ", pixels, " pixels"));
          T& to = plane[dense ? p * step : p / columns * out.strides[2] + p % columns * step];
          to = static_cast<T>(static_cast<Compute<T>>(to) +
                              static_cast<Compute<T>>(grad.as<T>()[element_offset(grad, n, c, y, x)]));
        }
      return nullptr;
    });
  });
}
// The gradient of the backward: each element of dy went to one pixel, whose cotangent it gets.
void backward_vjp(Grad& g) {
  Var d = g.cotangent(), at = g.var(1);
  Var flat = reshape_to(d, {{d.size(0), d.size(1), d.size(2) * d.size(3)}});
  Var where_to = reshape_to(at, {{at.size(0), at.size(1), at.size(2) * at.size(3)}});
  g.add(0, reshape_to(g.builder.call(Prim::gather, {flat, 2, where_to}), at.shape()));
}

using Pair = std::vector<int64_t>;
void prim_samples(Samples& s) {
  s.add({TensorSpec{{2, 3, 6, 5}}, Pair{3, 2}, Pair{2, 1}, Pair{1, 0}, Pair{1, 2}, true});
  s.refuse({TensorSpec{{3, 6, 5}}, 2, 2, 0, 1, false},
           "input must be [batch, channels, height, width], got f32[3, 6, 5]");
}
void backward_samples(Samples& s) {
  s.add({TensorSpec{{2, 3, 2, 2}}, TensorSpec{{2, 3, 2, 2}, DType::i64, 0, 15}, Pair{2, 3, 4, 4}});
  s.refuse({TensorSpec{{2, 3, 2, 2}}, TensorSpec{{2, 3, 2, 2}, DType::i64, 16, 20}, Pair{2, 3, 4, 4}},
           "out of range for 16 pixels");
  s.refuse({TensorSpec{{2, 3, 2, 2}}, TensorSpec{{2, 3, 2, 2}}, Pair{2, 3, 4, 4}}, "indices must be i64");
}

// Examples of a batch are more images.
Results batch_pool(Batch& b) {
  Results out = b.invoke_same_op({b.merged(0), b.args[1], b.args[2], b.args[3], b.args[4], b.args[5]});
  for (size_t i = 0; i < 2; i++) out[i] = b.parted(b.builder.var(out[i]), i).id;
  return out;
}
Results batch_pool_backward(Batch& b) {
  Shape size(b.dims(2));
  size[0] = size[0] * b.size();
  return b.parted(b.builder.var(b.invoke_same_op({b.merged(0), b.merged(1), size})[0]), 0);
}

constexpr OpRow kRows[] = {
    primitive("prims.max_pool2d(tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
              "bool ceil_mode) -> (tensor, tensor)",
              "The largest pixel of each window, and its index in the flattened plane.", max_pool2d_meta,
              max_pool2d_kernel, vjp, 0, {.batch = batch_pool, .samples = prim_samples}),
    primitive("prims.max_pool2d_backward(tensor grad, tensor indices, int[] input_size) -> tensor",
              "Zeros to which grad is added at the indices, in order.", backward_meta, backward_kernel, backward_vjp,
              kChecksData | kLinear, {.batch = batch_pool_backward, .samples = backward_samples}),
};

}  // namespace

extern const OpRows max_pool2d_prims_ops = kRows;

}  // namespace thunder
