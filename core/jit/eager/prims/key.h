// The cache key of an eager call: the op, its arguments and the types of its tensors.
#pragma once

#include <span>

#include "executors/executor.h"

namespace thunder {

// The key of one call, given as a node of values that have the types of its tensors. For devices other than the CPU it
// includes strides, since kernels are made for them.
class EagerKey {
 public:
  EagerKey(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in, std::span<const Buffer> out);
  static uint64_t hash(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in);
  bool matches(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in) const;

  const Store& store() const { return store_; }
  const Node& node() const { return *node_; }
  bool on_device() const { return on_device_; }  // some tensor is not on the CPU

 private:
  ValueId add(const Buffer& b);
  bool has_strides(std::span<const Buffer> in) const;

  Store store_;
  const Node* node_ = nullptr;
  bool on_device_ = false;
  std::vector<int64_t> strides_;  // of the inputs, if on_device_
};

}  // namespace thunder
