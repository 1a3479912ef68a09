// Operations on each lane of a float or of a vector of floats, of which elementary functions are made.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <array>
#include <cstdint>
#include <span>

namespace thunder::codegen {

using llvm::Value;

// Emits at the builder's insertion point, without fast-math flags while it lives: the algorithms depend on each
// rounding.
class Lanes {
 public:
  // Constants of the shape of `like`.
  Lanes(llvm::IRBuilder<>& builder, Value* like);

  llvm::IRBuilder<>& b;

  Value* real(float value) const { return llvm::ConstantFP::get(real_, value); }
  Value* integer(uint32_t value) const { return llvm::ConstantInt::get(integer_, value); }
  // The same shape with another element type.
  llvm::Type* type_of_shape(llvm::Type* element) const;

  Value* bits(Value* x) { return b.CreateBitCast(x, integer_); }
  Value* bits_to_float(Value* bits) { return b.CreateBitCast(bits, real_); }
  Value* fma(Value* x, Value* y, Value* z) { return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, z}); }
  Value* fma(Value* x, float y, Value* z) { return fma(x, real(y), z); }
  Value* abs(Value* x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* copysign(Value* x, Value* sign) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign); }
  // Minimum and maximum; NaN is propagated.
  Value* at_most(Value* x, float bound) { return b.CreateSelect(b.CreateFCmpOLT(real(bound), x), real(bound), x); }
  Value* at_least(Value* x, float bound) { return b.CreateSelect(b.CreateFCmpOGT(real(bound), x), real(bound), x); }
  // A polynomial, coefficients from the constant one upwards. Even and odd powers are summed apart, which halves the
  // dependency chain.
  Value* polynomial(Value* x, std::span<Value* const> coefficients);
  Value* polynomial(Value* x, std::span<const float> coefficients);

  // A table lookup: in each lane the entry that the three lowest bits of `index` select; other bits are ignored.
  Value* lookup(Value* index, const std::array<float, 8>& entries);

  // Whether the function may use AVX-512, and the lanes fill whole registers of it.
  bool avx512() const { return has_feature("+avx512f", 16); }
  // Calls an AVX-512 intrinsic on groups of 16 floats, each followed by the arguments `rest` and the current rounding
  // mode.
  Value* avx512(llvm::Intrinsic::ID operation, llvm::ArrayRef<Value*> values, Value* immediate = nullptr);

 private:
  // Whether the function may use a target feature, and the lanes fill whole registers of this width.
  bool has_feature(llvm::StringRef feature, unsigned width) const;
  bool is_aarch64() const;
  unsigned lanes() const;
  Value* lookup_by_bytes(Value* index, const std::array<float, 8>& entries);
  // Applies a function to groups of `width` lanes.
  Value* apply_by_registers(unsigned width, llvm::ArrayRef<Value*> values,
                            llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> operation);

  llvm::IRBuilderBase::FastMathFlagGuard guard_;
  llvm::Type *real_, *integer_;
};

}  // namespace thunder::codegen
