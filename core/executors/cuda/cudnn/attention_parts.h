// Attention that is too large for the library goes in parts: some batches at a time, or some heads of one batch.
#pragma once

#include <vector>

#include "executors/cuda/cudnn/attention_call.h"

namespace thunder::cudnn {

struct AttentionPart {
  AttentionSizes sizes;
  int64_t batch = 0, key_head = 0;  // the first
};

// The parts in which the library computes the node, as few as possible; empty: it cannot.
std::vector<AttentionPart> split_into_parts(Session& session, const AttentionSizes& whole);
// Notes that no engine supports these sizes, which the next split_into_parts() then takes into account. Any thread.
void refuse_part(Session& session, const AttentionSizes& part);

// The section of a node's buffers that a part works on.
class PartBuffers {
 public:
  PartBuffers(const AttentionSizes& whole, const AttentionPart& part, std::span<const Buffer> inputs,
              std::span<const Buffer> outputs);
  PartBuffers(const PartBuffers&) = delete;
  std::span<const Buffer> inputs() const { return {buffers_.data(), n_inputs_}; }
  std::span<const Buffer> outputs() const { return std::span(buffers_).subspan(n_inputs_, n_outputs_); }

 private:
  static constexpr size_t kMost = 12;
  std::array<Buffer, kMost> buffers_;
  std::array<Sizes4, kMost> shapes_;
  size_t n_inputs_, n_outputs_;
};

}  // namespace thunder::cudnn
