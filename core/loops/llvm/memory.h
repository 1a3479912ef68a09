// Emits loads and stores at a cursor: of vectors along the lane axis, with masks in the remainder, and with gathers and
// scatters for strided memory.
//
// Needs the kernel and a cursor; it computes no expressions.
#pragma once

#include "loops/llvm/cursor.h"
#include "loops/llvm/kernel.h"

namespace thunder::codegen {

class Memory {
 public:
  explicit Memory(Kernel& kernel) : k_(kernel), b_(kernel.b), nest_(kernel.nest) {}

  // An offset in a buffer, in elements.
  struct Offset {
    llvm::Value* scalar;
    llvm::Value* vector = nullptr;  // added to it by lane
    bool contiguous = false;  // lanes are consecutive
  };
  // `base`: added to the offset that the map gives; null: 0.
  Offset offset(const Cursor& at, uint32_t map, llvm::Value* base = nullptr);
  llvm::Value* address(uint32_t buffer, const Offset& at);
  // The constant part of the offset of a load or a store, as a run-time parameter; null: 0.
  llvm::Value* base_offset(const loops::Expr& e) const {
    return k_.args.offsets[static_cast<size_t>(&e - nest_.exprs.data())];
  }
  llvm::Value* base_offset(const loops::Output& s) const {
    return k_.args.store_offsets[static_cast<size_t>(&s - nest_.stores.data())];
  }

  llvm::Value* load(const Cursor& at, const loops::Expr& e);
  llvm::Value* iota(const Cursor& at, const loops::Expr& e);
  void store(const Cursor& at, const loops::Output& s, llvm::Value* value);

  bool is_prefetched(const Cursor& at, ExprId id) const;
  void prefetch(llvm::Value* address);

  // Called before and after all loops of a kernel.
  void begin_nontemporal();
  void end_nontemporal();

 private:
  void prefetch_next(const Cursor& at, ExprId id, llvm::Value* from, size_t bytes);
  void store_vector(const loops::Output& s, llvm::Value* value, llvm::Value* to, llvm::Align align);

  Kernel& k_;
  Builder& b_;
  const CpuNest& nest_;
  // By buffer: for a non-temporal output, whether it shares no memory with an input.
  std::vector<llvm::Value*> may_store_nontemporally_;
};

}  // namespace thunder::codegen
