// Emits piecewise selects, whose operand depends on the index of an axis, and stores in intervals.
#include <algorithm>

#include "loops/llvm/expressions.h"

namespace thunder::codegen {

using llvm::Value;

// Whether vectors run along the axis here. Then the interval of their indices is known.
bool Expressions::is_lane_axis(const Cursor& at, uint32_t axis) const {
  return axis == nest_.lane && !(at.gathered & loops::axis_bit(axis));
}

// Whether the interval of the lane axis for which code is generated ends at `bound` or before.
bool Expressions::is_below(const Cursor& at, int64_t bound) const {
  const auto& cuts = k_.args.cuts[nest_.lane];
  return bound >= nest_.extents[nest_.lane] || (at.interval < cuts.size() && cuts[at.interval] <= bound);
}

// Values computed inside a branch are not valid outside of it, so they are not memoized there.
template <class Make>
void Expressions::emit_in_branch(const Cursor& at, const Make& make) {
  const Row row = *at.row;
  Memo found = at.gather ? *at.gather : Memo();
  Cursor inside = at;
  inside.conditional = true;
  make(inside);
  *at.row = row;
  if (at.gather) *at.gather = std::move(found);
}

// The first operand below the bound, otherwise the second one. Only the selected one is computed, except in a gather,
// whose lanes may select different ones.
Value* Expressions::select(const Cursor& at, ExprId id) {
  const loops::Expr& e = nest_.exprs[id];
  if (is_lane_axis(at, e.axis)) return evaluate(at, e.in[is_below(at, e.bound) ? 0 : 1]);
  Value *index = at.index[e.axis], *bound = k_.args.cut(e.axis, e.bound);
  if (is_vector(index)) {
    Value* first = k_.broadcast(evaluate(at, e.in[0]), at.lanes);
    Value* second = k_.broadcast(evaluate(at, e.in[1]), at.lanes);
    return b_.CreateSelect(b_.CreateICmpSLT(index, k_.broadcast(bound, at.lanes)), first, second);
  }
  auto& c = b_.getContext();
  llvm::BasicBlock* blocks[] = {llvm::BasicBlock::Create(c, "below", k_.function),
                                llvm::BasicBlock::Create(c, "above", k_.function)};
  auto* after = llvm::BasicBlock::Create(c, "selected", k_.function);
  b_.CreateCondBr(b_.CreateICmpSLT(index, bound), blocks[0], blocks[1]);
  Value* values[2];
  for (int i : {0, 1}) {
    b_.SetInsertPoint(blocks[i]);
    emit_in_branch(at, [&](const Cursor& inside) { values[i] = evaluate(inside, e.in[i]); });
    blocks[i] = b_.GetInsertBlock();
  }
  const bool vectors = is_vector(values[0]) || is_vector(values[1]);
  for (int i : {0, 1}) {
    b_.SetInsertPoint(blocks[i]);
    if (vectors) values[i] = k_.broadcast(values[i], at.lanes);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
  auto* selected = b_.CreatePHI(values[0]->getType(), 2);
  for (int i : {0, 1}) selected->addIncoming(values[i], blocks[i]);
  return selected;
}

bool Expressions::is_inside_interval(const Cursor& at, const loops::Output& s) const {
  return std::all_of(s.only.begin(), s.only.end(), [&](const loops::Interval& only) {
    return !is_lane_axis(at, only.axis) || (is_below(at, only.end) && !(only.begin > 0 && is_below(at, only.begin)));
  });
}

void Expressions::store_in_intervals(const Cursor& at, const loops::Output& s) {
  Value* here = b_.getTrue();
  for (const loops::Interval& only : s.only) {
    if (is_lane_axis(at, only.axis)) continue;
    Value* index = at.index[only.axis];
    if (only.begin > 0) here = b_.CreateAnd(here, b_.CreateICmpSGE(index, k_.args.cut(only.axis, only.begin)));
    if (only.end < nest_.extents[only.axis])
      here = b_.CreateAnd(here, b_.CreateICmpSLT(index, k_.args.cut(only.axis, only.end)));
  }
  k_.emit_branch(here, [&] {
    emit_in_branch(at, [&](const Cursor& inside) { memory_.store(inside, s, evaluate(inside, s.value)); });
  });
}

}  // namespace thunder::codegen
