// Attention at lengths that have no plan of their own: computed in memory that is padded to lengths whose plan many
// share. cuDNN takes 0.06 to 0.8 s for each plan, and its kernel cache for dynamic shapes gives wrong results for this
// graph and no backward (9.19, by `attention lengths` of bench/cuda).
#pragma once

#include <vector>

#include "base/small_vector.h"
#include "executors/cuda/cudnn/attention_call.h"

namespace thunder::cudnn {

// The sizes whose plan these may use: lengths that are at most a quarter larger, from 256 on, and a mask where nothing
// else hides the padding. None: they need a plan of their own, or have such lengths already.
std::optional<AttentionSizes> padded_sizes(const AttentionSizes& sizes);
// Equal for nodes that differ in their lengths alone.
std::string family_of(const AttentionSizes& sizes);

class PaddedAttention {
 public:
  // `padded`: what padded_sizes gave for `sizes`.
  PaddedAttention(Session& session, const AttentionSizes& sizes, const AttentionSizes& padded,
                  std::span<const Buffer> inputs, std::span<const Buffer> outputs);
  PaddedAttention(const PaddedAttention&) = delete;

  // Must be called first. Throws Code::declined where no engine supports the node.
  void wait_for_plan(double& plan_ms);
  size_t scratch_bytes() const;
  Status* run(std::span<const Buffer> inputs, std::span<const Buffer> outputs, void* scratch,
              const AttentionKernels& kernels) const;

 private:
  struct Padded {
    Sizes shape, strides;
    size_t bytes, offset;
  };
  struct Buffers {
    SmallVector<Buffer, 8> inputs;
    SmallVector<Buffer, 3> outputs;
  };
  void add(Sizes shape, DType dtype);
  size_t n_inputs() const { return n_operands_ + has_mask_; }
  // The node's tensors as they lie in padded memory.
  Buffers padded_buffers(std::span<const Buffer> inputs, std::span<const Buffer> outputs, std::byte* memory) const;
  Status* mark_keys(void* takes_part) const;

  Session& session_;
  const bool backward_;
  const int64_t keys_;
  const size_t n_operands_;
  const bool has_mask_;
  nvidia::Function mark_keys_ = nullptr;
  std::vector<Padded> tensors_;  // operands, the mask if there is one, results
  size_t bytes_ = 0;             // of all
  std::optional<AttentionCall> call_;
};

}  // namespace thunder::cudnn
