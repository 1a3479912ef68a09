// The value of an expression at a point of the loops.
#include <algorithm>

#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;
using loops::Expr;
using loops::Form;

Value* Code::spread(Value* v) { return is_vector(v) ? v : b_.CreateVectorSplat(lanes_, v); }

// Axes beyond the loops are walked by picks only, so that nothing that changes along them is kept outside of one. What is the same in all
// rows is computed once for those that overlap, since they stand at the same place.
Code::Memo& Code::memo_of(ExprId id) {
  const loops::AxisSet axes = nest_.exprs[id].axes;
  if (axes & at_.picked) return picked_;
  if (nest_.is_row(id)) return row_->known;
  return axes & nest_.outer_set() || apart_ ? row_->position : walked_.front().position;
}

Value* Code::evaluate(ExprId id) {
  const Expr& e = nest_.exprs[id];
  if (Value* known = memo_of(id)[id]) return known;
  const bool kept = is_kept(id);
  if (kept && kept_in_[id] < pass_) return memo_of(id)[id] = load_kept(id);
  Value* v = nullptr;
  switch (form_of(e.fn)) {
    case Form::load: v = load(e); break;
    case Form::position: v = position(e); break;
    case Form::number: v = number(e); break;
    case Form::elementwise: v = apply_all(e); break;
    case Form::uniform: v = uniform(e); break;
    case Form::pick: v = pick(id); break;
    case Form::choose: v = choose(id); break;
    case Form::scan: v = scan(id); break;
    case Form::reduction: llvm_unreachable("what a row is reduced to is known before it is asked for");
  }
  memo_of(id)[id] = v;
  if (kept) keep(id, v);
  return v;
}

Value* Code::number(const Expr& e) {
  llvm::Type* type = register_type(b_.getContext(), e.dtype);
  if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, e.number);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(static_cast<int64_t>(e.number)), true);
}

Value* Code::apply_all(const Expr& e) {
  llvm::SmallVector<Value*, 3> operands;
  bool vectors = false;
  for (uint32_t i = 0; i < e.count; i++) {
    operands.push_back(evaluate(e.in[i]));
    vectors |= is_vector(operands.back());
  }
  // Numbers of the row first: LLVM moves a sign to the first factor, where it then belongs to the row.
  if (e.fn == Fn::mul && !is_vector(operands.back())) std::reverse(operands.begin(), operands.end());
  if (vectors)
    for (Value*& v : operands) v = spread(v);
  // Dividing a row by one number is multiplying it by the number's reciprocal, which is computed once.
  if (divides_row(e)) {
    const Reciprocal& by = reciprocal(e.in[1]);
    const auto fit = [&](Value* v) { return vectors ? spread(v) : v; };
    Value* scaled = by.scale ? apply(b_, Fn::mul, {operands[0], fit(by.scale)}, accumulator(e.dtype), accumulator(e.dtype)) : operands[0];
    return apply(b_, Fn::mul, {scaled, fit(by.value)}, e.dtype, e.dtype);
  }
  return apply(b_, e.fn, operands, nest_.exprs[e.in[0]].dtype, e.dtype, bounds_[e.in[0]]);
}

bool Code::divides_row(const Expr& e) const {
  return e.fn == Fn::div && nest_.is_row(e.in[1]) && nest_.exprs[e.in[1]].level > 0 && !nest_.is_row(e.in[0]);
}

// A divisor so small that its reciprocal would overflow is scaled up, and with it what it divides; none that is known to be 1 at least.
const Code::Reciprocal& Code::reciprocal(ExprId id) {
  Reciprocal& r = row_->reciprocals[id];
  if (r.value) return r;
  Value* divisor = evaluate(id);
  llvm::Type* element = divisor->getType()->getScalarType();
  const DType d = accumulator(nest_.exprs[id].dtype);
  const bool wide = element->isDoubleTy();
  if (bounds_[id].low >= 1) {
    r.value = apply(b_, Fn::reciprocal, {divisor}, d, d);
    return r;
  }
  Value* size = apply(b_, Fn::abs, {divisor}, d, d);
  Value* small = b_.CreateFCmpOLT(size, constant(divisor, element, wide ? 0x1p-1000 : 0x1p-100));
  r.scale = b_.CreateSelect(small, constant(divisor, element, wide ? 0x1p512 : 0x1p64), constant(divisor, element, 1));
  r.value = apply(b_, Fn::reciprocal, {apply(b_, Fn::mul, {divisor, r.scale}, d, d)}, d, d);
  return r;
}

// What is known for a whole row is computed before the loop over its positions begins.
void Code::evaluate_rows_below(ExprId id) {
  if (row_->looked_below[id]) return;
  row_->looked_below[id] = true;
  const Expr& e = nest_.exprs[id];
  const loops::AxisSet loops = nest_.outer_set() | nest_.inner_set();
  if (nest_.is_row(id) && !(e.axes & ~loops)) {
    evaluate(id);
    return;
  }
  // What is chosen where the loops stand outside may be there no further than that.
  if (nest_.partial && e.fn == Fn::choose && !runs_along(e.axis)) return;
  if (divides_row(e)) reciprocal(e.in[1]);
  for (uint32_t i = 0; i < e.count; i++) evaluate_rows_below(e.in[i]);
}

Value* Code::uniform(const Expr& e) {
  return philox_uniform(b_, evaluate(e.in[0]), evaluate(e.in[1]), evaluate(e.in[2]), more_of(e), e.dtype);
}

Value* Code::pick(ExprId id) {
  const Expr& e = nest_.exprs[id];
  Value* index = convert(b_, evaluate(e.in[1]), nest_.exprs[e.in[1]].dtype, DType::i64);
  Value* size = is_vector(index) ? spread(extents_[e.axis]) : extents_[e.axis];
  Value* bad = b_.CreateICmpUGE(index, size);
  report(bad, index, id);
  const Point before = at_;
  Memo others(nest_.exprs.size(), nullptr);
  others.swap(picked_);
  at_.index[e.axis] = b_.CreateSelect(bad, llvm::Constant::getNullValue(index->getType()), index);
  at_.picked |= loops::bit(e.axis);
  Value* v = evaluate(e.in[0]);
  picked_.swap(others);
  at_ = before;
  return v;
}

// Tells the caller of an index out of range, without leaving the loops.
void Code::report(Value* bad, Value* index, ExprId id) {
  if (is_vector(bad) && at_.mask) bad = b_.CreateAnd(bad, at_.mask);
  Value* any = is_vector(bad) ? b_.CreateOrReduce(bad) : bad;
  branch(any, [&] {
    if (is_vector(index)) {
      Value* least = llvm::ConstantInt::get(index->getType(), static_cast<uint64_t>(INT64_MIN));
      index = b_.CreateIntMaxReduce(b_.CreateSelect(bad, index, least), true);
    }
    b_.CreateStore(b_.getInt64(id), refusal_);
    b_.CreateStore(index, b_.CreateConstGEP1_64(b_.getInt64Ty(), refusal_, 1));
  });
}

}  // namespace thunder::codegen
