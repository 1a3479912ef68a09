// One matrix product on a CUDA device: [..., m, k] x [..., k, n] of equal leading dims, whatever the strides.
#pragma once

#include <array>
#include <optional>

#include "executors/cuda/cublaslt/problem.h"
#include "ir/type.h"
#include "tensor/buffer.h"

namespace thunder::cublaslt {

struct ProductOptions {
  bool tf32 = false;   // operands of f32 may be rounded to TF32
  bool timed = false;  // by the fastest of several algorithms, which are timed
  bool of_class = false;  // by an algorithm for a class of sizes
  bool bias = false;   // [n], added to each row of the result before that is rounded; requires no leading dims
};

class Product {
 public:
  // The product of operands and a result of these layouts. Throws the library's errors.
  Product(const Session& session, const Buffer& a, const Buffer& b, const Buffer& c, const ProductOptions& options);

  static constexpr uint32_t kAlignment = 16;
  size_t scratch_bytes() const { return kWorkspaceAlign + workspace_bytes_ + packed_bytes_[0] + packed_bytes_[1]; }
  // `bias`: dense memory, if the options say so. Null, or an owned status.
  Status* run(const Buffer& a, const Buffer& b, const Buffer& c, const void* bias, void* scratch) const;

 private:
  // An operand as the library describes it: matrices (of the last two dims) with dense rows or dense columns.
  struct Matrix : ProblemShape::Operand {  // batch_stride: along the last of the leading dims
    bool packed = false;                   // neither is dense: it is copied first
    Sizes shape, strides;                  // of the operand, or of its copy
  };
  Matrix describe(const Buffer& b) const;
  static Matrix dense(const Buffer& b);
  // Merges all leading dims into one batch where each operand then has one stride between its matrices, and where
  // copying operands for that costs less than a launch for each index of the other leading dims.
  void join_batches(const Buffer& a, const Buffer& b, const Buffer& c);
  Status* multiply(const std::byte* a, const std::byte* b, std::byte* c, const void* bias, void* workspace) const;
  Buffer pack_if_needed(const Buffer& b, const Matrix& m, void* at, Status*& failed) const;

  const Session& session_;
  int64_t m_, n_, k_, batch_;  // batch: of the last of the leading dims
  size_t item_;
  Sizes outer_;  // the other leading dims, with a launch for each of their indices
  Matrix of_a_, of_b_, of_c_;
  std::array<size_t, 2> packed_bytes_{};
  std::optional<Problem> problem_;  // none: there is nothing to multiply
  static constexpr size_t kWorkspaceAlign = 256;
  Algorithm aligned_{};  // for matrices that begin at multiples of kAlignment bytes, as nearly all do
  size_t workspace_bytes_ = 0;
};

// Whether cuBLASLt multiplies such elements as prims.matmul does.
bool supports_dtype(DType dtype);

}  // namespace thunder::cublaslt
