// Sums that run along the inner axis: within a vector by doubling steps, from one to the next by what is carried over.
#include "executors/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

namespace {

// As wide as the sums of whole rows are on the host, each rounded once.
DType wider(DType d) { return d == DType::f32 ? DType::f64 : accumulator(d); }

}  // namespace

// Each pass over a row begins again.
void Code::begin_scans(uint32_t pass) {
  carries_.assign(nest_.exprs.size(), nullptr);
  for (ExprId id = 0; id < nest_.exprs.size(); id++) {
    const fusion::Expr& e = nest_.exprs[id];
    if (e.fn != Fn::cumsum || e.level > pass) continue;
    llvm::Type* element = register_type(b_.getContext(), wider(e.dtype));
    carries_[id] = for_lanes(element, llvm::Constant::getNullValue(element));
  }
}

Value* Code::scan(ExprId id) {
  const fusion::Expr& e = nest_.exprs[id];
  const DType d = wider(e.dtype);
  const bool real = d == DType::f32 || d == DType::f64;
  const auto add = [&](Value* x, Value* y) { return real ? b_.CreateFAdd(x, y) : b_.CreateAdd(x, y); };
  Value* v = convert(b_, spread(evaluate(e.in[0])), accumulator(e.dtype), d);
  Value* carried = b_.CreateLoad(v->getType(), carries_[id]);
  if (!nest_.lane_is_outer()) v = running(v, real);
  Value* sum = add(carried, v);
  Value* last = sum;
  // By another way than the sums go, so that the next vector waits for one addition.
  if (!nest_.lane_is_outer()) {
    const llvm::SmallVector<int, 64> all(lanes_, nest_.backwards ? 0 : static_cast<int>(lanes_) - 1);
    last = add(carried, b_.CreateShuffleVector(v, all));
  }
  b_.CreateStore(last, carries_[id]);
  return convert(b_, sum, d, e.dtype);
}

// Each lane's sum with those before it, or with those behind it.
Value* Code::running(Value* v, bool real) {
  const int lanes = static_cast<int>(lanes_);
  Value* zero = llvm::Constant::getNullValue(v->getType());
  for (int by = 1; by < lanes; by *= 2) {
    llvm::SmallVector<int, 64> moved;
    for (int i = 0; i < lanes; i++) {
      const int from = nest_.backwards ? i + by : i - by;
      moved.push_back(from >= 0 && from < lanes ? from : lanes);
    }
    Value* shifted = b_.CreateShuffleVector(v, zero, moved);
    v = real ? b_.CreateFAdd(v, shifted) : b_.CreateAdd(v, shifted);
  }
  return v;
}

}  // namespace thunder::codegen
