// Reduces each row to its argmax: each lane keeps its own maximum with its index, and the first of the largest is
// taken.
#include "loops/llvm/reductions.h"

namespace thunder::codegen {

using llvm::Value;

namespace {

struct Candidate {
  Value *value, *index;
};

// Whether a candidate replaces the current one: it is greater, or the first NaN; with `ties`, also if it is equal and
// has a lower index.
Value* emit_replaces(Builder& b, Candidate candidate, Candidate current, DType d, bool ties) {
  const bool reals = is_real(d);
  Value *x = candidate.value, *y = current.value;
  Value *better, *same = b.CreateICmpSLT(candidate.index, current.index);
  if (reals) {
    better = b.CreateAnd(b.CreateFCmpUGT(x, y), b.CreateFCmpORD(y, y));
    same =
        b.CreateAnd(same, b.CreateOr(b.CreateFCmpOEQ(x, y), b.CreateAnd(b.CreateFCmpUNO(x, x), b.CreateFCmpUNO(y, y))));
  } else {
    better = apply(b, Fn::gt, {x, y}, d, DType::boolean);
    same = b.CreateAnd(same, b.CreateICmpEQ(x, y));
  }
  return ties ? b.CreateOr(better, same) : better;
}

}  // namespace

// Initially all lanes hold the least number at index 0, which is the result of a row of such numbers.
Reduction Reductions::begin_argmax(const Cursor& at, ExprId id) {
  const loops::Expr& e = nest_.exprs[id];
  auto& c = b_.getContext();
  const DType d = accumulator(nest_.exprs[e.in[0]].dtype);
  llvm::Type* index = register_type(c, nest_.exprs[e.in[1]].dtype);
  return {id, k_.allocate_vector(register_type(c, d), neutral(c, Fn::amax, d), at.lanes), nullptr,
          k_.allocate_vector(index, llvm::Constant::getNullValue(index), at.lanes)};
}

// Along one axis indices only grow, so that an equal element that comes later never replaces the current one.
void Reductions::step_argmax(const Cursor& at, const Reduction& r) {
  const loops::Expr& e = nest_.exprs[r.id];
  const auto operand = [&](int i) { return k_.broadcast(expressions_.evaluate(at, e.in[i]), at.lanes); };
  Value* value = operand(0);
  const Candidate now{value, operand(1)};
  const Candidate before{b_.CreateLoad(now.value->getType(), r.lanes), b_.CreateLoad(now.index->getType(), r.indices)};
  Value* replaced = emit_replaces(b_, now, before, accumulator(nest_.exprs[e.in[0]].dtype), nest_.inner > 1);
  if (at.mask) replaced = b_.CreateAnd(replaced, at.mask);
  b_.CreateStore(b_.CreateSelect(replaced, now.value, before.value), r.lanes);
  b_.CreateStore(b_.CreateSelect(replaced, now.index, before.index), r.indices);
}

void Reductions::end_argmax(const Cursor& at, const Reduction& r) {
  const loops::Expr& e = nest_.exprs[r.id];
  const DType d = accumulator(nest_.exprs[e.in[0]].dtype), index = nest_.exprs[e.in[1]].dtype;
  const auto vector = [&](DType t) { return k_.vector_of(register_type(b_.getContext(), t), at.lanes); };
  Candidate best{b_.CreateLoad(vector(d), r.lanes), b_.CreateLoad(vector(index), r.indices)};
  for (unsigned n = nest_.lane_is_outer() ? 1 : at.lanes; n > 1; n /= 2) {
    auto [value, other_value] = halves(best.value, n);
    auto [index_here, other_index] = halves(best.index, n);
    Value* replaced = emit_replaces(b_, {other_value, other_index}, {value, index_here}, d, true);
    best = {b_.CreateSelect(replaced, other_value, value), b_.CreateSelect(replaced, other_index, index_here)};
  }
  Value* found = nest_.lane_is_outer() ? best.index : b_.CreateExtractElement(best.index, uint64_t{0});
  at.row->known[r.id] = convert(b_, found, index, e.dtype);
}

}  // namespace thunder::codegen
