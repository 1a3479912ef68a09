// The sizes of one attention node, and the positions of its heads in memory.
#pragma once

#include <optional>

#include "executors/cpu/product_kernels.h"
#include "executors/executor.h"

namespace thunder {

// Operands are in the order of the node's arguments: grad is one in the backward only.
struct AttentionShape {
  int64_t heads = 1;  // over all batches: the number of query matrices
  int64_t group = 1;  // consecutive query heads that share one key head
  int64_t queries = 0, keys = 0;
  int64_t width = 0, value_width = 0;  // of a query or key, and of a value
  bool causal = false, masked = false;
  float scale = 1;

  // `first`: the index of the argument query; `options`: that of the mask, which causal, scale and grouped follow. None
  // if batches broadcast, something is empty, or a dtype is neither f32 nor a 16-bit real (a mask may be boolean).
  static std::optional<AttentionShape> of(const NodeView& view, size_t first, size_t options);
  // Of a line whose operands have the dtypes of one that was taken.
  static std::optional<AttentionShape> of(const Node& line, std::span<const Buffer> operands, size_t first,
                                          size_t options);

  int64_t key_heads() const { return heads / group; }
  // How many keys are visible to at least one query before `end`.
  int64_t visible_keys(int64_t end) const { return causal && end < keys ? end : keys; }
};

// The matrix with this index among those of the last two axes.
Matrix matrix_of(const Buffer& b, int64_t index);
// The submatrix of m that begins at a row and a column.
inline Matrix submatrix(const Matrix& m, int64_t row, int64_t column) {
  return {m.data + row * m.row + column * m.column, m.row, m.column};
}
inline Matrix transposed(const Matrix& m) { return {m.data, m.column, m.row}; }

// The mask of one head; strides are 0 where it is broadcast.
struct Mask {
  const Buffer* buffer = nullptr;
  int64_t offset = 0, row = 0, column = 0;

  // `head` is a head of `query`, of which there may be more than of the mask.
  Mask(const Buffer& mask, const Buffer& query, int64_t head);
  // to[i, j], with rows `distance` apart: the mask's term for the score of query first + i and key key + j.
  void copy_additive(int64_t first, int64_t key, int64_t rows, int64_t keys, float* to, int64_t distance) const;
};

}  // namespace thunder
