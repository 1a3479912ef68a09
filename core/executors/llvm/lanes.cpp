#include "executors/llvm/lanes.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Function.h>

namespace thunder::codegen {
namespace {

constexpr unsigned kRegister = 16;  // floats in a register of AVX-512

}  // namespace

Lanes::Lanes(llvm::IRBuilder<>& builder, Value* like) : b(builder), guard_(builder) {
  b.clearFastMathFlags();
  real_ = like->getType();
  integer_ = shape_of(b.getInt32Ty());
}

llvm::Type* Lanes::shape_of(llvm::Type* element) const {
  auto* vector = llvm::dyn_cast<llvm::VectorType>(real_);
  return vector ? llvm::VectorType::get(element, vector->getElementCount()) : element;
}

Value* Lanes::polynomial(Value* x, std::span<const float> coefficients) {
  Value* sum = real(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, real(coefficients[i]));
  return sum;
}

bool Lanes::avx512() const {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(real_);
  if (!vector || vector->getNumElements() % kRegister) return false;
  llvm::SmallVector<llvm::StringRef> features;
  b.GetInsertBlock()->getParent()->getFnAttribute("target-features").getValueAsString().split(features, ',');
  return llvm::is_contained(features, "+avx512f");
}

Value* Lanes::avx512(llvm::Intrinsic::ID operation, std::initializer_list<Value*> values, Value* immediate) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(real_)->getNumElements();
  auto* piece = llvm::FixedVectorType::get(b.getFloatTy(), kRegister);
  llvm::SmallVector<Value*> results;
  for (unsigned from = 0; from < lanes; from += kRegister) {
    llvm::SmallVector<int> chosen;
    for (unsigned i = 0; i < kRegister; i++) chosen.push_back(static_cast<int>(from + i));
    llvm::SmallVector<Value*> operands;
    for (Value* value : values) operands.push_back(lanes == kRegister ? value : b.CreateShuffleVector(value, chosen));
    if (immediate) operands.push_back(immediate);
    // What masked lanes keep, no lane masked, and the rounding mode that the register of modes has.
    operands.append({llvm::PoisonValue::get(piece), b.getInt16(0xffff), b.getInt32(4)});
    results.push_back(b.CreateIntrinsic(operation, {}, operands));
  }
  return llvm::concatenateVectors(b, results);
}

}  // namespace thunder::codegen
