// Sums over ranks whose bits depend on no library: by a binary tree in the order of ranks, made of collectives that
// only move elements.
#pragma once

#include <memory>
#include <optional>

#include "scale/engine.h"

namespace thunder::scale {

// One all_reduce or reduce_scatter of floats on the CPU. With as many ranks as a power of two, each of which adds up a
// power of two of its own numbers by such a tree, the bits are those of one rank with all the numbers.
class TreeSum {
 public:
  // Whether that call is made in this way.
  static bool makes(const GroupCall& call, const Group& group);
  // How many bytes the result needs, of which those behind the call's own have no meaning.
  static size_t result_bytes(const GroupCall& call, int64_t ranks);

  // Requires: makes(call, ...), and call.out has result_bytes().
  TreeSum(const GroupCall& call, int64_t ranks);
  // Brings what is added up here. Few numbers are added up on every rank.
  GroupCall first() const;
  // Adds it up. Then the sum is there, or this brings the parts of it that the other ranks have.
  std::optional<GroupCall> second();

 private:
  size_t bytes(int64_t elements) const { return static_cast<size_t>(elements) * size_of(call_.dtype); }

  const GroupCall call_;
  const int64_t ranks_;
  bool on_all_ = false;  // rather than a part on each
  int64_t part_ = 0;     // elements that are added up here
  std::shared_ptr<std::byte[]> padded_, brought_, own_;
};

}  // namespace thunder::scale
