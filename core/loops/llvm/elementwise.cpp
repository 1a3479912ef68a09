#include "loops/llvm/elementwise.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "loops/llvm/math.h"

namespace thunder::codegen {
namespace {

using llvm::Value;

// Where the machine has FMA, LLVM fuses a multiplication with an addition that uses its result if both have the
// contract flag, and rounds once. Only products and the additions of sums have it, so that x * x - x * x stays 0.
Value* allow_contract(Value* v) {
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(v); made && v->getType()->isFPOrFPVectorTy())
    made->setHasAllowContract(true);
  return v;
}

// Calls a function of the C library for each lane. This is for rare functions.
Value* call_for_each_lane(Builder& b, const char* name, llvm::ArrayRef<Value*> operands) {
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
Value* emit_or_call(Builder& b, EmitMath emit, const char* name, Value* x) {
  return x->getType()->getScalarType()->isFloatTy() ? emit(b, x) : call_for_each_lane(b, name, {x});
}

// Whether the target converts between f16 and f32 by instructions.
bool converts_f16(Builder& b) { return b.GetInsertBlock()->getParent()->hasFnAttribute(kConvertsF16); }

// Conversions between f16 and f32 by integer operations, as f16 in ir/elements.h does them.
Value* f32_to_f16_bits(Builder& b, Value* v) {
  llvm::Type *i32 = same_shape_type(v, b.getInt32Ty()), *f32 = same_shape_type(v, b.getFloatTy());
  const auto number = [&](uint32_t n) { return llvm::ConstantInt::get(i32, n); };
  Value* bits = b.CreateBitCast(v, i32);
  Value *sign = b.CreateAnd(bits, number(0x80000000u)), *u = b.CreateXor(bits, sign);
  Value* odd = b.CreateAnd(b.CreateLShr(u, number(13)), number(1));
  Value* normal = b.CreateLShr(b.CreateAdd(b.CreateAdd(u, number(0xfffu - (112u << 23))), odd), number(13));
  Value* shift = b.CreateBitCast(number(126u << 23), f32);
  Value* small = b.CreateSub(b.CreateBitCast(b.CreateFAdd(b.CreateBitCast(u, f32), shift), i32), number(126u << 23));
  Value* nan = b.CreateOr(number(0x7e00), b.CreateAnd(b.CreateLShr(u, number(13)), number(0x3ff)));
  Value* large = b.CreateSelect(b.CreateICmpUGT(u, number(0xffu << 23)), nan, number(0x7c00));
  Value* finite = b.CreateSelect(b.CreateICmpULT(u, number(113u << 23)), small, normal);
  Value* magnitude = b.CreateSelect(b.CreateICmpUGE(u, number(143u << 23)), large, finite);
  return b.CreateTrunc(b.CreateOr(magnitude, b.CreateLShr(sign, number(16))), same_shape_type(v, b.getInt16Ty()));
}
Value* f16_bits_to_f32(Builder& b, Value* v) {
  llvm::Type *i32 = same_shape_type(v, b.getInt32Ty()), *f32 = same_shape_type(v, b.getFloatTy());
  const auto number = [&](uint32_t n) { return llvm::ConstantInt::get(i32, n); };
  Value* bits = b.CreateZExt(v, i32);
  Value* sign = b.CreateShl(b.CreateAnd(bits, number(0x8000)), number(16));
  Value* u = b.CreateShl(b.CreateAnd(bits, number(0x7fff)), number(13));
  Value* scaled = b.CreateBitCast(b.CreateFMul(b.CreateBitCast(u, f32), llvm::ConstantFP::get(f32, 0x1p112)), i32);
  Value* large = b.CreateOr(u, number(0xffu << 23));
  return b.CreateBitCast(b.CreateOr(sign, b.CreateSelect(b.CreateICmpUGE(u, number(31u << 23)), large, scaled)), f32);
}

// Rounds to the nearest bf16, ties to even; NaN stays NaN.
Value* round_bf16(Builder& b, Value* v) {
  llvm::Type* i32 = same_shape_type(v, b.getInt32Ty());
  Value* bits = b.CreateBitCast(v, i32);
  const auto number = [&](uint32_t n) { return llvm::ConstantInt::get(i32, n); };
  Value* odd = b.CreateAnd(b.CreateLShr(bits, number(16)), number(1));
  Value* rounded = b.CreateAnd(b.CreateAdd(bits, b.CreateAdd(odd, number(0x7fff))), number(0xffff0000u));
  Value* nan = b.CreateAnd(b.CreateOr(bits, number(0x400000)), number(0xffff0000u));
  return b.CreateBitCast(b.CreateSelect(b.CreateFCmpUNO(v, v), nan, rounded), v->getType());
}

// Rounds as an element of this type is stored.
Value* round(Builder& b, Value* v, DType d) {
  if (d == DType::f16) return from_memory(b, to_memory(b, v, d), d);
  return d == DType::bf16 ? round_bf16(b, v) : v;
}

Value* greater(Builder& b, Value* x, Value* y, DType d) {
  return is_real(d) ? b.CreateFCmpOGT(x, y) : is_signed(d) ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y);
}
// Maximum or minimum; the first NaN if there is one.
Value* extremum(Builder& b, Value* x, Value* y, DType d, bool maximum) {
  Value* first = maximum ? greater(b, x, y, d) : greater(b, y, x, d);
  Value* out = b.CreateSelect(first, x, y);
  return is_real(d) ? b.CreateSelect(b.CreateFCmpUNO(x, x), x, out) : out;
}

// One application: operands, types, and the value range of the first operand.
struct Call {
  Builder& b;
  llvm::ArrayRef<Value*> x;
  DType in;
  const loops::ValueRange& known;

  bool is_real() const { return thunder::is_real(in); }
  Value* compare(llvm::CmpInst::Predicate reals, llvm::CmpInst::Predicate signs,
                 llvm::CmpInst::Predicate others) const {
    return b.CreateCmp(is_real() ? reals : is_signed(in) ? signs : others, x[0], x[1]);
  }
};
using P = llvm::CmpInst::Predicate;

Value* add(const Call& c) {
  if (c.is_real()) return c.b.CreateFAdd(c.x[0], c.x[1]);
  return c.in == DType::boolean ? c.b.CreateOr(c.x[0], c.x[1]) : c.b.CreateAdd(c.x[0], c.x[1]);
}

Value* mul(const Call& c) {
  if (c.is_real()) return allow_contract(c.b.CreateFMul(c.x[0], c.x[1]));
  return c.in == DType::boolean ? c.b.CreateAnd(c.x[0], c.x[1]) : c.b.CreateMul(c.x[0], c.x[1]);
}

Value* abs(const Call& c) {
  Value *x = c.x[0], *zero = llvm::Constant::getNullValue(x->getType());
  if (c.is_real()) return c.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  return is_signed(c.in) ? c.b.CreateSelect(c.b.CreateICmpSLT(x, zero), c.b.CreateSub(zero, x), x) : x;
}

Value* sign(const Call& c) {
  Value *x = c.x[0], *zero = llvm::Constant::getNullValue(x->getType());
  llvm::Type* element = x->getType()->getScalarType();
  Value *one = constant_like(x, element, 1),
        *minus = constant_like(x, element, is_signed(c.in) || c.is_real() ? -1 : 0);
  return c.b.CreateSelect(greater(c.b, x, zero, c.in), one, c.b.CreateSelect(greater(c.b, zero, x, c.in), minus, zero));
}

Value* signbit(const Call& c) {
  Value* bits = c.b.CreateBitCast(c.x[0], same_shape_type(c.x[0], c.b.getIntNTy(c.in == DType::f64 ? 64 : 32)));
  return c.b.CreateICmpSLT(bits, llvm::Constant::getNullValue(bits->getType()));
}

Value* logical_not(const Call& c) {
  Value* zero = llvm::Constant::getNullValue(c.x[0]->getType());
  return c.is_real() ? c.b.CreateFCmpOEQ(c.x[0], zero) : c.b.CreateICmpEQ(c.x[0], zero);
}

Value* one_over(Builder& b, Value* x) { return b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), x); }
Value* square_root(const Call& c) { return c.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, c.x[0]); }

struct Row {
  Fn fn;
  Value* (*emit)(const Call&);
};

// In the order of the enum. `convert` is missing, since it alone depends on the result's type.
constexpr Row kRows[] = {
    {Fn::abs, abs},
    {Fn::neg, [](const Call& c) { return c.is_real() ? c.b.CreateFNeg(c.x[0]) : c.b.CreateNeg(c.x[0]); }},
    {Fn::sign, sign},
    {Fn::signbit, signbit},
    {Fn::floor,
     [](const Call& c) { return c.is_real() ? c.b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, c.x[0]) : c.x[0]; }},
    {Fn::logical_not, logical_not},
    {Fn::exp,
     [](const Call& c) {
       return emit_or_call(c.b, c.known.high <= 0 ? emit_exp_of_negative : emit_exp, "exp", c.x[0]);
     }},
    {Fn::log, [](const Call& c) { return emit_or_call(c.b, emit_log, "log", c.x[0]); }},
    {Fn::sqrt, square_root},
    {Fn::rsqrt, [](const Call& c) { return one_over(c.b, square_root(c)); }},
    {Fn::reciprocal, [](const Call& c) { return one_over(c.b, c.x[0]); }},
    {Fn::sin,
     [](const Call& c) { return emit_or_call(c.b, c.known.is_within(1) ? emit_sin_of_one : emit_sin, "sin", c.x[0]); }},
    {Fn::cos,
     [](const Call& c) { return emit_or_call(c.b, c.known.is_within(1) ? emit_cos_of_one : emit_cos, "cos", c.x[0]); }},
    {Fn::tanh, [](const Call& c) { return emit_or_call(c.b, emit_tanh, "tanh", c.x[0]); }},
    {Fn::erf, [](const Call& c) { return emit_or_call(c.b, emit_erf, "erf", c.x[0]); }},
    {Fn::convert, nullptr},
    {Fn::add, add},
    {Fn::sub,
     [](const Call& c) { return c.is_real() ? c.b.CreateFSub(c.x[0], c.x[1]) : c.b.CreateSub(c.x[0], c.x[1]); }},
    {Fn::mul, mul},
    {Fn::div, [](const Call& c) { return c.b.CreateFDiv(c.x[0], c.x[1]); }},
    {Fn::fmod, [](const Call& c) { return call_for_each_lane(c.b, "fmod", c.x); }},
    {Fn::pow, [](const Call& c) { return call_for_each_lane(c.b, "pow", c.x); }},
    {Fn::maximum, [](const Call& c) { return extremum(c.b, c.x[0], c.x[1], c.in, true); }},
    {Fn::minimum, [](const Call& c) { return extremum(c.b, c.x[0], c.x[1], c.in, false); }},
    {Fn::eq, [](const Call& c) { return c.compare(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ); }},
    {Fn::ne, [](const Call& c) { return c.compare(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE); }},
    {Fn::lt, [](const Call& c) { return c.compare(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT); }},
    {Fn::le, [](const Call& c) { return c.compare(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE); }},
    {Fn::gt, [](const Call& c) { return c.compare(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT); }},
    {Fn::ge, [](const Call& c) { return c.compare(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE); }},
    {Fn::where, [](const Call& c) { return c.b.CreateSelect(c.x[0], c.x[1], c.x[2]); }},
};

constexpr size_t row_of(Fn fn) { return static_cast<size_t>(fn) - static_cast<size_t>(Fn::abs); }
constexpr bool each_function_has_its_row() {
  for (size_t i = 0; i < std::size(kRows); i++)
    if (row_of(kRows[i].fn) != i || (!kRows[i].emit && kRows[i].fn != Fn::convert)) return false;
  size_t elementwise = 0;
  for (size_t fn = 0; fn < loops::kFunctions; fn++)
    elementwise += kind_of(static_cast<Fn>(fn)) == loops::ExprKind::elementwise;
  return elementwise == std::size(kRows);
}
static_assert(each_function_has_its_row());

}  // namespace

llvm::Type* register_type(llvm::LLVMContext& c, DType d) {
  if (d == DType::boolean) return llvm::Type::getInt1Ty(c);
  if (is_integer(d)) return llvm::Type::getIntNTy(c, static_cast<unsigned>(8 * size_of(d)));
  return d == DType::f64 ? llvm::Type::getDoubleTy(c) : llvm::Type::getFloatTy(c);
}
llvm::Type* memory_type(llvm::LLVMContext& c, DType d) {
  if (d == DType::boolean) return llvm::Type::getInt8Ty(c);
  if (is_half(d)) return llvm::Type::getInt16Ty(c);
  return register_type(c, d);
}
llvm::Type* same_shape_type(Value* v, llvm::Type* element) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}
Value* constant_like(Value* lanes, llvm::Type* element, double value) {
  llvm::Type* type = same_shape_type(lanes, element);
  if (element->isFloatingPointTy()) return llvm::ConstantFP::get(type, value);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(static_cast<int64_t>(value)), true);
}

Value* to_memory(Builder& b, Value* v, DType d) {
  if (d == DType::boolean) return b.CreateZExt(v, same_shape_type(v, b.getInt8Ty()));
  if (d == DType::f16 && converts_f16(b))
    return b.CreateBitCast(b.CreateFPTrunc(v, same_shape_type(v, b.getHalfTy())), same_shape_type(v, b.getInt16Ty()));
  if (d == DType::f16) return f32_to_f16_bits(b, v);
  if (d != DType::bf16) return v;
  Value* bits = b.CreateBitCast(v, same_shape_type(v, b.getInt32Ty()));
  return b.CreateTrunc(b.CreateLShr(bits, llvm::ConstantInt::get(bits->getType(), 16)),
                       same_shape_type(v, b.getInt16Ty()));
}
Value* from_memory(Builder& b, Value* v, DType d) {
  if (d == DType::boolean) return b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
  if (d == DType::f16 && converts_f16(b))
    return b.CreateFPExt(b.CreateBitCast(v, same_shape_type(v, b.getHalfTy())), same_shape_type(v, b.getFloatTy()));
  if (d == DType::f16) return f16_bits_to_f32(b, v);
  if (d != DType::bf16) return v;
  Value* bits = b.CreateZExt(v, same_shape_type(v, b.getInt32Ty()));
  return b.CreateBitCast(b.CreateShl(bits, llvm::ConstantInt::get(bits->getType(), 16)),
                         same_shape_type(v, b.getFloatTy()));
}

Value* convert(Builder& b, Value* v, DType from, DType to) {
  if (from == to) return v;
  llvm::Type* type = same_shape_type(v, register_type(b.getContext(), to));
  Value* zero = llvm::Constant::getNullValue(v->getType());
  if (to == DType::boolean) return is_real(from) ? b.CreateFCmpUNE(v, zero) : b.CreateICmpNE(v, zero);
  if (is_real(from) && is_real(to)) return round(b, b.CreateFPCast(v, type), to);
  if (is_real(from)) {
    // Converts through the widest integer with saturation; NaN becomes zero. Above zero u64 has more numbers.
    const auto saturated = [&](llvm::Intrinsic::ID id) {
      return b.CreateIntrinsic(id, {same_shape_type(v, b.getInt64Ty()), v->getType()}, {v});
    };
    Value* wide = saturated(llvm::Intrinsic::fptosi_sat);
    if (to != DType::u64) return b.CreateTrunc(wide, type);
    Value* large = b.CreateFCmpOGE(v, constant_like(v, v->getType()->getScalarType(), 0x1p63));
    return b.CreateSelect(large, saturated(llvm::Intrinsic::fptoui_sat), wide);
  }
  if (is_real(to) && from == DType::boolean)
    return b.CreateSelect(v, constant_like(v, type->getScalarType(), 1), constant_like(v, type->getScalarType(), 0));
  if (is_real(to)) return round(b, is_signed(from) ? b.CreateSIToFP(v, type) : b.CreateUIToFP(v, type), to);
  return b.CreateIntCast(v, type, is_signed(from));
}

Value* apply(Builder& b, Fn fn, llvm::ArrayRef<Value*> x, DType in, DType out, const loops::ValueRange& known) {
  if (fn == Fn::convert) return convert(b, x[0], in, out);
  Value* v = kRows[row_of(fn)].emit({b, x, in, known});
  return fn == Fn::where ? v : round(b, v, out);
}

DType accumulator(DType d) { return compute_dtype(d); }

Value* neutral(llvm::LLVMContext& c, Fn fn, DType d) {
  llvm::Type* type = register_type(c, d);
  if (fn == Fn::sum) return llvm::Constant::getNullValue(type);
  const bool maximum = fn == Fn::amax;
  if (is_real(d)) return llvm::ConstantFP::getInfinity(type, maximum);
  const unsigned bits = type->getIntegerBitWidth();
  if (!is_signed(d))
    return llvm::ConstantInt::get(c, maximum ? llvm::APInt::getMinValue(bits) : llvm::APInt::getMaxValue(bits));
  const auto least = maximum ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getSignedMaxValue(bits);
  return llvm::ConstantInt::get(c, least);
}
Value* combine(Builder& b, Fn fn, Value* sum, Value* v, DType d) {
  if (fn == Fn::sum) return allow_contract(add({b, {sum, v}, d, {}}));
  return extremum(b, sum, v, d, fn == Fn::amax);
}

}  // namespace thunder::codegen
