// max_pool2d with a thread for each window. Its gradient has a warp for each plane, which takes 32 windows at a time:
// windows overlap, and what is added to one pixel must be added in a fixed order.
#include "base/text.h"
#include "executors/cuda/kernel.h"
#include "ops/pair.h"

namespace thunder::cuda_kernels {
namespace {

// The text of the kernel declares the same struct. By axis: sizes of the image and of the result, and the window.
struct Window {
  int64_t in[2], out[2], size[2], stride[2], padding[2], dilation[2];
};

constexpr char kPool[] = R"(
struct Window { i64 in[2], out[2], size[2], stride[2], padding[2], dilation[2]; };
extern "C" __global__ void kernel(T* values, i64* indices, const T* in, const Window w, i64 planes) {
  const i64 windows = w.out[0] * w.out[1];
  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < planes * windows; n += (i64)gridDim.x * blockDim.x) {
    const i64 plane = n / windows, row = n % windows / w.out[1], column = n % w.out[1];
    const T* image = in + plane * w.in[0] * w.in[1];
    C best = (C)0;
    i64 at = -1;
    for (i64 i = 0; i < w.size[0]; i++) {
      const i64 y = row * w.stride[0] - w.padding[0] + i * w.dilation[0];
      if (y < 0 || y >= w.in[0]) continue;
      for (i64 j = 0; j < w.size[1]; j++) {
        const i64 x = column * w.stride[1] - w.padding[1] + j * w.dilation[1];
        if (x < 0 || x >= w.in[1]) continue;
        const C v = get(image[y * w.in[1] + x]);
        if (at < 0 || v > best || v != v) best = v, at = y * w.in[1] + x;
      }
    }
    values[n] = put(best), indices[n] = at;
  }
}
)";

// Of the lanes whose windows chose the same pixel, the first adds all their gradients.
constexpr char kPoolGrad[] = R"(
extern "C" __global__ void kernel(
    T* out, const T* grad, const i64* indices, i64 planes, i64 pixels, i64 windows, DeviceAssertion* assertion) {
  const int lane = threadIdx.x % 32;
  for (i64 plane = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32; plane < planes;
       plane += (i64)gridDim.x * blockDim.x / 32) {
    for (i64 first = plane * windows; first < (plane + 1) * windows; first += 32) {
      const bool mine = first + lane < (plane + 1) * windows;
      const i64 at = mine ? checked(indices[first + lane], pixels, 0, assertion) : -1;
      u32 same = __match_any_sync(0xffffffffu, (u64)at);
      if (mine && !(same & ((1u << lane) - 1))) {
        T& to = out[plane * pixels + at];
        T sum = to;
        for (; same; same &= same - 1) sum = put(get(sum) + get(grad[first + __ffs((int)same) - 1]));
        to = sum;
      }
      __syncwarp();
    }
  }
}
)";

Status* run_pool(const CompiledNode& kernel, const Launch& l) {
  const Buffer &in = l.inputs[0], &out = l.outputs[0];
  const std::span<const Arg> args = kernel.node.args;
  Window w;
  const auto size = pair_of(args[1]), stride = pair_of(args[2]), padding = pair_of(args[3]),
             dilation = pair_of(args[4]);
  for (size_t i = 0; i < 2; i++)
    w.in[i] = in.shape[2 + i], w.out[i] = out.shape[2 + i], w.size[i] = size[i], w.stride[i] = stride[i],
    w.padding[i] = padding[i], w.dilation[i] = dilation[i];
  void *values = out.data, *indices = l.outputs[1].data, *from = in.data;
  int64_t planes = in.shape[0] * in.shape[1];
  void* parameters[] = {&values, &indices, &from, &w, &planes};
  return kernel.launch(out.elements(), false, parameters);
}

Status* run_pool_grad(const CompiledNode& kernel, const Launch& l) {
  const Buffer &grad = l.inputs[0], &at = l.inputs[1], &out = l.outputs[0];
  const size_t bytes = static_cast<size_t>(out.elements()) * size_of(out.dtype);
  if (Status* failed = bytes ? kernel.device.fill_with_zeros(out.data, bytes) : nullptr) return failed;
  void *to = out.data, *from = grad.data, *indices = at.data;
  int64_t planes = out.shape[0] * out.shape[1], pixels = out.shape[2] * out.shape[3],
          windows = grad.shape[2] * grad.shape[3];
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  void* parameters[] = {&to, &from, &indices, &planes, &pixels, &windows, &assertion};
  return bytes ? kernel.launch(32 * planes, false, parameters) : nullptr;
}

std::vector<std::string> pixels_of(const NodeView& view) {
  const std::span<const Dim> size = view.node.args[2].dim_list();
  return {cat(size[2].value() * size[3].value(), " pixels")};
}

constexpr Rule kRules[] = {
    {"prims.max_pool2d", nullptr, kPool, first_input, nullptr, run_pool},
    {"prims.max_pool2d_backward", nullptr, kPoolGrad, first_input, pixels_of, run_pool_grad},
};

}  // namespace

std::span<const Rule> pool_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
