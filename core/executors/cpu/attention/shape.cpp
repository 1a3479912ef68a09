#include "executors/cpu/attention/shape.h"

#include <cmath>
#include <limits>

#include "executors/cpu/widened_kernel.h"
#include "ir/shape.h"

namespace thunder {
namespace {

// Whether the mask broadcasts to the scores.
bool broadcasts_to_scores(const Sizes& mask, const Sizes& query, int64_t keys) {
  if (mask.size() > query.size()) return false;
  for (size_t i = 1; i <= mask.size(); i++) {
    const int64_t size = i == 1 ? keys : query[query.size() - i];
    if (mask[mask.size() - i] != 1 && mask[mask.size() - i] != size) return false;
  }
  return true;
}

// `sizes`: of an argument.
template <class SizesOf>
std::optional<AttentionShape> shape_of_sizes(std::span<const Arg> args, size_t first, size_t options,
                                             const SizesOf& sizes) {
  const Arg& mask = args[options];
  const Sizes q = sizes(first), k = sizes(first + 1), v = sizes(first + 2);
  const size_t rank = q.size();
  if (k.size() != rank || v.size() != rank) return std::nullopt;
  AttentionShape g;
  for (size_t i = 0; i + 2 < rank; i++) {
    g.heads *= q[i];
    const bool grouped = args[options + 3].i != 0 && i + 3 == rank;
    if (k[i] != v[i] || (k[i] != q[i] && !grouped)) return std::nullopt;
    if (grouped && k[i]) g.group = q[i] / k[i];
  }
  g.queries = q[rank - 2], g.keys = k[rank - 2], g.width = q[rank - 1], g.value_width = v[rank - 1];
  if (!g.heads || !g.queries || !g.keys || !g.width || !g.value_width) return std::nullopt;
  if (mask.present() && !broadcasts_to_scores(sizes(options), q, g.keys)) return std::nullopt;
  g.masked = mask.present();
  g.causal = args[options + 1].i != 0;
  g.scale = static_cast<float>(args[options + 2].present() ? args[options + 2].f
                                                           : 1 / std::sqrt(static_cast<double>(g.width)));
  return g;
}

}  // namespace

std::optional<AttentionShape> AttentionShape::of(const NodeView& view, size_t first, size_t options) {
  const std::span<const Arg> args = view.node.args;
  const Arg &mask = args[options], &kept = args[options + 4];
  bool takes = !kept.present();
  for_each_value(args, [&](ValueId v) {
    const TensorType& t = view.store.type(v);
    const bool is_mask = mask.present() && v == mask.v;
    takes = takes && (is_cpu_tensor_of(t, DType::f32) || is_cpu_tensor_of(t, DType::bf16) ||
                      is_cpu_tensor_of(t, DType::f16) || (is_mask && is_cpu_tensor_of(t, DType::boolean)));
  });
  if (!takes) return std::nullopt;
  const auto sizes = [&](size_t arg) { return concrete(view.store.type(args[arg].v).shape); };
  return shape_of_sizes(args, first, options, sizes);
}

// Operands come before the options, so that they count as the arguments do.
std::optional<AttentionShape> AttentionShape::of(const Node& line, std::span<const Buffer> operands, size_t first,
                                                 size_t options) {
  const auto sizes = [&](size_t arg) {
    return Sizes(operands[arg].shape, operands[arg].shape + operands[arg].rank);
  };
  return shape_of_sizes(line.args, first, options, sizes);
}

Matrix matrix_of(const Buffer& b, int64_t index) {
  int64_t offset = 0;
  for (int32_t i = b.rank - 2; i-- > 0; index /= b.shape[i]) offset += index % b.shape[i] * b.strides[i];
  return {b.as<float>() + offset, b.strides[b.rank - 2], b.strides[b.rank - 1]};
}

Mask::Mask(const Buffer& mask, const Buffer& query, int64_t head) {
  if (!mask.present()) return;
  buffer = &mask;
  auto stride = [&](int32_t from_last) {
    const int32_t i = mask.rank - 1 - from_last;
    return i < 0 || mask.shape[i] == 1 ? 0 : mask.strides[i];
  };
  column = stride(0), row = stride(1);
  for (int32_t i = query.rank - 2; i-- > 0; head /= query.shape[i])
    offset += head % query.shape[i] * stride(query.rank - 1 - i);
}

void Mask::copy_additive(int64_t first, int64_t key, int64_t rows, int64_t keys, float* to, int64_t distance) const {
  const int64_t start = offset + first * row + key * column;
  for (int64_t i = 0; i < rows; i++, to += distance) {
    if (buffer->dtype == DType::boolean) {
      const bool* from = buffer->as<bool>() + start + i * row;
      for (int64_t j = 0; j < keys; j++) to[j] = from[j * column] ? 0.0f : -std::numeric_limits<float>::infinity();
    } else {
      const float* from = buffer->as<float>() + start + i * row;
      for (int64_t j = 0; j < keys; j++) to[j] = from[j * column];
    }
  }
}

}  // namespace thunder
