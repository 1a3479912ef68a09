// What is one thing or another by where the loops stand along an axis.
#include "executors/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

// The first operand below the bound, else the second: only the one that counts is computed, unless lanes differ in it.
Value* Code::choose(ExprId id) {
  const fusion::Expr& e = nest_.exprs[id];
  Value* index = at_.index[e.axis];
  if (e.axis == nest_.lane && !(at_.picked & fusion::bit(e.axis))) index = b_.CreateAdd(spread(index), lane_numbers());
  Value* bound = b_.getInt64(e.bound);
  if (is_vector(index)) {
    Value *first = spread(evaluate(e.in[0])), *second = spread(evaluate(e.in[1]));
    return b_.CreateSelect(b_.CreateICmpSLT(index, spread(bound)), first, second);
  }
  auto& c = b_.getContext();
  llvm::BasicBlock* blocks[] = {llvm::BasicBlock::Create(c, "below", function_), llvm::BasicBlock::Create(c, "above", function_)};
  auto* after = llvm::BasicBlock::Create(c, "chosen", function_);
  b_.CreateCondBr(b_.CreateICmpSLT(index, bound), blocks[0], blocks[1]);
  Value* values[2];
  for (int i : {0, 1}) {
    b_.SetInsertPoint(blocks[i]);
    values[i] = evaluate_apart(e.in[i]);
    blocks[i] = b_.GetInsertBlock();
  }
  const bool vectors = is_vector(values[0]) || is_vector(values[1]);
  for (int i : {0, 1}) {
    b_.SetInsertPoint(blocks[i]);
    if (vectors) values[i] = spread(values[i]);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
  auto* chosen = b_.CreatePHI(values[0]->getType(), 2);
  for (int i : {0, 1}) chosen->addIncoming(values[i], blocks[i]);
  return chosen;
}

// Nothing that is computed here is known where the ways meet.
Value* Code::evaluate_apart(ExprId id) {
  const Memo row = row_, position = position_, picked = picked_;
  const std::vector<Reciprocal> reciprocals = reciprocals_;
  const bool before = std::exchange(apart_, true);
  Value* v = evaluate(id);
  row_ = row, position_ = position, picked_ = picked, reciprocals_ = reciprocals, apart_ = before;
  return v;
}

// A value that does not change along an axis by which others are chosen is stored at the beginning of that axis.
void Code::store_once(const fusion::Output& s, Value* value) {
  Value* first = nullptr;
  for (uint32_t a = 0; a < nest_.axes(); a++) {
    if (!(nest_.repeats(s) & fusion::bit(a))) continue;
    Value* begins = b_.CreateICmpEQ(at_.index[a], b_.getInt64(0));
    first = first ? b_.CreateAnd(first, begins) : begins;
  }
  if (!first) return store(s, value);
  auto* then = llvm::BasicBlock::Create(b_.getContext(), "once", function_);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "on", function_);
  b_.CreateCondBr(first, then, after);
  b_.SetInsertPoint(then);
  store(s, value);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

}  // namespace thunder::codegen
