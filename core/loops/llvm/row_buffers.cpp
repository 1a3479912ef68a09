#include "loops/llvm/row_buffers.h"

#include <algorithm>

namespace thunder::codegen {

using llvm::Value;

void RowBuffers::allocate(std::vector<Row>& rows) {
  for (Row& row : rows) row.kept.assign(nest_.exprs.size(), nullptr);
  if (nest_.kept.empty()) return;
  Value* elements = b_.getInt64(k_.lanes);  // the last vector may write past the row
  Value* length = b_.getInt64(1);
  for (uint32_t a = nest_.outer; a < nest_.outer + nest_.inner; a++) length = b_.CreateMul(length, k_.args.extents[a]);
  elements = b_.CreateAdd(elements, length);
  for (Row& row : rows)
    for (ExprId id : nest_.kept) {
      auto* place = b_.CreateAlloca(memory_type(b_.getContext(), nest_.exprs[id].dtype), elements);
      place->setAlignment(llvm::Align(64));
      row.kept[id] = place;
    }
}

bool RowBuffers::is_kept(const Cursor& at, ExprId id) const {
  return !at.gathered && !at.conditional && std::find(nest_.kept.begin(), nest_.kept.end(), id) != nest_.kept.end();
}

Value* RowBuffers::address(const Cursor& at, ExprId id) {
  Value* place = b_.getInt64(0);
  for (uint32_t a = nest_.outer; a < nest_.outer + nest_.inner; a++)
    place = b_.CreateAdd(b_.CreateMul(place, k_.args.extents[a]), at.index[a]);
  return b_.CreateGEP(memory_type(b_.getContext(), nest_.exprs[id].dtype), at.row->kept[id], place);
}

void RowBuffers::store(const Cursor& at, ExprId id, Value* v) {
  const DType d = nest_.exprs[id].dtype;
  v = to_memory(b_, k_.broadcast(v, at.lanes), d);
  b_.CreateAlignedStore(v, address(at, id), llvm::Align(v->getType()->getScalarSizeInBits() / 8));
  filled_in_[id] = at.pass();
}

Value* RowBuffers::load(const Cursor& at, ExprId id) {
  const DType d = nest_.exprs[id].dtype;
  auto* type = k_.vector_of(memory_type(b_.getContext(), d), at.lanes);
  return from_memory(b_, b_.CreateAlignedLoad(type, address(at, id), llvm::Align(type->getScalarSizeInBits() / 8)), d);
}

}  // namespace thunder::codegen
