// Loads and stores at a cursor: vectors along the lane axis, masked at the end, gathers and scatters for strided
// memory.
//
// Needs the kernel and a cursor alone: it computes no expressions.
#pragma once

#include "loops/llvm/cursor.h"
#include "loops/llvm/kernel.h"

namespace thunder::codegen {

class Memory {
 public:
  explicit Memory(Kernel& kernel) : k_(kernel), b_(kernel.b), nest_(kernel.nest) {}

  // A position in a buffer, in elements from the first one.
  struct Offset {
    llvm::Value* scalar;
    llvm::Value* vector = nullptr;  // added to it by lane
    bool contiguous = false;  // lanes are consecutive
  };
  // `more`: added to the offset that the map gives; null: 0.
  Offset offset(const Cursor& at, uint32_t map, llvm::Value* more = nullptr);
  llvm::Value* address(uint32_t buffer, const Offset& at);
  // Added to the offsets that maps give: where an interval begins.
  llvm::Value* more_of(const loops::Expr& e) const {
    return k_.args.offsets[static_cast<size_t>(&e - nest_.exprs.data())];
  }
  llvm::Value* more_of(const loops::Output& s) const {
    return k_.args.store_offsets[static_cast<size_t>(&s - nest_.stores.data())];
  }

  llvm::Value* load(const Cursor& at, const loops::Expr& e);
  llvm::Value* iota(const Cursor& at, const loops::Expr& e);
  void store(const Cursor& at, const loops::Output& s, llvm::Value* value);

  bool is_prefetched(const Cursor& at, ExprId id) const;
  void prefetch(llvm::Value* address);

  // Around all loops of a kernel with non-temporal stores.
  void begin_nontemporal();
  void end_nontemporal();

 private:
  void prefetch_next(const Cursor& at, ExprId id, llvm::Value* from, size_t bytes);
  void store_vector(const loops::Output& s, llvm::Value* value, llvm::Value* to, llvm::Align align);

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  // By buffer: for a non-temporal output, whether it shares no memory with an input.
  std::vector<llvm::Value*> may_bypass_;
};

}  // namespace thunder::codegen
