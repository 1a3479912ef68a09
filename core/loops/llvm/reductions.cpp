// Reductions: a partial result by lane, and what the lanes come to in the end.
#include <limits>

#include "loops/nans.h"
#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

namespace {

// Of reals.
bool is_extremum(const loops::Expr& e) {
  const DType d = accumulator(e.dtype);
  return (e.fn == Fn::amax || e.fn == Fn::amin) && (d == DType::f32 || d == DType::f64);
}

llvm::Type* flags_of(Value* place) { return llvm::cast<llvm::AllocaInst>(place)->getAllocatedType(); }

}  // namespace

Code::Sum Code::begin_sum(ExprId id) {
  const loops::Expr& e = nest_.exprs[id];
  if (e.fn == Fn::argmax) return begin_argmax(id);
  const DType d = accumulator(e.dtype);
  llvm::Type* number = register_type(b_.getContext(), d);
  Sum sum{id, for_lanes(number, neutral(b_.getContext(), e.fn, d))};
  if (is_extremum(e) && !loops::may_forget_nans(nest_, id)) {
    llvm::Type* flag = has_registers_of_lines() ? b_.getInt1Ty() : b_.getIntNTy(number->getScalarSizeInBits());
    sum.nans = for_lanes(flag, llvm::Constant::getNullValue(flag), flags());
  }
  return sum;
}

// A place for a vector, which begins as the same number in each lane.
Value* Code::for_lanes(llvm::Type* element, Value* first) { return for_lanes(element, first, lanes_); }
Value* Code::for_lanes(llvm::Type* element, Value* first, unsigned lanes) {
  auto& entry = function_->getEntryBlock();
  Value* at = Builder(&entry, entry.begin()).CreateAlloca(llvm::FixedVectorType::get(element, lanes));
  b_.CreateStore(b_.CreateVectorSplat(lanes, first), at);
  return at;
}

// How many flags tell of NaN: one comparison looks at two halves of the lanes, where they are several registers and become one number.
unsigned Code::flags() const { return nest_.lane_is_outer() || lanes_ * 32 <= register_bits() ? lanes_ : lanes_ / 2; }

// By flag: whether a lane that counts is NaN.
Value* Code::nans_of(Value* v) {
  if (flags() == lanes_) {
    Value* nan = b_.CreateFCmpUNO(v, v);
    return at_.mask ? b_.CreateAnd(nan, at_.mask) : nan;
  }
  if (at_.mask) v = b_.CreateSelect(at_.mask, v, llvm::Constant::getNullValue(v->getType()));
  auto [low, high] = halves(v, lanes_);
  return b_.CreateFCmpUNO(low, high);
}

// An extremum of reals is one instruction if NaN may be forgotten on the way; whether there was one is noted beside it, unless nobody
// asks, in a bit of a lane, or in as many as a comparison has where masks have no registers of their own.
void Code::step(const Sum& sum) {
  const loops::Expr& e = nest_.exprs[sum.id];
  if (e.fn == Fn::argmax) return step_argmax(sum);
  const DType d = accumulator(e.dtype);
  Value* v = spread(evaluate(e.in[0]));
  Value* before = b_.CreateLoad(v->getType(), sum.lanes);
  Value* after = is_extremum(e) ? extremum(e.fn, before, v) : combine(b_, e.fn, before, v, d);
  if (sum.nans) {
    Value* nan = nans_of(v);
    nan = b_.CreateSExt(nan, nan->getType()->getWithNewType(flags_of(sum.nans)->getScalarType()));
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(nan->getType(), sum.nans), nan), sum.nans);
  }
  b_.CreateStore(at_.mask ? b_.CreateSelect(at_.mask, after, before) : after, sum.lanes);
}

void Code::end_sum(const Sum& sum) {
  const loops::Expr& e = nest_.exprs[sum.id];
  if (e.fn == Fn::argmax) return end_argmax(sum);
  const DType d = accumulator(e.dtype);
  Value* v = b_.CreateLoad(llvm::FixedVectorType::get(register_type(b_.getContext(), d), lanes_), sum.lanes);
  if (!nest_.lane_is_outer())
    v = horizontal(v, [&](Value* low, Value* high) { return is_extremum(e) ? extremum(e.fn, low, high) : combine(b_, e.fn, low, high, d); });
  if (sum.nans) {
    Value* nans = b_.CreateLoad(flags_of(sum.nans), sum.nans);
    nans = b_.CreateICmpNE(nans, llvm::Constant::getNullValue(nans->getType()));
    if (!is_vector(v)) nans = b_.CreateOrReduce(nans);
    v = b_.CreateSelect(nans, constant(v, v->getType()->getScalarType(), std::numeric_limits<double>::quiet_NaN()), v);
  }
  row_->known[sum.id] = convert(b_, v, d, e.dtype);
}

// In one instruction: the second one if either is NaN.
Value* Code::extremum(Fn fn, Value* a, Value* b) { return b_.CreateSelect(fn == Fn::amax ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b); }

// The lanes' results as one: halves meet until one is left, always in the same order.
template <class Join>
Value* Code::horizontal(Value* v, const Join& join) {
  for (unsigned n = lanes_; n > 1; n /= 2) {
    auto [low, high] = halves(v, n);
    v = join(low, high);
  }
  return b_.CreateExtractElement(v, uint64_t{0});
}
std::pair<Value*, Value*> Code::halves(Value* v, unsigned lanes) {
  llvm::SmallVector<int, 64> low, high;
  for (unsigned i = 0; i < lanes / 2; i++) low.push_back(static_cast<int>(i)), high.push_back(static_cast<int>(i + lanes / 2));
  return {b_.CreateShuffleVector(v, low), b_.CreateShuffleVector(v, high)};
}

}  // namespace thunder::codegen
