// Rows of values that a later pass needs again: as long as a row, in the function's frame, so that they stay in the
// nearest cache.
#include <algorithm>

#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

void Code::make_room() {
  for (Row& row : rows_) row.rooms.assign(nest_.exprs.size(), nullptr);
  if (nest_.kept.empty()) return;
  Value* elements = b_.getInt64(lanes_);  // a last vector may reach over the end
  Value* length = b_.getInt64(1);
  for (uint32_t a = nest_.outer; a < nest_.outer + nest_.inner; a++) length = b_.CreateMul(length, extents_[a]);
  elements = b_.CreateAdd(elements, length);
  for (Row& row : rows_)
    for (ExprId id : nest_.kept) {
      auto* room = b_.CreateAlloca(memory_type(b_.getContext(), nest_.exprs[id].dtype), elements);
      room->setAlignment(llvm::Align(64));
      row.rooms[id] = room;
    }
}

// Only where the loops stand at a position of the row: what a pick looks at is somewhere else, and what is computed at some
// positions only is not there for all.
bool Code::is_kept(ExprId id) const { return !at_.picked && !apart_ && std::find(nest_.kept.begin(), nest_.kept.end(), id) != nest_.kept.end(); }

Value* Code::kept_address(ExprId id) {
  Value* at = b_.getInt64(0);
  for (uint32_t a = nest_.outer; a < nest_.outer + nest_.inner; a++) at = b_.CreateAdd(b_.CreateMul(at, extents_[a]), at_.index[a]);
  return b_.CreateGEP(memory_type(b_.getContext(), nest_.exprs[id].dtype), row_->rooms[id], at);
}

void Code::keep(ExprId id, Value* v) {
  const DType d = nest_.exprs[id].dtype;
  v = to_memory(b_, spread(v), d);
  b_.CreateAlignedStore(v, kept_address(id), llvm::Align(v->getType()->getScalarSizeInBits() / 8));
  kept_in_[id] = pass_;
}

Value* Code::load_kept(ExprId id) {
  const DType d = nest_.exprs[id].dtype;
  auto* type = llvm::FixedVectorType::get(memory_type(b_.getContext(), d), lanes_);
  return from_memory(b_, b_.CreateAlignedLoad(type, kept_address(id), llvm::Align(type->getScalarSizeInBits() / 8)), d);
}

}  // namespace thunder::codegen
