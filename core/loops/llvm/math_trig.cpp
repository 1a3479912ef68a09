// Emits sin and cos.
#include <llvm/IR/MDBuilder.h>

#include <array>
#include <limits>

#include "loops/llvm/lanes.h"
#include "loops/llvm/math.h"
#include "loops/polynomials.h"

namespace thunder::codegen {
namespace {

// x = quadrant pi/2 + r with |r| <= pi/4; the two lowest bits of the quadrant are used.
struct Reduced {
  Value *r, *quadrant;
};

// Up to here pi/2 as three floats is exact enough for every float.
constexpr float kFar = 0x1p17f;

// Cody and Waite's reduction. The first subtraction is exact: the difference has no bits below those of the first float
// of pi/2, and is less than 1.
Reduced reduce_near(Lanes& v, Value* a) {
  Value* magic = v.real(0x1.8p23f);  // adding it rounds to a whole number, which the sum has in its lowest bits
  Value* shifted = v.fma(a, kTwoByPi, magic);
  Value* n = v.b.CreateFSub(shifted, magic);
  Value* r = a;
  for (float piece : kHalfPi) r = v.fma(n, -piece, r);
  return {r, v.bits(shifted)};
}

// The 96 bits of 2^e / pi from the one of weight 1 on, highest word first, where the floats have the exponent e:
// a = m 2^e with m of 24 bits.
std::array<Value*, 3> inverse_pi_window(Lanes& v, Value* exponent_field) {
  auto& b = v.b;
  // With the table's word of zeros in front, bit 0 of the table has weight 2^31; e = field - 150.
  Value* first = b.CreateSub(exponent_field, v.integer(150 - 31));
  Value* word = b.CreateLShr(first, v.integer(5));
  constexpr unsigned kWords = 4, kLast = kInvPiBits.size() - kWords;
  std::array<Value*, kWords> words;
  for (unsigned w = 0; w < kWords; w++) words[w] = v.integer(kInvPiBits[kLast + w]);
  for (unsigned at = kLast; at-- > 0;) {
    Value* here = b.CreateICmpEQ(word, v.integer(at));
    for (unsigned w = 0; w < kWords; w++) words[w] = b.CreateSelect(here, v.integer(kInvPiBits[at + w]), words[w]);
  }
  Value* shift = b.CreateAnd(first, v.integer(31));
  std::array<Value*, 3> result;
  for (unsigned w = 0; w < 3; w++)
    result[w] = b.CreateIntrinsic(shift->getType(), llvm::Intrinsic::fshl, {words[w], words[w + 1], shift});
  return result;
}

// Payne and Hanek's reduction: a / (pi/2) by integers of 96 bits, modulo 4, of which the highest 64 stay. Requires
// a >= kFar; gives NaN for infinity and NaN.
Reduced reduce_far(Lanes& v, Value* a) {
  auto& b = v.b;
  llvm::Type *wide = v.type_of_shape(b.getInt64Ty()), *real = v.type_of_shape(b.getDoubleTy());
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(wide, n); };
  Value* bits = v.bits(a);
  auto words = inverse_pi_window(v, b.CreateLShr(bits, v.integer(23)));
  Value* m = b.CreateZExt(b.CreateOr(b.CreateAnd(bits, v.integer(0x7fffff)), v.integer(0x800000)), wide);
  std::array<Value*, 3> products;
  for (size_t w = 0; w < 3; w++) products[w] = b.CreateMul(m, b.CreateZExt(words[w], wide));
  Value* turns = b.CreateAdd(b.CreateShl(products[0], number(32)), products[1]);
  turns = b.CreateAdd(turns, b.CreateLShr(products[2], number(32)));  // in quadrants, 1 being 2^62

  auto upper = [&](Value* x, uint64_t by) { return b.CreateTrunc(b.CreateLShr(x, number(by)), bits->getType()); };
  Value* quadrant = upper(b.CreateAdd(turns, number(uint64_t{1} << 61)), 62);
  Value* rest = b.CreateShl(turns, number(2));  // signed, from -1/2 to 1/2, 1 being 2^64
  Value* high = b.CreateSIToFP(upper(rest, 32), real);
  Value* low = b.CreateUIToFP(b.CreateTrunc(rest, bits->getType()), real);
  Value* exact = v.fma(high, llvm::ConstantFP::get(real, 0x1p32), low);
  constexpr double kHalfPiByRest = 0x1.921fb54442d18p+0 * 0x1p-64;
  Value* r = b.CreateFPTrunc(b.CreateFMul(exact, llvm::ConstantFP::get(real, kHalfPiByRest)), a->getType());
  Value* finite = b.CreateFCmpOLT(a, v.real(std::numeric_limits<float>::infinity()));
  return {b.CreateSelect(finite, r, v.real(std::numeric_limits<float>::quiet_NaN())), quadrant};
}

// Moves the code after the insertion point to a new block. If the condition holds, `side` runs before it.
struct Branch {
  llvm::BasicBlock *before, *side, *after;
};

Branch branch_unlikely(llvm::IRBuilder<>& b, Value* condition) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* after = llvm::BasicBlock::Create(b.getContext(), "", function, before->getNextNode());
  after->splice(after->end(), before, b.GetInsertPoint(), before->end());
  after->replaceSuccessorsPhiUsesWith(before, after);
  auto* side = llvm::BasicBlock::Create(b.getContext(), "", function, after);
  b.SetInsertPoint(before);
  b.CreateCondBr(condition, side, after, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(side);
  b.SetInsertPoint(b.CreateBr(after));
  return {before, side, after};
}

Reduced reduce_by_half_pi(Lanes& v, Value* a) {
  auto& b = v.b;
  Reduced near = reduce_near(v, a);
  Value* far = b.CreateFCmpUGE(a, v.real(kFar));
  Branch branch = branch_unlikely(b, a->getType()->isVectorTy() ? b.CreateOrReduce(far) : far);
  // Lanes that were reduced already take part with an arbitrary large number.
  Reduced exact = reduce_far(v, b.CreateSelect(far, a, v.real(kFar)));
  exact = {b.CreateSelect(far, exact.r, near.r), b.CreateSelect(far, exact.quadrant, near.quadrant)};
  b.SetInsertPoint(branch.after, branch.after->begin());
  auto either = [&](Value* usual, Value* rare) {
    auto* phi = b.CreatePHI(usual->getType(), 2);
    phi->addIncoming(usual, branch.before);
    phi->addIncoming(rare, branch.side);
    return phi;
  };
  return {either(near.r, exact.r), either(near.quadrant, exact.quadrant)};
}

// sin(quadrant pi/2 + r): +-sin(r) or +-cos(r).
Value* sine(Lanes& v, Value* r, Value* quadrant) {
  auto& b = v.b;
  Value* square = b.CreateFMul(r, r);
  Value* sin = v.fma(b.CreateFMul(square, v.polynomial(square, kSin)), r, r);
  Value* cos = v.fma(square, v.polynomial(square, kCos), v.real(1));
  // The tested bit is the sign, so selecting needs no comparison.
  Value* odd = b.CreateICmpSLT(b.CreateShl(quadrant, v.integer(31)), v.integer(0));
  Value* sign = b.CreateShl(b.CreateAnd(quadrant, v.integer(2)), v.integer(30));
  return v.bits_to_float(b.CreateXor(v.bits(b.CreateSelect(odd, cos, sin)), sign));
}

}  // namespace

// The sign of x is removed first, which preserves signed zero.
Value* emit_sin(llvm::IRBuilder<>& b, Value* x) {
  Lanes v(b, x);
  Value* sign = b.CreateAnd(v.bits(x), v.integer(0x80000000));
  Reduced reduced = reduce_by_half_pi(v, v.abs(x));
  return v.bits_to_float(b.CreateXor(v.bits(sine(v, reduced.r, reduced.quadrant)), sign));
}

// cos(x) = sin(x + pi/2).
Value* emit_cos(llvm::IRBuilder<>& b, Value* x) {
  Lanes v(b, x);
  Reduced reduced = reduce_by_half_pi(v, v.abs(x));
  return sine(v, reduced.r, b.CreateAdd(reduced.quadrant, v.integer(1)));
}

// For small x the sum may lose the sign of zero.
Value* emit_sin_of_one(llvm::IRBuilder<>& b, Value* x) {
  Lanes v(b, x);
  Value* square = b.CreateFMul(x, x);
  return v.copysign(v.fma(b.CreateFMul(square, x), v.polynomial(square, kSinOfOne), x), x);
}

Value* emit_cos_of_one(llvm::IRBuilder<>& b, Value* x) {
  Lanes v(b, x);
  Value* square = b.CreateFMul(x, x);
  return v.fma(square, v.polynomial(square, kCosOfOne), v.real(1));
}

}  // namespace thunder::codegen
