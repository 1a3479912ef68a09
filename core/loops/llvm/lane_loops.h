// Emits the loops over the lane axis: peeling for alignment, whole vectors, and the masked remainder.
//
// Needs the kernel and its memory; the caller generates the body for each vector.
#pragma once

#include "loops/llvm/memory.h"

namespace thunder::codegen {

class LaneLoops {
 public:
  using Body = std::function<void(const Cursor&)>;
  // `software_pipelined`: whether rows are software-pipelined.
  LaneLoops(Kernel& kernel, Memory& memory, bool software_pipelined)
      : k_(kernel), b_(kernel.b), nest_(kernel.nest), memory_(memory), software_pipelined_(software_pipelined) {}

  // Decides to which buffer's cache lines the vectors of a pass with these stores are aligned, if to any.
  void choose_aligned_buffer(const std::vector<const loops::Output*>& stores);
  // Emits the loops over the strip of the lane axis at a cursor.
  void emit(const Cursor& at, const Body& body);

 private:
  void emit_interval(const Cursor& at, llvm::Value* begin, llvm::Value* end, const Body& body);
  llvm::Value* lanes_before_alignment(const Cursor& at, llvm::Value* begin);
  llvm::Value* end_of_whole_vectors(const Cursor& at, llvm::Value* begin, llvm::Value* end);
  llvm::Value* emit_vectors(const Cursor& at, llvm::Value* begin, llvm::Value* end, const Body& body);
  void emit_masked(const Cursor& at, llvm::Value* begin, llvm::Value* end, const Body& body);
  void emit_remainder(const Cursor& at, llvm::Value* begin, llvm::Value* end, const Body& body);
  bool is_reversed() const { return nest_.backwards && !nest_.lane_is_outer(); }
  llvm::Value* first_lane(const Cursor& at, llvm::Value* position);
  template <class Holds>
  bool holds_for_all_memory_types(const Cursor& at, const Holds& holds) const;
  bool has_masks(const Cursor& at) const;
  bool has_free_masks(const Cursor& at) const;

  struct AlignedBuffer {
    uint32_t buffer, map;
    llvm::Value* base;  // as in Memory::offset
  };

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  Memory& memory_;
  const bool software_pipelined_;
  std::optional<AlignedBuffer> aligned_;
};

}  // namespace thunder::codegen
