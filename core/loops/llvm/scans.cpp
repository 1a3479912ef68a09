// Emits scans along the inner axis, one register after the other. A lane's prefix sum is the same lane's sum in the
// register before, plus the sum of a window that ends at the lane and is as long as the register. Window sums are
// computed in log2(lanes) steps, which shift in lanes of the register before. So the dependency chain from register to
// register is a single addition, and no lane is broadcast.
#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>

#include "loops/llvm/expressions.h"

namespace thunder::codegen {

using llvm::Value;

namespace {

// The type of sums, which is the same as on the host executor; each sum is rounded once.
DType sum_type(DType d) { return d == DType::f32 ? DType::f64 : accumulator(d); }

}  // namespace

void Expressions::begin_scans(const Cursor& at) {
  at.row->scans.assign(nest_.exprs.size(), {});
  for (ExprId id = 0; id < nest_.exprs.size(); id++) {
    const loops::Expr& e = nest_.exprs[id];
    if (e.fn != Fn::cumsum || e.level > at.pass()) continue;
    llvm::Type* element = register_type(b_.getContext(), sum_type(e.dtype));
    Scan& state = at.row->scans[id];
    state.lanes = lanes_of_scan(at, element);
    const auto nothing = [&] {
      return k_.allocate_vector(element, llvm::Constant::getNullValue(element), state.lanes);
    };
    state.sum = nothing();
    for (unsigned by = 1; by < state.lanes && !nest_.lane_is_outer(); by *= 2) state.windows.push_back(nothing());
  }
}

unsigned Expressions::lanes_of_scan(const Cursor& at, llvm::Type* element) const {
  // Remainder loops have as many lanes as a register has elements of 32 bits, also for narrower elements.
  constexpr unsigned kMinLanes = 4, kMinBits = 32;
  const unsigned bits = std::max(kMinBits, element->getScalarSizeInBits());
  return nest_.lane_is_outer() ? at.lanes : std::clamp(k_.register_bits() / bits, kMinLanes, at.lanes);
}

Value* Expressions::scan(const Cursor& at, ExprId id) {
  const loops::Expr& e = nest_.exprs[id];
  const DType d = sum_type(e.dtype), from = accumulator(e.dtype);
  const Scan& state = at.row->scans[id];
  Value* all = k_.broadcast(evaluate(at, e.in[0]), at.lanes);
  std::vector<Value*> sums(at.lanes / state.lanes);
  for (size_t i = 0; i < sums.size(); i++) {
    const size_t part = nest_.backwards ? sums.size() - 1 - i : i;
    llvm::SmallVector<int, 64> lanes;
    for (unsigned lane = 0; lane < state.lanes; lane++) lanes.push_back(static_cast<int>(part * state.lanes + lane));
    Value* some = convert(b_, b_.CreateShuffleVector(all, lanes), from, d);
    sums[part] = convert(b_, scan_register(state, some, d), d, e.dtype);
  }
  return llvm::concatenateVectors(b_, sums);
}

Value* Expressions::scan_register(const Scan& state, Value* v, DType d) {
  unsigned by = 1;
  for (Value* window : state.windows) {
    Value* before = b_.CreateLoad(v->getType(), window);
    b_.CreateStore(v, window);
    v = combine(b_, Fn::sum, v, shift_lanes(before, v, by), d);
    by *= 2;
  }
  Value* sum = combine(b_, Fn::sum, b_.CreateLoad(v->getType(), state.sum), v, d);
  b_.CreateStore(sum, state.sum);
  return sum;
}

// Shifts lanes by `by` positions, in the other direction if the loop runs backwards.
Value* Expressions::shift_lanes(Value* before, Value* v, unsigned by) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
  llvm::SmallVector<int, 64> from;
  for (unsigned i = 0; i < lanes; i++) from.push_back(static_cast<int>(nest_.backwards ? i + by : i + lanes - by));
  return nest_.backwards ? b_.CreateShuffleVector(v, before, from) : b_.CreateShuffleVector(before, v, from);
}

}  // namespace thunder::codegen
