// How a region computes a value from what it reads anyway, rather than read that too: the gradient of a norm with an
// activation, which reads the norm's input, need not read the activation's result to know where it was zero.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ops/op.h"

namespace thunder {

// The line that computes each value, also within regions.
struct LinesByResult {
  std::unordered_map<ValueId, const Node*> makers;  // that may stand in a region, and views
  std::unordered_map<ValueId, size_t> made_at;  // of values that lines outside of regions make: the line's number
  std::unordered_map<ValueId, std::vector<const Node*>> views;  // outside of regions, by what they view
};

class Derivation {
 public:
  // Derives `wanted`, which the region at line `at` reads beside others of `inputs`. All must outlive this.
  Derivation(Store& store, const LinesByResult& all, size_t at, std::span<const ValueId> inputs, ValueId wanted)
      : store_(store), all_(all), at_(at), inputs_(inputs), wanted_(wanted) {}

  // Finds elementwise lines of at most so many instructions an element that compute the value from other inputs of the
  // region, from small values and from at most so many bytes of others. The value that then stands for it; nothing:
  // there are no such lines.
  std::optional<ValueId> derive(size_t most_instructions, int64_t most_bytes);

  // The lines for the region's body.
  const std::vector<const Node*>& lines() const { return lines_; }
  // New views of small values, which stand before the region.
  const std::vector<const Node*>& views() const { return views_; }

 private:
  std::optional<ValueId> derive_value(ValueId v);
  // A small value outside of regions.
  std::optional<ValueId> derive_small_value(ValueId v);
  std::optional<ValueId> find_or_add_view(const Node& n, ValueId of);
  std::optional<ValueId> derive_line(const Node& n);
  std::optional<ValueId> derive_view(const Node& n);
  const Node* clone_with_operands(const Node& n, std::span<const ValueId> operands);

  Store& store_;
  const LinesByResult& all_;
  const size_t at_;
  const std::span<const ValueId> inputs_;
  const ValueId wanted_;
  size_t instructions_left_ = 0;
  int64_t bytes_left_ = 0;
  std::unordered_map<ValueId, ValueId> found_;
  std::vector<const Node*> lines_, views_;
};

}  // namespace thunder
