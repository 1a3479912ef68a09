// Sums that run along the inner axis. A lane's sum is what the same lane had a vector ago, and the window of as many numbers as
// there are lanes that ends there; the window comes to be by doubling steps, which look back into the vectors before. So one
// addition alone waits for the vector before, and no lane is told to all others.
#include "executors/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

namespace {

// As wide as the sums of whole rows are on the host, each rounded once.
DType wider(DType d) { return d == DType::f32 ? DType::f64 : accumulator(d); }

}  // namespace

// Each pass over a row begins again.
void Code::begin_scans(uint32_t pass) {
  row_->scans.assign(nest_.exprs.size(), {});
  for (ExprId id = 0; id < nest_.exprs.size(); id++) {
    const fusion::Expr& e = nest_.exprs[id];
    if (e.fn != Fn::cumsum || e.level > pass) continue;
    llvm::Type* element = register_type(b_.getContext(), wider(e.dtype));
    const auto nothing = [&] { return for_lanes(element, llvm::Constant::getNullValue(element)); };
    row_->scans[id].sum = nothing();
    for (unsigned by = 1; by < lanes_ && !nest_.lane_is_outer(); by *= 2) row_->scans[id].windows.push_back(nothing());
  }
}

Value* Code::scan(ExprId id) {
  const fusion::Expr& e = nest_.exprs[id];
  const DType d = wider(e.dtype);
  const Scan& state = row_->scans[id];
  Value* v = convert(b_, spread(evaluate(e.in[0])), accumulator(e.dtype), d);
  unsigned by = 1;
  for (Value* window : state.windows) {
    Value* before = b_.CreateLoad(v->getType(), window);
    b_.CreateStore(v, window);
    v = combine(b_, Fn::sum, v, moved(before, v, by), d);
    by *= 2;
  }
  Value* sum = combine(b_, Fn::sum, b_.CreateLoad(v->getType(), state.sum), v, d);
  b_.CreateStore(sum, state.sum);
  return convert(b_, sum, d, e.dtype);
}

// In each lane what stands so many lanes before it, or behind it where rows are walked from their ends.
Value* Code::moved(Value* before, Value* v, unsigned by) {
  llvm::SmallVector<int, 64> from;
  for (unsigned i = 0; i < lanes_; i++) from.push_back(static_cast<int>(nest_.backwards ? i + by : i + lanes_ - by));
  return nest_.backwards ? b_.CreateShuffleVector(v, before, from) : b_.CreateShuffleVector(before, v, from);
}

}  // namespace thunder::codegen
