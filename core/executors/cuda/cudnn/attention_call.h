// Attention for operands of given layouts: which of them are copied first, and the plan.
#pragma once

#include <memory>
#include <optional>

#include "executors/cuda/cudnn/attention.h"
#include "executors/cuda/cudnn/attention_graph.h"
#include "executors/cuda/cudnn/attention_mask.h"

namespace thunder::cudnn {

// The gradient keeps one matrix of scores in bf16: as large as that of eight batches of 16 heads and 4096 tokens.
constexpr PlanOptions kAttentionOptions{
    .tensor_cores = true, .down_converts = true, .most_workspace = int64_t{4} << 30};

// Equal for what has one plan.
std::string key_of(const AttentionSizes& s, const AttentionLayouts& layouts);
// The place of the mask among a node's operands; operands before it are read as they are.
size_t count_operands(const AttentionSizes& s);
// The first operand that the library itself reads.
size_t count_library_inputs(const AttentionSizes& s);

// The kernels of our own that a node needs besides its plans.
struct AttentionKernels {
  nvidia::Function log_sum_exp = nullptr;  // backward
  nvidia::Function divide = nullptr;  // backward with dropout
  std::optional<MaskKernels> mask, kept;

  static void begin_compiling(nvidia::CudaDevice& device, const AttentionSizes& s);
  // Throws.
  void load_functions(nvidia::CudaDevice& device, const AttentionSizes& s);
};

class AttentionCall {
 public:
  // `pack`: all operands are copied first.
  AttentionCall(Session& session, const AttentionSizes& sizes, std::span<const Buffer> inputs,
                std::span<const Buffer> outputs, bool pack);

  // Must be called first. Throws Code::declined where no engine supports the node.
  void wait_for_plan(double& plan_ms);
  // Whether that would return at once.
  bool has_plan() const { return session_.plans().is_made(*pending_); }
  size_t scratch_bytes() const;
  Status* run(std::span<const Buffer> inputs, std::span<const Buffer> outputs, void* scratch,
              const AttentionKernels& kernels) const;

 private:
  static constexpr size_t kMostOperands = 7;
  std::span<const size_t> roles() const;
  Status* run_plan(const std::array<void*, kAllTensors>& memory, void* workspace) const;
  Status* pack_operands(std::span<const Buffer> inputs, std::byte*& free,
                        std::array<void*, kMostOperands>& operand) const;
  size_t row_bytes() const;
  // The operand that is copied in any case, and divided by kept_scale; kMostOperands: none.
  size_t dropout_scaled_operand() const;
  Status* launch(nvidia::Function function, int64_t threads, void** parameters) const;
  Status* divide(void* packed, int64_t count, nvidia::Function function) const;
  Status* add_logarithms(void* largest, void* total, void* to, nvidia::Function function) const;

  Session& session_;
  const AttentionSizes s_;
  int64_t rows_ = 0;
  std::array<size_t, kMostOperands> packed_bytes_{};  // 0: read as it lies
  std::optional<AttentionMask> mask_, kept_;
  std::shared_ptr<Plans::Pending> pending_;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace thunder::cudnn
