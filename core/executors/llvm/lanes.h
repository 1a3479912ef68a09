// The vocabulary of elementary functions: what one does to each lane of a float or of a vector of floats.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <span>

namespace thunder::codegen {

using llvm::Value;

// Emits at the builder's place, without fast-math flags while it lives: the algorithms depend on each rounding.
class Lanes {
 public:
  // For values of the shape of `like`.
  Lanes(llvm::IRBuilder<>& builder, Value* like);

  llvm::IRBuilder<>& b;

  Value* real(float value) const { return llvm::ConstantFP::get(real_, value); }
  Value* integer(uint32_t value) const { return llvm::ConstantInt::get(integer_, value); }
  // The same shape of another element.
  llvm::Type* shape_of(llvm::Type* element) const;

  Value* bits(Value* x) { return b.CreateBitCast(x, integer_); }
  Value* number(Value* bits) { return b.CreateBitCast(bits, real_); }
  Value* fma(Value* x, Value* y, Value* z) { return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, z}); }
  Value* fma(Value* x, float y, Value* z) { return fma(x, real(y), z); }
  Value* abs(Value* x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* copysign(Value* x, Value* sign) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign); }
  // The smaller, the larger of the two; NaN stays.
  Value* at_most(Value* x, float bound) { return b.CreateSelect(b.CreateFCmpOLT(real(bound), x), real(bound), x); }
  Value* at_least(Value* x, float bound) { return b.CreateSelect(b.CreateFCmpOGT(real(bound), x), real(bound), x); }
  // Horner's rule; coefficients from the constant one upwards.
  Value* polynomial(Value* x, std::span<const float> coefficients);

  // Whether the function being built may use AVX-512, and the lanes fill whole registers of it.
  bool avx512() const;
  // Calls one of its operations: on floats of 16 lanes, each followed by `rest`, at the current rounding.
  Value* avx512(llvm::Intrinsic::ID operation, std::initializer_list<Value*> values, Value* immediate = nullptr);

 private:
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
  llvm::Type *real_, *integer_;
};

}  // namespace thunder::codegen
