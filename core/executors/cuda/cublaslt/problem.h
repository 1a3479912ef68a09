// A product as cuBLASLt describes it: a descriptor and layouts, and the algorithms that compute it.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "executors/cuda/cublaslt/session.h"

namespace thunder::cublaslt {

// A batch of row-major products c = a b of [m, k] and [k, n]. Strides in elements.
struct ProblemShape {
  struct Operand {
    bool transposed = false;
    int64_t leading = 0;       // between rows, or columns if it is transposed
    int64_t batch_stride = 0;  // between matrices
  };
  int type, compute, scale;  // DataType, ComputeType, DataType
  int64_t m, n, k, batch;
  bool bias;  // [n], added to each row of the result before that is rounded
  Operand a, b, c;
};

// The shape whose algorithm shapes of its class take: sizes and strides are rounded up to 3 significant bits, by which
// a product's time changes little, and keep their alignment, up to 8 elements.
ProblemShape representative(const ProblemShape& shape);
// Different for different shapes.
std::string describe(const ProblemShape& shape);

class Problem {
 public:
  // Requires: no size is 0. Throws what the library reports.
  Problem(const Session& session, const ProblemShape& shape);
  ~Problem();
  Problem(const Problem&) = delete;

  const ProblemShape& shape() const { return shape_; }
  // Algorithms that heuristics propose, at most so many, the best first, for addresses that are multiples of
  // `alignment` bytes, and a workspace of so many bytes. Throws backend where there is none.
  static constexpr size_t kMostWorkspace = size_t{32} << 20;
  std::vector<Choice> propose_choices(uint32_t alignment, int most, size_t workspace_bytes = kMostWorkspace) const;
  // Whether the library computes this problem by an algorithm, wherever that comes from; then its workspace is what
  // the library says now.
  bool check_choice(Choice& choice) const;
  // The operands that the library reads and writes span so many bytes: a, b, c, bias.
  std::array<size_t, 4> operand_bytes() const;

  // `bias`: null without one. Null, or an owned status.
  Status* run(const void* a, const void* b, void* c, const void* bias, void* workspace, size_t workspace_bytes,
              const Algorithm& algorithm) const;

 private:
  void create_descriptors();
  void destroy_descriptors();
  void create_layout(Layout& layout, const ProblemShape::Operand& operand, int64_t rows, int64_t columns);
  size_t element_bytes() const { return shape_.type == kF64 ? 8 : shape_.type == kF32 ? 4 : 2; }

  const Session& session_;
  const ProblemShape shape_;
  mutable std::mutex bias_mutex_;  // the descriptor holds the bias that the next run reads
  Desc desc_ = nullptr;
  Layout a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

}  // namespace thunder::cublaslt
