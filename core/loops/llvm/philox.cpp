// Emits Philox4x32-10 (Salmon, Moraes, Dror, Shaw, 2011) on vectors, with the same bits as ops/philox.h.
#include <array>

#include "loops/llvm/elementwise.h"

namespace thunder::codegen {
namespace {

using llvm::Value;
using Block = std::array<Value*, 4>;

Value* number(Value* lanes, Builder& b, uint64_t n) {
  return llvm::ConstantInt::get(same_shape_type(lanes, b.getInt64Ty()), n);
}

// All words are 32 bits, zero-extended to 64, in which products are exact.
Block philox_rounds(Builder& b, Block c, Value* k0, Value* k1) {
  Value* mask = number(c[0], b, 0xffffffffu);
  Value* shift = number(c[0], b, 32);
  for (int round = 0; round < 10; round++) {
    Value* p0 = b.CreateMul(c[0], number(c[0], b, 0xD2511F53u));
    Value* p1 = b.CreateMul(c[2], number(c[0], b, 0xCD9E8D57u));
    c = {b.CreateXor(b.CreateXor(b.CreateLShr(p1, shift), c[1]), k0), b.CreateAnd(p1, mask),
         b.CreateXor(b.CreateXor(b.CreateLShr(p0, shift), c[3]), k1), b.CreateAnd(p0, mask)};
    k0 = b.CreateAnd(b.CreateAdd(k0, number(k0, b, 0x9E3779B9u)), mask);
    k1 = b.CreateAnd(b.CreateAdd(k1, number(k1, b, 0xBB67AE85u)), mask);
  }
  return c;
}

}  // namespace

Value* philox_uniform(Builder& b, Value* n, Value* seed, Value* call, Value* ordinal, DType d) {
  const auto broadcast = [&](Value* v) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(n->getType());
    return vector ? b.CreateVectorSplat(vector->getNumElements(), v) : v;
  };
  const auto low = [&](Value* v) { return b.CreateAnd(v, number(v, b, 0xffffffffu)); };
  const auto high = [&](Value* v) { return b.CreateLShr(v, number(v, b, 32)); };
  const bool wide = d == DType::f64;
  Value* block = b.CreateLShr(n, number(n, b, wide ? 1 : 2));
  seed = broadcast(seed);
  Value* draw = broadcast(b.CreateAdd(call, ordinal));
  const Block words = philox_rounds(b, {low(block), high(block), high(draw), low(draw)}, low(seed), high(seed));
  const auto is = [&](uint64_t word) {
    return b.CreateICmpEQ(b.CreateAnd(n, number(n, b, wide ? 1 : 3)), number(n, b, word));
  };
  llvm::Type* type = same_shape_type(n, register_type(b.getContext(), d));
  if (wide) {
    const auto pair = [&](Value* first, Value* second) {
      return b.CreateOr(first, b.CreateShl(second, number(n, b, 32)));
    };
    Value* bits = b.CreateSelect(is(0), pair(words[0], words[1]), pair(words[2], words[3]));
    return b.CreateFMul(b.CreateUIToFP(b.CreateLShr(bits, number(n, b, 11)), type),
                        llvm::ConstantFP::get(type, 0x1p-53));
  }
  Value* bits =
      b.CreateSelect(is(0), words[0], b.CreateSelect(is(1), words[1], b.CreateSelect(is(2), words[2], words[3])));
  Value* narrow = b.CreateTrunc(bits, same_shape_type(n, b.getInt32Ty()));
  const int digits = info(d).digits;
  Value* kept = b.CreateLShr(narrow, llvm::ConstantInt::get(narrow->getType(), static_cast<uint64_t>(32 - digits)));
  return b.CreateFMul(b.CreateSIToFP(kept, type), llvm::ConstantFP::get(type, std::ldexp(1.0, -digits)));
}

}  // namespace thunder::codegen
