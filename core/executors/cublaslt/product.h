// One matrix product on a CUDA device: [..., m, k] x [..., k, n] of equal leading dims, whatever the strides.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "device/cuda/device.h"
#include "executors/cublaslt/library.h"
#include "ir/type.h"
#include "tensor/buffer.h"

namespace thunder::cublaslt {

// A device's handle of the library. Throws backend where it cannot be made.
class Session {
 public:
  using Library = cublaslt::Library;
  Session(const Library& library, nvidia::CudaDevice& device);
  ~Session();
  Session(const Session&) = delete;

  const Library& library() const { return library_; }
  nvidia::CudaDevice& device() const { return device_; }
  Handle handle() const { return handle_; }
  // Null for success.
  Status* status(int result, const char* what) const;

 private:
  const Library& library_;
  nvidia::CudaDevice& device_;
  Handle handle_ = nullptr;
};

struct ProductOptions {
  bool tf32 = false;  // operands of f32 may be rounded to TF32
  bool bias = false;  // [n], added to each row of the result before that is rounded; requires no leading dims
};

class Product {
 public:
  // For operands and a result of these layouts. Throws what the library reports.
  Product(const Session& session, const Buffer& a, const Buffer& b, const Buffer& c, const ProductOptions& options);
  ~Product();
  Product(const Product&) = delete;

  static constexpr uint32_t kAlignment = 16;
  size_t scratch_bytes() const { return kWorkspaceAlign + workspace_bytes_ + packed_bytes_[0] + packed_bytes_[1]; }
  // `bias`: dense memory, if the options say so. Null, or an owned status.
  Status* run(const Buffer& a, const Buffer& b, const Buffer& c, const void* bias, void* scratch) const;

 private:
  // An operand as the library describes it: matrices (of the last two dims) with dense rows or dense columns.
  struct Matrix {
    bool transposed = false;
    int64_t leading = 0;       // elements between rows, or columns
    int64_t batch_stride = 0;  // elements between matrices along the last of the leading dims
    bool packed = false;       // neither is dense: it is copied first
    Sizes shape, strides;      // of the operand, or of its copy
  };
  Matrix describe(const Buffer& b) const;
  static Matrix dense(const Buffer& b);
  // Merges all leading dims into one batch where each operand then has one stride between its matrices, and where
  // copying operands for that costs less than a launch for each index of the other leading dims.
  void join_batches(const Buffer& a, const Buffer& b, const Buffer& c);
  void make_layout(Layout& layout, const Matrix& m, uint64_t rows, uint64_t columns);
  Algorithm choose_algorithm(uint32_t alignment);
  void destroy();
  Status* multiply(const std::byte* a, const std::byte* b, std::byte* c, const void* bias, void* workspace) const;
  Buffer packed(const Buffer& b, const Matrix& m, void* at, Status*& failed) const;

  const Session& session_;
  int64_t m_, n_, k_, batch_;  // batch: of the last of the leading dims
  int type_, compute_, scale_;
  size_t item_;
  Sizes outer_;  // the other leading dims, with a launch for each of their indices
  Matrix of_a_, of_b_, of_c_;
  std::array<size_t, 2> packed_bytes_{};
  bool bias_;
  mutable std::mutex bias_mutex_;  // the descriptor holds the bias that the next product reads
  Desc desc_ = nullptr;
  Layout a_ = nullptr, b_ = nullptr, c_ = nullptr;
  // For matrices that begin at multiples of kAlignment bytes, as nearly all do, and for those that do not.
  static constexpr size_t kWorkspaceAlign = 256;
  Algorithm aligned_{}, unaligned_{};
  size_t workspace_bytes_ = 0;
};

// Whether cuBLASLt multiplies such elements as prims.matmul does.
bool multiplies(DType dtype);

}  // namespace thunder::cublaslt
