// One convolution on a CUDA device, or the gradient of one: its operands as they lie, and the plan that computes it.
#pragma once

#include "executors/cudnn/plan.h"
#include "ir/trace.h"
#include "tensor/buffer.h"

namespace thunder::cudnn {

// What a node says beside its operands. Requires: prims.conv2d, prims.conv2d_input_grad or prims.conv2d_weight_grad.
struct Window {
  explicit Window(const Node& node);

  Kind operation;
  std::array<int64_t, 2> stride, padding, dilation;
};

class Convolution {
 public:
  // For operands that lie so. `aligned`: all addresses are multiples of kAlignment. Throws what the library reports.
  Convolution(Session& session, const Window& window, std::span<const Buffer> inputs, const Buffer& output, bool aligned);

  static constexpr int64_t kAlignment = 16;
  size_t scratch_bytes() const { return kScratchAlign + workspace_bytes_ + packed_bytes_[0] + packed_bytes_[1]; }
  // Null, or an owned status.
  Status* run(std::span<const Buffer> inputs, const Buffer& output, void* scratch) const;

 private:
  static constexpr size_t kScratchAlign = 256;
  enum Role : uint8_t { filter, image, result };  // as a tensor of the forward convolution

  Session& session_;
  std::array<Role, 2> role_of_input_;
  Role role_of_output_;
  std::array<size_t, 2> packed_bytes_{};  // 0: read as it lies
  std::array<std::array<int64_t, 4>, 2> packed_strides_{};
  std::shared_ptr<const Plan> plan_;  // null: there is nothing to compute
  size_t workspace_bytes_ = 0;
};

}  // namespace thunder::cudnn
