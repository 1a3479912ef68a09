// Emits log.
#include <llvm/IR/IntrinsicsX86.h>

#include <limits>

#include "loops/llvm/lanes.h"
#include "loops/llvm/math.h"
#include "loops/polynomials.h"

namespace thunder::codegen {
namespace {

// x = m * 2^k with 3/4 <= m < 3/2.
struct Split {
  Value *m, *k;
};

// AVX-512 has getexp and getmant, which handle subnormals: for 0, k is -inf; for inf, inf; m is 1 for both; a negative
// number gives NaN.
Split split_by_avx512(Lanes& v, Value* x) {
  constexpr int kInterval = 3, kNegativeIsNan = 2 << 2;
  Value* immediate = v.b.getInt32(kInterval | kNegativeIsNan);
  Value* m = v.avx512(llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, {x}, immediate);
  constexpr auto kExponent = llvm::Intrinsic::x86_avx512_mask_getexp_ps_512;
  return {m, v.b.CreateFSub(v.avx512(kExponent, {x}), v.avx512(kExponent, {m}))};
}

Split split(Lanes& v, Value* x) {
  auto& b = v.b;
  // A subnormal number is multiplied by 2^23 first, to become a normal one.
  Value* tiny = b.CreateFCmpOLT(x, v.real(std::numeric_limits<float>::min()));
  x = b.CreateSelect(tiny, b.CreateFMul(x, v.real(0x1p23f)), x);
  constexpr uint32_t kThreeQuarters = 0x3f400000;
  Value* above = b.CreateAShr(b.CreateSub(v.bits(x), v.integer(kThreeQuarters)), v.integer(23));
  Value* m = v.bits_to_float(b.CreateSub(v.bits(x), b.CreateShl(above, v.integer(23))));
  Value* k = b.CreateSIToFP(above, x->getType());
  return {m, b.CreateFAdd(k, b.CreateSelect(tiny, v.real(-23), v.real(0)))};
}

// NaN below 0 and for NaN, -inf at 0, inf at inf.
Value* with_special_cases(Lanes& v, Value* x, Value* y) {
  auto& b = v.b;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Value* at_zero = b.CreateFCmpOEQ(x, v.real(0));
  Value* beyond = b.CreateSelect(at_zero, v.real(-kInf), v.real(std::numeric_limits<float>::quiet_NaN()));
  y = b.CreateSelect(b.CreateFCmpOEQ(x, v.real(kInf)), x, y);
  return b.CreateSelect(b.CreateFCmpOGT(x, v.real(0)), y, beyond);
}

}  // namespace

// log(x) = k ln 2 + log(1 + f). Unless k is 0 the sum is at least 0.28, so ln 2 as one float is exact enough.
Value* emit_log(llvm::IRBuilder<>& b, Value* x) {
  Lanes v(b, x);
  const bool avx512 = v.avx512();
  Split parts = avx512 ? split_by_avx512(v, x) : split(v, x);
  Value* f = b.CreateFSub(parts.m, v.real(1));
  Value* y = v.fma(b.CreateFMul(f, f), v.polynomial(f, kLog), f);
  y = v.fma(parts.k, 0x1.62e43p-1f, y);
  return avx512 ? y : with_special_cases(v, x, y);
}

}  // namespace thunder::codegen
