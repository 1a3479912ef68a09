#include "executors/cuda/cublaslt/linear.h"

#include "tensor/transfer.h"

namespace thunder::cublaslt {
namespace {

constexpr int64_t kOne = 1;  // the step of a dense vector

size_t bytes_of(const Buffer& b) { return (static_cast<size_t>(b.elements()) * size_of(b.dtype) + 255) / 256 * 256; }

}  // namespace

std::optional<int64_t> merged_row_stride(const Buffer& b) {
  std::optional<int64_t> first;
  int64_t next = 0;
  for (int32_t d = b.rank - 1; d-- > 0;) {
    if (b.shape[d] == 1) continue;
    if (!first) first = b.strides[d];
    else if (b.strides[d] != next) return std::nullopt;
    next = b.strides[d] * b.shape[d];
  }
  return first.value_or(b.shape[b.rank - 1]);
}

Buffer Linear::Matrix::as_buffer(const Buffer& b, void* data) const {
  Buffer out = b;
  out.data = data, out.rank = 2, out.shape = shape, out.strides = strides;
  return out;
}

Linear::Linear(const Session& session, std::span<const Buffer> inputs, const Buffer& output, ProductOptions options)
    : session_(session) {
  const Buffer &x = inputs[0], &w = inputs[1];
  const int64_t k = x.shape[x.rank - 1], n = w.shape[0],
                m = k ? x.elements() / k : output.elements() / std::max<int64_t>(n, 1);
  const std::optional<int64_t> step = merged_row_stride(x);
  if (!step) packed_bytes_[0] = bytes_of(x), packed_strides_ = dense_strides({x.shape, static_cast<size_t>(x.rank)});
  const bool bias = inputs[2].present();
  if (bias)
    packed_bytes_[1] = bytes_of(inputs[2]), strided_bias_ = inputs[2].shape[0] != 1 && inputs[2].strides[0] != 1;
  a_ = {{m, k}, {step ? *step : k, step ? x.strides[x.rank - 1] : 1}};
  b_ = {{k, n}, {w.strides[1], w.strides[0]}};
  c_ = {{m, n}, {n, 1}};
  options.bias = bias;
  product_.emplace(session, a_.as_buffer(x, nullptr), b_.as_buffer(w, nullptr), c_.as_buffer(output, nullptr), options);
}

Status* Linear::run(std::span<const Buffer> inputs, const Buffer& output, void* scratch) const {
  auto* free = static_cast<std::byte*>(scratch);
  std::array<void*, 2> memory = {inputs[0].data, inputs[2].data};
  for (size_t i = 0; i < 2; i++) {
    if (!packed_bytes_[i]) continue;
    // The library does not document the alignment of a bias, so that it gets that of other operands.
    if (i == 1 && !strided_bias_ && reinterpret_cast<uintptr_t>(memory[1]) % Product::kAlignment == 0) continue;
    const Buffer& from = inputs[2 * i];
    Buffer dense = from;
    dense.data = memory[i] = free, dense.strides = i ? &kOne : packed_strides_.data();
    if (Status* failed = session_.device().enter()) return failed;
    if (Status* failed = copy_on_device(session_.device(), from, dense)) return failed;
    free += packed_bytes_[i];
  }
  return product_->run(a_.as_buffer(inputs[0], memory[0]), b_.as_buffer(inputs[1], inputs[1].data),
                       c_.as_buffer(output, output.data), memory[1], free);
}

}  // namespace thunder::cublaslt
