#include "loops/llvm/expressions.h"

#include <algorithm>

#include "ir/elements.h"

namespace thunder::codegen {

using llvm::Value;
using loops::Expr;
using loops::ExprKind;

// Axes without loops are indexed by gathers only, so that values that vary along them are memoized in the gather.
// Values that do not vary along the rows' axes are computed once for all pipelined rows.
Memo& Expressions::memo_of(const Cursor& at, ExprId id) {
  const loops::AxisSet axes = nest_.exprs[id].axes;
  if (axes & at.gathered) return *at.gather;
  if (nest_.is_row(id)) return at.row->known;
  return axes & nest_.outer_set() || at.conditional ? at.row->position : at.first_row->position;
}

Value* Expressions::evaluate(const Cursor& at, ExprId id) {
  const Expr& e = nest_.exprs[id];
  if (Value* known = memo_of(at, id)[id]) return known;
  const bool kept = row_buffers_.is_kept(at, id);
  if (kept && row_buffers_.is_filled(at, id)) return memo_of(at, id)[id] = row_buffers_.load(at, id);
  Value* v = nullptr;
  switch (kind_of(e.fn)) {
    case ExprKind::load: v = at.tile && tiles_.is_transposed(at, id) ? tiles_.load(at, id) : memory_.load(at, e); break;
    case ExprKind::iota: v = memory_.iota(at, e); break;
    case ExprKind::number: v = number(e); break;
    case ExprKind::elementwise: v = apply_all(at, e); break;
    case ExprKind::uniform: v = draw_uniform(at, e); break;
    case ExprKind::gather: v = gather(at, id); break;
    case ExprKind::select: v = select(at, id); break;
    case ExprKind::scan: v = scan(at, id); break;
    case ExprKind::reduction: llvm_unreachable("the result of a reduction is memoized when its pass ends");
  }
  memo_of(at, id)[id] = v;
  if (kept) row_buffers_.store(at, id, v);
  return v;
}

Value* Expressions::number(const Expr& e) {
  llvm::Type* type = register_type(b_.getContext(), e.dtype);
  if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, e.number);
  const uint64_t bits =
      by_element(e.dtype, [&](auto t) { return static_cast<uint64_t>(converted<decltype(t)>(e.number)); });
  return llvm::ConstantInt::get(type, bits, true);
}

Value* Expressions::apply_all(const Cursor& at, const Expr& e) {
  llvm::SmallVector<Value*, 3> operands;
  bool vectors = false;
  for (uint32_t i = 0; i < e.count; i++) {
    operands.push_back(evaluate(at, e.in[i]));
    vectors |= is_vector(operands.back());
  }
  // A factor that is constant along the row comes first: LLVM moves a negation to the first factor, where it is then
  // hoisted from the loop.
  if (e.fn == Fn::mul && !is_vector(operands.back())) std::reverse(operands.begin(), operands.end());
  const auto fit = [&](Value* v) { return vectors ? k_.broadcast(v, at.lanes) : v; };
  for (Value*& v : operands) v = fit(v);
  return apply(b_, e.fn, operands, nest_.exprs[e.in[0]].dtype, e.dtype, k_.ranges[e.in[0]]);
}

void Expressions::evaluate_row_values(const Cursor& at, ExprId id) {
  if (at.row->visited[id]) return;
  at.row->visited[id] = true;
  const Expr& e = nest_.exprs[id];
  const loops::AxisSet loops = nest_.outer_set() | nest_.inner_set();
  if (nest_.is_row(id) && !(e.axes & ~loops)) {
    evaluate(at, id);
    return;
  }
  // The operands of such a select are valid in their intervals only, which are tested inside the loop.
  if (nest_.partial && e.fn == Fn::select && !is_lane_axis(at, e.axis)) return;
  for (uint32_t i = 0; i < e.count; i++) evaluate_row_values(at, e.in[i]);
}

Value* Expressions::draw_uniform(const Cursor& at, const Expr& e) {
  Value* call = evaluate(at, e.in[2]);
  Value* seed = evaluate(at, e.in[1]);
  Value* number = evaluate(at, e.in[0]);
  return philox_uniform(b_, number, seed, call, memory_.base_offset(e), e.dtype);
}

Value* Expressions::gather(const Cursor& at, ExprId id) {
  const Expr& e = nest_.exprs[id];
  Value* index = convert(b_, evaluate(at, e.in[1]), nest_.exprs[e.in[1]].dtype, DType::i64);
  Value* extent = k_.args.extents[e.axis];
  Value* size = is_vector(index) ? k_.broadcast(extent, at.lanes) : extent;
  Value* bad = b_.CreateICmpUGE(index, size);
  report_bad_index(at, bad, index, id);
  Memo found(nest_.exprs.size(), nullptr);
  Cursor there = at;
  there.index[e.axis] = b_.CreateSelect(bad, llvm::Constant::getNullValue(index->getType()), index);
  there.gathered |= loops::axis_bit(e.axis);
  there.gather = &found;
  return evaluate(there, e.in[0]);
}

// Reports an index out of range to the caller, without leaving the loops.
void Expressions::report_bad_index(const Cursor& at, Value* bad, Value* index, ExprId id) {
  if (is_vector(bad) && at.mask) bad = b_.CreateAnd(bad, at.mask);
  Value* any = is_vector(bad) ? b_.CreateOrReduce(bad) : bad;
  k_.emit_branch(any, [&] {
    if (is_vector(index)) {
      Value* least = llvm::ConstantInt::get(index->getType(), static_cast<uint64_t>(INT64_MIN));
      index = b_.CreateIntMaxReduce(b_.CreateSelect(bad, index, least), true);
    }
    b_.CreateStore(b_.getInt64(id), k_.args.index_error);
    b_.CreateStore(index, b_.CreateConstGEP1_64(b_.getInt64Ty(), k_.args.index_error, 1));
  });
}

}  // namespace thunder::codegen
