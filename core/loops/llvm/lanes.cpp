#include "loops/llvm/lanes.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

namespace thunder::codegen {

Lanes::Lanes(llvm::IRBuilder<>& builder, Value* like) : b(builder), guard_(builder) {
  b.clearFastMathFlags();
  real_ = like->getType();
  integer_ = type_of_shape(b.getInt32Ty());
}

llvm::Type* Lanes::type_of_shape(llvm::Type* element) const {
  auto* vector = llvm::dyn_cast<llvm::VectorType>(real_);
  return vector ? llvm::VectorType::get(element, vector->getElementCount()) : element;
}

Value* Lanes::polynomial(Value* x, std::span<Value* const> c) {
  Value* square = b.CreateFMul(x, x);
  // The terms of every other power, from `first` on.
  const auto half = [&](size_t first) {
    size_t i = c.size() - 1 - (c.size() - 1 - first) % 2;
    Value* sum = c[i];
    for (; i > first; i -= 2) sum = fma(sum, square, c[i - 2]);
    return sum;
  };
  return c.size() == 1 ? c[0] : fma(half(1), x, half(0));
}

Value* Lanes::polynomial(Value* x, std::span<const float> coefficients) {
  llvm::SmallVector<Value*, 16> values;
  for (float c : coefficients) values.push_back(real(c));
  return polynomial(x, std::span<Value* const>(values.data(), values.size()));
}

Value* Lanes::lookup(Value* index, const std::array<float, 8>& entries) {
  llvm::SmallVector<float, 16> table(entries.begin(), entries.end());
  if (has_feature("+avx512f", 16)) {
    table.append(entries.begin(), entries.end());
    Value* values = llvm::ConstantDataVector::get(b.getContext(), table);
    return apply_by_registers(16, index, [&](auto i) {
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {}, {values, i[0]});
    });
  }
  Value* values = llvm::ConstantDataVector::get(b.getContext(), table);
  if (has_feature("+avx2", 8))
    return apply_by_registers(8, index, [&](auto i) {
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {}, {values, i[0]});
    });
  index = b.CreateAnd(index, integer(7));
  if (is_aarch64() && lanes() % 4 == 0) return lookup_by_bytes(index, entries);
  if (!llvm::isa<llvm::VectorType>(real_)) return b.CreateExtractElement(values, index);
  Value* result = llvm::PoisonValue::get(real_);
  for (unsigned i = 0; i < lanes(); i++)
    result = b.CreateInsertElement(result, b.CreateExtractElement(values, b.CreateExtractElement(index, i)), i);
  return result;
}

// Looks up by permuting bytes of two registers.
Value* Lanes::lookup_by_bytes(Value* index, const std::array<float, 8>& entries) {
  auto* bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 16);
  const auto table = [&](size_t first) {
    return b.CreateBitCast(llvm::ConstantDataVector::get(b.getContext(), llvm::ArrayRef(entries.data() + first, 4)),
                           bytes);
  };
  index = b.CreateAdd(b.CreateMul(index, integer(0x04040404)), integer(0x03020100));
  return apply_by_registers(4, index, [&](auto i) {
    Value* found = b.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_tbl2, {bytes},
                                     {table(0), table(4), b.CreateBitCast(i[0], bytes)});
    return b.CreateBitCast(found, llvm::FixedVectorType::get(b.getFloatTy(), 4));
  });
}

bool Lanes::is_aarch64() const { return llvm::Triple(b.GetInsertBlock()->getModule()->getTargetTriple()).isAArch64(); }

unsigned Lanes::lanes() const {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(real_);
  return vector ? vector->getNumElements() : 1;
}

bool Lanes::has_feature(llvm::StringRef feature, unsigned width) const {
  if (lanes() % width) return false;
  llvm::SmallVector<llvm::StringRef> features;
  b.GetInsertBlock()->getParent()->getFnAttribute("target-features").getValueAsString().split(features, ',');
  return llvm::is_contained(features, feature);
}

Value* Lanes::apply_by_registers(unsigned width, llvm::ArrayRef<Value*> values,
                                 llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> operation) {
  llvm::SmallVector<Value*> results;
  for (unsigned from = 0; from < lanes(); from += width) {
    llvm::SmallVector<int> indices;
    for (unsigned i = 0; i < width; i++) indices.push_back(static_cast<int>(from + i));
    llvm::SmallVector<Value*> groups;
    for (Value* value : values) groups.push_back(lanes() == width ? value : b.CreateShuffleVector(value, indices));
    results.push_back(operation(groups));
  }
  return llvm::concatenateVectors(b, results);
}

Value* Lanes::avx512(llvm::Intrinsic::ID operation, llvm::ArrayRef<Value*> values, Value* immediate) {
  return apply_by_registers(16, values, [&](llvm::ArrayRef<Value*> groups) {
    llvm::SmallVector<Value*> operands(groups);
    if (immediate) operands.push_back(immediate);
    // Arguments of the masked intrinsic: pass-through, a full mask, and the current rounding mode.
    operands.append({llvm::PoisonValue::get(groups[0]->getType()), b.getInt16(0xffff), b.getInt32(4)});
    return b.CreateIntrinsic(operation, {}, operands);
  });
}

}  // namespace thunder::codegen
