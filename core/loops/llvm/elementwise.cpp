#include "loops/llvm/elementwise.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "loops/llvm/math.h"

namespace thunder::codegen {
namespace {

using llvm::Value;

bool real(DType d) { return d == DType::f32 || d == DType::f64 || d == DType::bf16; }
bool is_signed(DType d) { return d == DType::i32 || d == DType::i64; }

// A product of reals and the sum to which it is added, both marked, are one instruction where the machine has it: they are rounded
// once. Lines of a program are not joined: x * x - x * x is 0.
Value* may_join(Value* v) {
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(v); made && v->getType()->isFPOrFPVectorTy()) made->setHasAllowContract(true);
  return v;
}

// A function of the C library, a call for each lane: for what is rare.
Value* by_lane(Builder& b, const char* name, llvm::ArrayRef<Value*> operands) {
  llvm::Type* element = operands[0]->getType()->getScalarType();
  llvm::SmallVector<llvm::Type*, 2> types(operands.size(), element);
  llvm::Module* module = b.GetInsertBlock()->getModule();
  const std::string symbol = element->isFloatTy() ? std::string(name) + "f" : name;
  auto callee = module->getOrInsertFunction(symbol, llvm::FunctionType::get(element, types, false));
  if (!is_vector(operands[0])) return b.CreateCall(callee, operands);
  auto* vector = llvm::cast<llvm::FixedVectorType>(operands[0]->getType());
  Value* out = llvm::PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); i++) {
    llvm::SmallVector<Value*, 2> lane;
    for (Value* v : operands) lane.push_back(b.CreateExtractElement(v, i));
    out = b.CreateInsertElement(out, b.CreateCall(callee, lane), i);
  }
  return out;
}

using EmitMath = Value* (*)(Builder&, Value*);
Value* elementary(Builder& b, EmitMath emit, const char* name, Value* x) {
  return x->getType()->getScalarType()->isFloatTy() ? emit(b, x) : by_lane(b, name, {x});
}

// Rounds to the nearest bf16, ties to even; NaN stays NaN.
Value* round_bf16(Builder& b, Value* v) {
  llvm::Type* i32 = like(v, b.getInt32Ty());
  Value* bits = b.CreateBitCast(v, i32);
  const auto number = [&](uint32_t n) { return llvm::ConstantInt::get(i32, n); };
  Value* odd = b.CreateAnd(b.CreateLShr(bits, number(16)), number(1));
  Value* rounded = b.CreateAnd(b.CreateAdd(bits, b.CreateAdd(odd, number(0x7fff))), number(0xffff0000u));
  Value* nan = b.CreateAnd(b.CreateOr(bits, number(0x400000)), number(0xffff0000u));
  return b.CreateBitCast(b.CreateSelect(b.CreateFCmpUNO(v, v), nan, rounded), v->getType());
}

Value* greater(Builder& b, Value* x, Value* y, DType d) {
  return real(d) ? b.CreateFCmpOGT(x, y) : is_signed(d) ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y);
}
// The greater, or the lesser; the first NaN.
Value* extremum(Builder& b, Value* x, Value* y, DType d, bool maximum) {
  Value* first = maximum ? greater(b, x, y, d) : greater(b, y, x, d);
  Value* out = b.CreateSelect(first, x, y);
  return real(d) ? b.CreateSelect(b.CreateFCmpUNO(x, x), x, out) : out;
}

Value* compare(Builder& b, Fn fn, Value* x, Value* y, DType d) {
  using P = llvm::CmpInst::Predicate;
  const bool r = real(d), s = is_signed(d);
  switch (fn) {
    case Fn::eq: return b.CreateCmp(r ? P::FCMP_OEQ : P::ICMP_EQ, x, y);
    case Fn::ne: return b.CreateCmp(r ? P::FCMP_UNE : P::ICMP_NE, x, y);
    case Fn::lt: return b.CreateCmp(r ? P::FCMP_OLT : s ? P::ICMP_SLT : P::ICMP_ULT, x, y);
    case Fn::le: return b.CreateCmp(r ? P::FCMP_OLE : s ? P::ICMP_SLE : P::ICMP_ULE, x, y);
    case Fn::gt: return b.CreateCmp(r ? P::FCMP_OGT : s ? P::ICMP_SGT : P::ICMP_UGT, x, y);
    default: return b.CreateCmp(r ? P::FCMP_OGE : s ? P::ICMP_SGE : P::ICMP_UGE, x, y);
  }
}

Value* arithmetic(Builder& b, Fn fn, Value* x, Value* y, DType d) {
  const bool r = real(d), boolean = d == DType::boolean;
  switch (fn) {
    case Fn::add: return r ? b.CreateFAdd(x, y) : boolean ? b.CreateOr(x, y) : b.CreateAdd(x, y);
    case Fn::sub: return r ? b.CreateFSub(x, y) : b.CreateSub(x, y);
    case Fn::mul: return r ? may_join(b.CreateFMul(x, y)) : boolean ? b.CreateAnd(x, y) : b.CreateMul(x, y);
    case Fn::div: return b.CreateFDiv(x, y);
    case Fn::fmod: return by_lane(b, "fmod", {x, y});
    case Fn::pow: return by_lane(b, "pow", {x, y});
    default: return extremum(b, x, y, d, fn == Fn::maximum);
  }
}

Value* unary(Builder& b, Fn fn, Value* x, DType d, const loops::Bounds& known) {
  const bool r = real(d);
  Value* zero = llvm::Constant::getNullValue(x->getType());
  switch (fn) {
    case Fn::abs:
      if (r) return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
      return is_signed(d) ? b.CreateSelect(b.CreateICmpSLT(x, zero), b.CreateSub(zero, x), x) : x;
    case Fn::neg: return r ? b.CreateFNeg(x) : b.CreateSub(zero, x);
    case Fn::sign: {
      Value* one = constant(x, x->getType()->getScalarType(), 1);
      Value* minus = constant(x, x->getType()->getScalarType(), is_signed(d) || r ? -1 : 0);
      return b.CreateSelect(greater(b, x, zero, d), one, b.CreateSelect(greater(b, zero, x, d), minus, zero));
    }
    case Fn::floor: return r ? b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x) : x;
    case Fn::logical_not: return r ? b.CreateFCmpOEQ(x, zero) : b.CreateICmpEQ(x, zero);
    case Fn::sqrt: return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case Fn::rsqrt: return b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case Fn::reciprocal: return b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), x);
    case Fn::exp: return elementary(b, known.high <= 0 ? emit_exp_of_negative : emit_exp, "exp", x);
    case Fn::log: return elementary(b, emit_log, "log", x);
    case Fn::sin: return elementary(b, known.within(1) ? emit_sin_of_one : emit_sin, "sin", x);
    case Fn::cos: return elementary(b, known.within(1) ? emit_cos_of_one : emit_cos, "cos", x);
    case Fn::tanh: return elementary(b, emit_tanh, "tanh", x);
    default: return elementary(b, emit_erf, "erf", x);
  }
}

}  // namespace

llvm::Type* register_type(llvm::LLVMContext& c, DType d) {
  switch (d) {
    case DType::boolean: return llvm::Type::getInt1Ty(c);
    case DType::u8: return llvm::Type::getInt8Ty(c);
    case DType::i32: return llvm::Type::getInt32Ty(c);
    case DType::i64: return llvm::Type::getInt64Ty(c);
    case DType::f64: return llvm::Type::getDoubleTy(c);
    default: return llvm::Type::getFloatTy(c);
  }
}
llvm::Type* memory_type(llvm::LLVMContext& c, DType d) {
  if (d == DType::boolean) return llvm::Type::getInt8Ty(c);
  if (d == DType::bf16) return llvm::Type::getInt16Ty(c);
  return register_type(c, d);
}
llvm::Type* like(Value* v, llvm::Type* element) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}
Value* constant(Value* lanes, llvm::Type* element, double value) {
  llvm::Type* type = like(lanes, element);
  if (element->isFloatingPointTy()) return llvm::ConstantFP::get(type, value);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(static_cast<int64_t>(value)), true);
}

Value* to_memory(Builder& b, Value* v, DType d) {
  if (d == DType::boolean) return b.CreateZExt(v, like(v, b.getInt8Ty()));
  if (d != DType::bf16) return v;
  Value* bits = b.CreateBitCast(v, like(v, b.getInt32Ty()));
  return b.CreateTrunc(b.CreateLShr(bits, llvm::ConstantInt::get(bits->getType(), 16)), like(v, b.getInt16Ty()));
}
Value* from_memory(Builder& b, Value* v, DType d) {
  if (d == DType::boolean) return b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
  if (d != DType::bf16) return v;
  Value* bits = b.CreateZExt(v, like(v, b.getInt32Ty()));
  return b.CreateBitCast(b.CreateShl(bits, llvm::ConstantInt::get(bits->getType(), 16)), like(v, b.getFloatTy()));
}

Value* convert(Builder& b, Value* v, DType from, DType to) {
  if (from == to) return v;
  llvm::Type* type = like(v, register_type(b.getContext(), to));
  Value* zero = llvm::Constant::getNullValue(v->getType());
  if (to == DType::boolean) return real(from) ? b.CreateFCmpUNE(v, zero) : b.CreateICmpNE(v, zero);
  if (real(from) && real(to)) {
    v = b.CreateFPCast(v, type);
    return to == DType::bf16 ? round_bf16(b, v) : v;
  }
  if (real(from)) {
    // Through the widest integer, saturating there; NaN becomes zero.
    Value* wide = b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {like(v, b.getInt64Ty()), v->getType()}, {v});
    return b.CreateTrunc(wide, type);
  }
  if (real(to) && from == DType::boolean) return b.CreateSelect(v, constant(v, type->getScalarType(), 1), constant(v, type->getScalarType(), 0));
  if (real(to)) {
    v = is_signed(from) ? b.CreateSIToFP(v, type) : b.CreateUIToFP(v, type);
    return to == DType::bf16 ? round_bf16(b, v) : v;
  }
  return b.CreateIntCast(v, type, is_signed(from));
}

Value* apply(Builder& b, Fn fn, llvm::ArrayRef<Value*> x, DType in, DType out, const loops::Bounds& known) {
  if (fn == Fn::convert) return convert(b, x[0], in, out);
  if (fn == Fn::where) return b.CreateSelect(x[0], x[1], x[2]);
  if (fn >= Fn::eq && fn <= Fn::ge) return compare(b, fn, x[0], x[1], in);
  Value* v = x.size() == 2 ? arithmetic(b, fn, x[0], x[1], in) : unary(b, fn, x[0], in, known);
  return out == DType::bf16 ? round_bf16(b, v) : v;
}

DType accumulator(DType d) { return d == DType::bf16 ? DType::f32 : d; }

Value* neutral(llvm::LLVMContext& c, Fn fn, DType d) {
  llvm::Type* type = register_type(c, d);
  if (fn == Fn::sum) return llvm::Constant::getNullValue(type);
  const bool maximum = fn == Fn::amax;
  if (real(d)) return llvm::ConstantFP::getInfinity(type, maximum);
  const unsigned bits = type->getIntegerBitWidth();
  if (!is_signed(d)) return llvm::ConstantInt::get(c, maximum ? llvm::APInt::getMinValue(bits) : llvm::APInt::getMaxValue(bits));
  return llvm::ConstantInt::get(c, maximum ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getSignedMaxValue(bits));
}
Value* combine(Builder& b, Fn fn, Value* sum, Value* v, DType d) {
  if (fn == Fn::sum) return may_join(arithmetic(b, Fn::add, sum, v, d));
  return extremum(b, sum, v, d, fn == Fn::amax);
}

}  // namespace thunder::codegen
