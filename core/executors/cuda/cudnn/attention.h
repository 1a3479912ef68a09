// Attention on a CUDA device and its gradients, by cuDNN's fused kernels: no matrix of scores is ever stored.
#pragma once

#include <optional>

#include "executors/cuda/cudnn/graph.h"
#include "program/kernel.h"

namespace thunder::cudnn {

// additive: of the query's dtype.
enum class Mask : uint8_t { none, boolean, additive };

// The sizes of a node scaled_dot_product_attention_forward or ..._backward.
struct AttentionSizes {
  DType dtype;  // bf16 or f16
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  bool causal;
  float scale;
  bool backward;
  Mask mask;
  std::array<int64_t, 4> mask_sizes;  // of its batch, heads, queries and keys: as large as these, or 1
  bool drops;                         // some probabilities: the others count kept_scale times
  float kept_scale;

  // None: the node is not one that cuDNN's kernels take (bf16 or f16, three or four dims, no mask of another dtype, no
  // broadcast batches, widths of up to 256 that are multiples of 8).
  static std::optional<AttentionSizes> of(const NodeView& view);
};

// Null: no engine computes it deterministically, whole or in parts. Throws what the library reports. `length_varies`:
// other lengths are to be expected, so that lengths after the first share plans where they can.
KernelPtr prepare_attention(Session& session, const AttentionSizes& sizes, bool length_varies);

}  // namespace thunder::cudnn
