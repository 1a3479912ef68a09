// max_pool2d with a thread for each window. Its gradient has a warp for each plane, which takes 32 windows at a time:
// windows overlap, and what is added to one pixel must be added in a fixed order.
#include "base/text.h"
#include "executors/cuda/kernel_rules.h"
#include "ir/prim.h"
#include "ops/pair.h"

namespace thunder::cuda_kernels {
namespace {

// The kernel's text declares the same struct. Image size, result size and window, for each axis.
struct Window {
  int32_t in[2], out[2], size[2], stride[2], padding[2], dilation[2];
};

constexpr char kPool[] = R"(
struct Window { int in[2], out[2], size[2], stride[2], padding[2], dilation[2]; };
extern "C" __global__ void kernel(T* values, i64* indices, const T* in, const Window w, i64 planes) {
  const u32 windows = w.out[0] * w.out[1];
  const i64 count = planes * windows;
  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < count; n += (i64)gridDim.x * blockDim.x) {
    const i64 plane = count >> 32 ? n / windows : (u32)n / windows;  // divisions of 64 bits are slow
    const u32 window = (u32)(n - plane * windows);
    const int row = window / (u32)w.out[1], column = (int)window - row * w.out[1];
    const int top = row * w.stride[0] - w.padding[0], side = column * w.stride[1] - w.padding[1];
    const T* const image = in + plane * w.in[0] * w.in[1];
    C best = (C)0;
    int at = -1;
    for (int i = 0; i < w.size[0]; i++) {
      const int y = top + i * w.dilation[0];
      if ((u32)y >= (u32)w.in[0]) continue;
      for (int j = 0; j < w.size[1]; j++) {
        const int x = side + j * w.dilation[1];
        if ((u32)x >= (u32)w.in[1]) continue;
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

// Whether all places of a padded plane are numbers of 32 bits.
bool takes_pool(const NodeView& view) {
  const Shape& in = view.store.type(view.node.args[0].v).shape;
  const auto padding = pair_of(view.node.args[3]);
  constexpr int64_t kMost = int64_t{1} << 30;
  const int64_t rows = in[2].value() + 2 * padding[0], columns = in[3].value() + 2 * padding[1];
  return rows < kMost && columns < kMost && rows * columns < kMost;
}

Status* run_pool(const CompiledNode& kernel, const Launch& l) {
  const Buffer &in = l.inputs[0], &out = l.outputs[0];
  const std::span<const Arg> args = kernel.node.args;
  Window w;
  const auto size = pair_of(args[1]), stride = pair_of(args[2]), padding = pair_of(args[3]),
             dilation = pair_of(args[4]);
  const auto narrow = [](int64_t n) { return static_cast<int32_t>(n); };
  for (size_t i = 0; i < 2; i++)
    w.in[i] = narrow(in.shape[2 + i]), w.out[i] = narrow(out.shape[2 + i]), w.size[i] = narrow(size[i]),
    w.stride[i] = narrow(stride[i]), w.padding[i] = narrow(padding[i]), w.dilation[i] = narrow(dilation[i]);
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

std::vector<std::string> describe_pixel_count(const NodeView& view) {
  const std::span<const Dim> size = view.node.args[2].dim_list();
  return {cat(size[2].value() * size[3].value(), " pixels")};
}

constexpr Rule kRules[] = {
    {name(Prim::max_pool2d), takes_pool, kPool, first_input_dtype, nullptr, run_pool},
    {name(Prim::max_pool2d_backward), nullptr, kPoolGrad, first_input_dtype, describe_pixel_count, run_pool_grad},
};

}  // namespace

extern const Rules pools_rules = kRules;

}  // namespace thunder::cuda_kernels
