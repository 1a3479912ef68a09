// What makes two calls the same program: the inputs' metadata, packed as words that are compared as bytes.
#pragma once

#include <cstring>

#include "base/small_vector.h"
#include "tracer/values.h"

namespace thunder {

class Key {
 public:
  void clear() { words_.clear(); }
  void add(const Tensor& t);
  void add(const Leaf& leaf);
  void add_structure(std::string_view text);
  bool operator==(const Key& o) const {
    return words_.size() == o.words_.size() && !std::memcmp(words_.data(), o.words_.data(), words_.size() * sizeof(uint64_t));
  }

  // Which leaf and which field differ first, in words: "input 1: shape is [8, 4], was [4, 4]".
  std::string difference(const Key& cached, std::span<const std::string> names) const;

 private:
  std::string describe(size_t at, std::string_view field) const;
  SmallVector<uint64_t, 48> words_;
};

}  // namespace thunder
