// The loops over the lane axis: where vectors begin, how wide they are, and the remainder.
//
// Needs the kernel and its memory; the caller generates the body for each vector.
#pragma once

#include "loops/llvm/memory.h"

namespace thunder::codegen {

class LaneLoops {
 public:
  using Body = std::function<void(const Cursor&)>;
  // `overlapping`: whether rows are software-pipelined.
  LaneLoops(Kernel& kernel, Memory& memory, bool overlapping)
      : k_(kernel), b_(kernel.b), nest_(kernel.nest), memory_(memory), overlapping_(overlapping) {}

  // Before a pass with these stores: decides whether its vectors are aligned to cache lines, and of which buffer.
  void choose_lines(const std::vector<const loops::Output*>& stores);
  // The strip of the lane axis at a cursor.
  void emit(const Cursor& at, const Body& body);

 private:
  void emit_interval(const Cursor& at, llvm::Value* begin, llvm::Value* end, const Body& body);
  llvm::Value* lanes_before_line(const Cursor& at, llvm::Value* begin);
  llvm::Value* whole_vectors(const Cursor& at, llvm::Value* begin, llvm::Value* end);
  llvm::Value* emit_vectors(const Cursor& at, llvm::Value* begin, llvm::Value* end, const Body& body);
  void emit_masked(const Cursor& at, llvm::Value* begin, llvm::Value* end, const Body& body);
  void emit_rest(const Cursor& at, llvm::Value* begin, llvm::Value* end, const Body& body);
  bool from_the_end() const { return nest_.backwards && !nest_.lane_is_outer(); }
  llvm::Value* first_lane(const Cursor& at, llvm::Value* behind);
  template <class Holds>
  bool each_memory(const Cursor& at, const Holds& holds) const;
  bool has_masks(const Cursor& at) const;
  bool has_free_masks(const Cursor& at) const;

  struct Lines {
    uint32_t buffer, map;
    llvm::Value* more;  // added to the offset that the map gives; null: 0
  };

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  Memory& memory_;
  const bool overlapping_;
  std::optional<Lines> lines_of_;
};

}  // namespace thunder::codegen
