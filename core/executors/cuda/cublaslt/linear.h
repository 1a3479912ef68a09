// input @ weight.T + bias on a CUDA device: one product whose epilogue adds the bias before it rounds.
#pragma once

#include <optional>

#include "executors/cuda/cublaslt/product.h"

namespace thunder::cublaslt {

// The stride between rows after merging all leading dims; none if they cannot be merged.
std::optional<int64_t> merged_row_stride(const Buffer& b);

class Linear {
 public:
  // input [..., k], weight [n, k], bias [n] or absent, output [..., n]. `options`: but for the bias. Throws what the
  // library reports.
  Linear(const Session& session, std::span<const Buffer> inputs, const Buffer& output, ProductOptions options);

  size_t scratch_bytes() const { return packed_bytes_[0] + packed_bytes_[1] + product_->scratch_bytes(); }
  // Null, or an owned status.
  Status* run(std::span<const Buffer> inputs, const Buffer& output, void* scratch) const;

 private:
  // [m, k], [k, n] and [m, n] over the memory of the operands.
  struct Matrix {
    int64_t shape[2], strides[2];
    Buffer as_buffer(const Buffer& b, void* data) const;
  };

  const Session& session_;
  Matrix a_, b_, c_;
  Sizes packed_strides_;                  // of the dense copy of an input whose leading dims cannot be merged
  std::array<size_t, 2> packed_bytes_{};  // of the copies of the input and of the bias; 0: it is read in place
  bool strided_bias_ = false;
  std::optional<Product> product_;
};

}  // namespace thunder::cublaslt
