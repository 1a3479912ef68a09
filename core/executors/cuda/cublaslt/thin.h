// Products of few rows, which take the time in which the other operand is read: a kernel of the library's own.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "device/cuda/device.h"
#include "tensor/buffer.h"

namespace thunder::cublaslt {

// The operands and the result of x b + bias. `bias` may be null.
struct ThinOperands {
  const Buffer *x, *b, *out, *bias;
};

// x b + bias, where x has few rows and b is a matrix whose columns are dense: a layer's weight, transposed. Sums are
// f32, in an order that depends on the sizes alone.
class ThinProduct {
 public:
  // None where it does not suit such operands, or cuBLASLt is faster.
  static std::optional<ThinProduct> find(nvidia::CudaDevice& device, const ThinOperands& operands);

  static constexpr size_t kMostJoined = 8;
  // The text of the kernel: of products with one text, one launch computes up to kMostJoined. "" once it is compiled.
  const std::string& text() const { return text_; }
  void finish_compiling();
  // Whether all that is read in vectors lies so.
  static bool is_aligned(const ThinOperands& operands);
  // One launch for products of one text, whose operands are given in their order; the kernel is the first one's, which
  // alone must be finished. Null, or an owned status.
  static Status* run(std::span<const ThinProduct> products, std::span<const ThinOperands> operands);

 private:
  // The kernel's text declares the same structs. Elements from a row to the next; columns, and terms of each sum.
  struct Problem {
    const void *x, *b, *bias;
    void* out;
    int64_t x_step, b_step, out_step;
    int32_t columns, terms, first_block, unused = 0;
  };
  struct Problems {
    std::array<Problem, kMostJoined> at;
    int32_t count;
  };
  ThinProduct(nvidia::CudaDevice& device, const Problem& sizes, DType dtype, int64_t rows);

  nvidia::CudaDevice* device_;
  Problem sizes_;
  std::string text_;
  nvidia::Function function_ = nullptr;
  int64_t blocks_;
};

}  // namespace thunder::cublaslt
