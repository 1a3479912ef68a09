// The place of the greatest element of each row: a candidate by lane, of which the first of the greatest is left.
#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

namespace {

struct Candidate {
  Value *value, *place;
};

// Whether the challenger counts instead of the holder: it is greater, or the first NaN. If ties are asked for: or equal and further in front.
Value* wins(Builder& b, Candidate challenger, Candidate holder, DType d, bool ties) {
  const bool reals = d == DType::f32 || d == DType::f64;
  Value *x = challenger.value, *y = holder.value;
  Value *better, *same = b.CreateICmpSLT(challenger.place, holder.place);
  if (reals) {
    better = b.CreateAnd(b.CreateFCmpUGT(x, y), b.CreateFCmpORD(y, y));
    same = b.CreateAnd(same, b.CreateOr(b.CreateFCmpOEQ(x, y), b.CreateAnd(b.CreateFCmpUNO(x, x), b.CreateFCmpUNO(y, y))));
  } else {
    better = apply(b, Fn::gt, {x, y}, d, DType::boolean);
    same = b.CreateAnd(same, b.CreateICmpEQ(x, y));
  }
  return ties ? b.CreateOr(better, same) : better;
}

}  // namespace

// What begins in all lanes, the least number there is at place 0, is the result of a row that has nothing else.
Code::Sum Code::begin_argmax(ExprId id) {
  const loops::Expr& e = nest_.exprs[id];
  auto& c = b_.getContext();
  const DType d = accumulator(nest_.exprs[e.in[0]].dtype);
  llvm::Type* place = register_type(c, nest_.exprs[e.in[1]].dtype);
  return {id, for_lanes(register_type(c, d), neutral(c, Fn::amax, d)), nullptr, for_lanes(place, llvm::Constant::getNullValue(place))};
}

// Along one axis, places only grow: what comes later and is equal does not count.
void Code::step_argmax(const Sum& sum) {
  const loops::Expr& e = nest_.exprs[sum.id];
  const Candidate now{spread(evaluate(e.in[0])), spread(evaluate(e.in[1]))};
  const Candidate before{b_.CreateLoad(now.value->getType(), sum.lanes), b_.CreateLoad(now.place->getType(), sum.places)};
  Value* won = wins(b_, now, before, accumulator(nest_.exprs[e.in[0]].dtype), nest_.inner > 1);
  if (at_.mask) won = b_.CreateAnd(won, at_.mask);
  b_.CreateStore(b_.CreateSelect(won, now.value, before.value), sum.lanes);
  b_.CreateStore(b_.CreateSelect(won, now.place, before.place), sum.places);
}

void Code::end_argmax(const Sum& sum) {
  const loops::Expr& e = nest_.exprs[sum.id];
  const DType d = accumulator(nest_.exprs[e.in[0]].dtype), place = nest_.exprs[e.in[1]].dtype;
  const auto vector = [&](DType t) { return llvm::FixedVectorType::get(register_type(b_.getContext(), t), lanes_); };
  Candidate best{b_.CreateLoad(vector(d), sum.lanes), b_.CreateLoad(vector(place), sum.places)};
  for (unsigned n = nest_.lane_is_outer() ? 1 : lanes_; n > 1; n /= 2) {
    auto [value, other_value] = halves(best.value, n);
    auto [at, other_at] = halves(best.place, n);
    Value* won = wins(b_, {other_value, other_at}, {value, at}, d, true);
    best = {b_.CreateSelect(won, other_value, value), b_.CreateSelect(won, other_at, at)};
  }
  Value* found = nest_.lane_is_outer() ? best.place : b_.CreateExtractElement(best.place, uint64_t{0});
  row_->known[sum.id] = convert(b_, found, place, e.dtype);
}

}  // namespace thunder::codegen
