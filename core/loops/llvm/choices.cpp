// What is one thing or another by where the loops stand along an axis.
#include <algorithm>

#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

Value* Code::cut(uint32_t axis, int64_t at) {
  const auto found = std::find(cuts_[axis].begin(), cuts_[axis].end(), at);
  return cut_at_[axis][static_cast<size_t>(found - cuts_[axis].begin())];
}

// Whether lanes run along an axis here: then it is known between which cuts they are.
bool Code::runs_along(uint32_t axis) const { return axis == nest_.lane && !(at_.picked & loops::bit(axis)); }

bool Code::stretch_below(int64_t bound) const {
  const auto& cuts = cuts_[nest_.lane];
  return bound >= nest_.extents[nest_.lane] || (stretch_ < cuts.size() && cuts[stretch_] <= bound);
}

// What is computed in there is not known outside, nor does it count as computed.
template <class Make>
void Code::apart(const Make& make) {
  const Row row = *row_;
  const Memo picked = picked_;
  const bool before = std::exchange(apart_, true);
  make();
  *row_ = row, picked_ = picked, apart_ = before;
}

// The first operand below the bound, else the second: only the one that counts is computed, unless picked lanes differ in it.
Value* Code::choose(ExprId id) {
  const loops::Expr& e = nest_.exprs[id];
  if (runs_along(e.axis)) return evaluate(e.in[stretch_below(e.bound) ? 0 : 1]);
  Value *index = at_.index[e.axis], *bound = cut(e.axis, e.bound);
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
    apart([&] { values[i] = evaluate(e.in[i]); });
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

// Along the lane axis: whether the output is known in the stretch for which code is being made.
bool Code::is_here(const loops::Output& s) const {
  return std::all_of(s.only.begin(), s.only.end(), [this](const loops::Stretch& only) {
    return !runs_along(only.axis) || (stretch_below(only.end) && !(only.begin > 0 && stretch_below(only.begin)));
  });
}

void Code::store_where_known(const loops::Output& s) {
  Value* here = b_.getTrue();
  for (const loops::Stretch& only : s.only) {
    if (runs_along(only.axis)) continue;
    Value* index = at_.index[only.axis];
    if (only.begin > 0) here = b_.CreateAnd(here, b_.CreateICmpSGE(index, cut(only.axis, only.begin)));
    if (only.end < nest_.extents[only.axis]) here = b_.CreateAnd(here, b_.CreateICmpSLT(index, cut(only.axis, only.end)));
  }
  branch(here, [&] { apart([&] { store(s, evaluate(s.value)); }); });
}

}  // namespace thunder::codegen
