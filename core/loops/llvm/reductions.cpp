#include "loops/llvm/reductions.h"

#include <limits>

#include "loops/nans.h"

namespace thunder::codegen {

using llvm::Value;

namespace {

// Whether the expression is a minimum or maximum of floating-point values.
bool is_extremum(const loops::Expr& e) {
  const DType d = accumulator(e.dtype);
  return (e.fn == Fn::amax || e.fn == Fn::amin) && (d == DType::f32 || d == DType::f64);
}

llvm::Type* flags_type(Value* place) { return llvm::cast<llvm::AllocaInst>(place)->getAllocatedType(); }

}  // namespace

Reduction Reductions::begin(const Cursor& at, ExprId id) {
  const loops::Expr& e = nest_.exprs[id];
  if (e.fn == Fn::argmax) return begin_argmax(at, id);
  const DType d = accumulator(e.dtype);
  llvm::Type* number = register_type(b_.getContext(), d);
  Reduction r{id, k_.allocate_vector(number, neutral(b_.getContext(), e.fn, d), at.lanes)};
  if (e.fn == Fn::sum && loops::sums_in_runs(nest_))
    r.runs = k_.allocate_vector(number, neutral(b_.getContext(), e.fn, d), at.lanes);
  if (is_extremum(e) && !loops::may_ignore_nans(nest_, id)) {
    llvm::Type* flag = k_.has_cache_line_registers() ? b_.getInt1Ty() : b_.getIntNTy(number->getScalarSizeInBits());
    r.nans = k_.allocate_vector(flag, llvm::Constant::getNullValue(flag), count_nan_flags(at));
  }
  return r;
}

// The number of flags that record NaN: one comparison can test two halves of the lanes if they are several registers.
unsigned Reductions::count_nan_flags(const Cursor& at) const {
  return nest_.lane_is_outer() || at.lanes * 32 <= k_.register_bits() ? at.lanes : at.lanes / 2;
}

// A flag for each lane: whether it is active and NaN.
Value* Reductions::nans_of(const Cursor& at, Value* v) {
  if (count_nan_flags(at) == at.lanes) {
    Value* nan = b_.CreateFCmpUNO(v, v);
    return at.mask ? b_.CreateAnd(nan, at.mask) : nan;
  }
  if (at.mask) v = b_.CreateSelect(at.mask, v, llvm::Constant::getNullValue(v->getType()));
  auto [low, high] = halves(v, at.lanes);
  return b_.CreateFCmpUNO(low, high);
}

// An extremum of floats is one instruction if it may ignore NaN. So a second variable records whether a lane has met a
// NaN, unless may_ignore_nans: one bit for each lane, or a whole element if masks have no registers of their own.
void Reductions::step(const Cursor& at, const Reduction& r) {
  const loops::Expr& e = nest_.exprs[r.id];
  if (e.fn == Fn::argmax) return step_argmax(at, r);
  const DType d = accumulator(e.dtype);
  Value* v = k_.broadcast(expressions_.evaluate(at, e.in[0]), at.lanes);
  Value* before = b_.CreateLoad(v->getType(), r.lanes);
  Value* after = is_extremum(e) ? extremum(e.fn, before, v) : combine(b_, e.fn, before, v, d);
  if (r.nans) {
    Value* nan = nans_of(at, v);
    nan = b_.CreateSExt(nan, nan->getType()->getWithNewType(flags_type(r.nans)->getScalarType()));
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(nan->getType(), r.nans), nan), r.nans);
  }
  b_.CreateStore(at.mask ? b_.CreateSelect(at.mask, after, before) : after, r.lanes);
}

void Reductions::end_run(const Cursor& at, const Reduction& r) {
  if (!r.runs) return;
  const DType d = accumulator(nest_.exprs[r.id].dtype);
  auto* vector = k_.vector_of(register_type(b_.getContext(), d), at.lanes);
  b_.CreateStore(combine(b_, Fn::sum, b_.CreateLoad(vector, r.runs), b_.CreateLoad(vector, r.lanes), d), r.runs);
  b_.CreateStore(k_.broadcast(neutral(b_.getContext(), Fn::sum, d), at.lanes), r.lanes);
}

void Reductions::end(const Cursor& at, const Reduction& r) {
  const loops::Expr& e = nest_.exprs[r.id];
  if (e.fn == Fn::argmax) return end_argmax(at, r);
  const DType d = accumulator(e.dtype);
  Value* v = b_.CreateLoad(k_.vector_of(register_type(b_.getContext(), d), at.lanes), r.runs ? r.runs : r.lanes);
  if (!nest_.lane_is_outer())
    v = reduce_lanes(v, at.lanes, [&](Value* low, Value* high) {
      return is_extremum(e) ? extremum(e.fn, low, high) : combine(b_, e.fn, low, high, d);
    });
  if (r.nans) {
    Value* nans = b_.CreateLoad(flags_type(r.nans), r.nans);
    nans = b_.CreateICmpNE(nans, llvm::Constant::getNullValue(nans->getType()));
    if (!is_vector(v)) nans = b_.CreateOrReduce(nans);
    v = b_.CreateSelect(nans, constant_like(v, v->getType()->getScalarType(), std::numeric_limits<double>::quiet_NaN()),
                        v);
  }
  at.row->known[r.id] = convert(b_, v, d, e.dtype);
}

// A single x86 instruction, which gives the second operand if either one is NaN.
Value* Reductions::extremum(Fn fn, Value* a, Value* b) {
  return b_.CreateSelect(fn == Fn::amax ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b);
}

// Reduces across lanes: halves are combined until one lane is left, always in the same order.
template <class Join>
Value* Reductions::reduce_lanes(Value* v, unsigned lanes, const Join& join) {
  for (unsigned n = lanes; n > 1; n /= 2) {
    auto [low, high] = halves(v, n);
    v = join(low, high);
  }
  return b_.CreateExtractElement(v, uint64_t{0});
}
std::pair<Value*, Value*> Reductions::halves(Value* v, unsigned lanes) {
  llvm::SmallVector<int, 64> low, high;
  for (unsigned i = 0; i < lanes / 2; i++)
    low.push_back(static_cast<int>(i)), high.push_back(static_cast<int>(i + lanes / 2));
  return {b_.CreateShuffleVector(v, low), b_.CreateShuffleVector(v, high)};
}

}  // namespace thunder::codegen
