// What makes two calls the same program: the inputs' metadata, packed as words that are compared as bytes.
#pragma once

#include "tracer/values.h"

namespace thunder {

// The inputs of one call, however they were given: a tree of leaves, or tensors by position.
struct Inputs {
  const Values* values = nullptr;
  Tensor* const* tensors = nullptr;
  size_t count = 0;
  Tensor* tensor(size_t leaf) const { return values ? (*values)[leaf].tensor.get() : tensors[leaf]; }
};

// Equal for inputs that one key matches, whatever the values of integers and texts are.
uint64_t hash_of(const Inputs& in);

class Key {
 public:
  Key() = default;
  // `integers`: leaves whose value does not matter, in order.
  explicit Key(const Inputs& in, std::span<const uint32_t> integers = {});
  // Whether a key of these inputs would be equal; makes none. NULL among the tensors is like nothing.
  bool matches(const Inputs& in) const;

  // A difference of these inputs that the program could not run with, even though the caller promised that they fit:
  // another number of leaves, or a tensor of another dtype, rank, device, layout or number of bytes. "": none.
  std::string describe_change(const Inputs& in, std::span<const std::string> names) const;

  // The first leaf and field that differ, as text: "input '1': shape is [8, 4], was [4, 4]".
  std::string difference(const Key& cached, std::span<const std::string> names) const;

 private:
  std::string describe(size_t at, std::string_view field) const;
  static constexpr size_t kNotFlat = ~size_t{0};

  std::vector<uint64_t> words_;
  size_t leaves_ = 0;       // where the leaves begin, after the structure
  size_t flat_ = kNotFlat;  // how many tensors by position have this structure
};

}  // namespace thunder
