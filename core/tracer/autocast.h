// Which ops compute in the narrow type of mixed precision, and which in f32: PyTorch's lists of torch.autocast for
// GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace thunder {

enum class CastPolicy : uint8_t {
  none,                // in the types that it is given
  lower_precision_fp,  // in the type of the autocast: products and convolutions
  fp32,                // in f32: sums of many, exponentials, norms and losses
  promote,             // in the widest of its operands' types
};

struct CastRow {
  std::string_view op;
  CastPolicy policy;
};
// By the op's name, sorted.
std::span<const CastRow> cast_rows();
CastPolicy cast_policy(std::string_view op);

}  // namespace thunder
