// Rows that overlap. One loop over positions goes over as many rows as there are passes, each of them in another one: while one waits
// for its sums, or for memory, the others' powers and products are computed. A step of the outer loop takes each row to its next pass.
#include <algorithm>

#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;
using loops::Output;

// Of 16 registers the sums of all passes, and what all passes know of their rows, leave too few where columns are summed as well.
bool Code::has_registers_for_pipeline(const CpuNest& nest, const llvm::TargetTransformInfo& machine) {
  constexpr unsigned kMany = 32;
  const bool columns = std::any_of(nest.stores.begin(), nest.stores.end(), [](const Output& s) { return s.kind == loops::OutputKind::column; });
  return !columns || machine.getNumberOfRegisters(machine.getRegisterClassForType(true)) >= kMany;
}

void Code::emit_pipeline(Value* begin, Value* end) {
  const uint64_t last = nest_.passes - 1;
  for (size_t r = 0; r < rows_.size(); r++) {
    Row& row = rows_[r];
    row.pass = static_cast<uint32_t>(r);
    row.results.assign(nest_.exprs.size(), nullptr), row.room_places.assign(nest_.exprs.size(), nullptr);
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (loops::is_reduction(nest_.exprs[id].fn) && nest_.exprs[id].level <= r) row.results[id] = variable(register_type(b_.getContext(), nest_.exprs[id].dtype));
    for (ExprId id : nest_.kept) {
      row.room_places[id] = variable(b_.getPtrTy());
      b_.CreateStore(row.rooms[id], row.room_places[id]);
    }
  }
  loop(begin, b_.CreateAdd(end, b_.getInt64(last)), 1, [&](Value* step) {
    for (Row& row : rows_) {
      place(b_.CreateSub(step, b_.getInt64(row.pass)));
      row.index = at_.index;
      take_over(row);
    }
    kept_in_.assign(nest_.exprs.size(), UINT32_MAX);
    // At the beginning, and at the end, some passes have no row.
    Value* first_ended = b_.CreateICmpSGE(b_.CreateSub(step, b_.getInt64(last)), begin);
    branch(b_.CreateAnd(first_ended, b_.CreateICmpSLT(step, end)), [&] { walk(0, rows_.size()); }, [&] {
      kept_in_.assign(nest_.exprs.size(), UINT32_MAX);
      for (size_t r = 0; r < rows_.size(); r++) {
        Value* item = b_.CreateSub(step, b_.getInt64(r));
        branch(b_.CreateAnd(b_.CreateICmpSGE(item, begin), b_.CreateICmpSLT(item, end)), [&] { walk(r, 1); });
      }
    });
    hand_on();
  });
}

// What the row knows from its passes before.
void Code::take_over(Row& row) {
  begin_row(row);
  for (ExprId id = 0; id < nest_.exprs.size(); id++) {
    if (row.results[id]) row.known[id] = b_.CreateLoad(register_type(b_.getContext(), nest_.exprs[id].dtype), row.results[id]);
    if (row.room_places[id]) row.rooms[id] = b_.CreateLoad(b_.getPtrTy(), row.room_places[id]);
  }
}

// Some rows through their passes. What they find out is seen by the next step alone, and code elsewhere does not know of it.
void Code::walk(size_t first, size_t count) {
  std::vector<Memo> before;
  walked_ = std::span(rows_).subspan(first, count);
  for (const Row& row : walked_) before.push_back(row.known);
  emit_pass();
  each_row([&] {
    if (row_ == &rows_.back()) store_row();
    else
      for (const Sum& sum : row_->sums) b_.CreateStore(row_->known[sum.id], row_[1].results[sum.id]);
  });
  for (size_t i = 0; i < count; i++) {
    begin_row(walked_[i]);
    walked_[i].known = std::move(before[i]);
  }
}

// To the next passes: of sums what they were before this step, since those of this one are there. The room that the last pass had
// is the first one's next.
void Code::hand_on() {
  for (size_t r = rows_.size(); r-- > 0;) {
    const Row& from = rows_[r];
    Row& to = rows_[(r + 1) % rows_.size()];
    for (ExprId id = 0; id < nest_.exprs.size(); id++) {
      if (from.results[id] && to.results[id]) b_.CreateStore(from.known[id], to.results[id]);
      if (from.room_places[id]) b_.CreateStore(from.rooms[id], to.room_places[id]);
    }
  }
}

// In the frame, which becomes a register.
Value* Code::variable(llvm::Type* type) {
  auto& entry = function_->getEntryBlock();
  Value* at = Builder(&entry, entry.begin()).CreateAlloca(type);
  b_.CreateStore(llvm::Constant::getNullValue(type), at);
  return at;
}

}  // namespace thunder::codegen
