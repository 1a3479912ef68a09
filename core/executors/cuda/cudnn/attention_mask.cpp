#include "executors/cuda/cudnn/attention_mask.h"

#include <algorithm>

#include "executors/cuda/cudnn/scratch.h"

namespace thunder::cudnn {
namespace {

constexpr int64_t kRowStep = 8;  // elements: rows of a bias begin at multiples of 16 bytes

constexpr const char* kText = R"(
typedef unsigned short Half;
typedef long long i64;
struct Shape {
  i64 sizes[4], from[4], to[4];  // batch, heads, queries, keys; steps of the mask and of the bias
  i64 none;                      // the bits of minus infinity
};
template <class T, bool kBooleans>
__device__ inline void convert(const T* mask, Half* bias, const Shape& s) {
  const i64 elements = s.sizes[0] * s.sizes[1] * s.sizes[2] * s.sizes[3], step = (i64)gridDim.x * blockDim.x;
  for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < elements; at += step) {
    i64 rest = at, from = 0, to = 0;
    for (int d = 3; d >= 0; d--) {
      const i64 i = rest % s.sizes[d];
      rest /= s.sizes[d], from += i * s.from[d], to += i * s.to[d];
    }
    bias[to] = kBooleans ? (mask[from] ? (Half)0 : (Half)s.none) : (Half)mask[from];
  }
}
extern "C" __global__ void convert_booleans(const unsigned char* mask, Half* bias, const Shape s) {
  convert<unsigned char, true>(mask, bias, s);
}
extern "C" __global__ void convert_halves(const Half* mask, Half* bias, const Shape s) {
  convert<Half, false>(mask, bias, s);
}
// sizes and `to` are those of the statistics' rows and of the bias; sizes[3]: keys.
extern "C" __global__ void clear_rows(const Half* bias, float* statistics, Half* out, const Shape s, i64 width) {
  const i64 rows = s.sizes[0] * s.sizes[1] * s.sizes[2], step = (i64)gridDim.x * blockDim.x;
  for (i64 row = (i64)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += step) {
    const float statistic = statistics[row];
    if (statistic - statistic == 0.0f) continue;  // it is finite, so that some key took part
    const i64 query = row % s.sizes[2], head = row / s.sizes[2] % s.sizes[1], batch = row / s.sizes[2] / s.sizes[1];
    const Half* const of_row = bias + batch * s.to[0] + head * s.to[1] + query * s.to[2];
    bool none = true;
    for (i64 k = 0; k < s.sizes[3]; k++) none = none && of_row[k * s.to[3]] == (Half)s.none;
    if (!none) continue;
    statistics[row] = 0;
    for (i64 i = 0; i < width; i++) out[row * width + i] = 0;
  }
}
)";

// The kernels' parameter, by value.
struct Shape {
  Sizes4 sizes, from, to;
  int64_t none;
};

constexpr int64_t minus_infinity(DType half) { return half == DType::bf16 ? 0xff80 : 0xfc00; }

constexpr unsigned kThreads = 256;
nvidia::Geometry launch_geometry(int64_t elements) {
  return {static_cast<unsigned>(std::clamp<int64_t>((elements + kThreads - 1) / kThreads, 1, 4096)), kThreads};
}

int64_t count_elements(const Sizes4& s) { return s[0] * s[1] * s[2] * s[3]; }

// The sizes of a bias: batch and heads are 1 where the mask is the same for all of them.
Sizes4 sizes_of(const AttentionSizes& s, bool all_batches, bool all_heads) {
  return {all_batches ? 1 : s.batch, all_heads ? 1 : s.heads, s.queries, s.keys};
}

Layout with_aligned_rows(const Sizes4& sizes) {
  const int64_t row = (sizes[3] + kRowStep - 1) / kRowStep * kRowStep;
  return {sizes, {sizes[1] * sizes[2] * row, sizes[2] * row, row, 1}};
}

}  // namespace

void MaskKernels::begin_compiling(nvidia::CudaDevice& device) { device.begin_compiling(kText); }

MaskKernels::MaskKernels(nvidia::CudaDevice& device, const AttentionSizes& sizes)
    : convert_(device.function(kText, sizes.mask == Mask::boolean ? "convert_booleans" : "convert_halves")),
      clear_(device.function(kText, "clear_rows")) {}

AttentionSizes with_kept_as_mask(AttentionSizes s) {
  s.mask = Mask::additive, s.mask_sizes = {s.batch, s.heads, s.queries, s.keys};
  return s;
}

Layout AttentionMask::dense_layout(const AttentionSizes& s) {
  return with_aligned_rows(sizes_of(s, s.mask_sizes[0] == 1, s.mask_sizes[1] == 1));
}

AttentionMask::AttentionMask(const AttentionSizes& sizes, const Buffer& mask, bool pack) : s_(sizes) {
  const size_t missing = 4 - static_cast<size_t>(mask.rank);
  for (size_t d = 0; d < 4; d++) {
    const bool is_one = d < missing || mask.shape[d - missing] == 1;
    lies_.strides[d] = is_one ? 0 : mask.strides[d - missing];
  }
  lies_.sizes = sizes_of(s_, lies_.strides[0] == 0, lies_.strides[1] == 0);
  layout_ = with_aligned_rows(lies_.sizes);
  const bool readable = lies_.strides[3] == 1 && lies_.strides[2] > 0 &&
                        std::all_of(lies_.strides.begin(), lies_.strides.begin() + 3,
                                    [](int64_t stride) { return stride >= 0 && stride % kRowStep == 0; });
  if (s_.mask == Mask::additive && readable && !pack) {
    // The stride of a dim of size 1 does not matter, but the library wants strides that grow outwards.
    for (size_t d = 3; d-- > 0;)
      layout_.strides[d] = lies_.sizes[d] == 1 ? lies_.sizes[d + 1] * layout_.strides[d + 1] : lies_.strides[d];
  } else {
    bytes_ = aligned_up(static_cast<size_t>(layout_.strides[0] * layout_.sizes[0]) * size_of(s_.dtype));
  }
}

Status* AttentionMask::convert(nvidia::CudaDevice& device, const MaskKernels& kernels, const Buffer& mask,
                               void* bias) const {
  if (!bytes_) return nullptr;
  Shape shape{lies_.sizes, lies_.strides, layout_.strides, minus_infinity(s_.dtype)};
  void* from = mask.data;
  void* parameters[] = {&from, &bias, &shape};
  return device.launch(kernels.convert_, launch_geometry(count_elements(lies_.sizes)), parameters,
                       "the mask of an attention");
}

Status* AttentionMask::clear_rows(nvidia::CudaDevice& device, const MaskKernels& kernels, void* bias, void* statistics,
                                  void* out) const {
  Shape shape{{s_.batch, s_.heads, s_.queries, s_.keys}, {}, layout_.strides, minus_infinity(s_.dtype)};
  for (size_t d = 0; d < 2; d++)
    if (layout_.sizes[d] == 1) shape.to[d] = 0;
  int64_t width = s_.value_width;
  void* parameters[] = {&bias, &statistics, &out, &shape, &width};
  return device.launch(kernels.clear_, launch_geometry(s_.batch * s_.heads * s_.queries), parameters,
                       "the mask of an attention");
}

}  // namespace thunder::cudnn
