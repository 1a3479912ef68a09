// Emits exp, tanh, which is computed from exp, and erf.
#include <llvm/IR/IntrinsicsX86.h>

#include <array>

#include "loops/llvm/lanes.h"
#include "loops/llvm/math.h"
#include "loops/polynomials.h"

namespace thunder::codegen {
namespace {

// e^x = 2^n * p with 0.95 < p < 1.92.
struct Power {
  Value* p;
  Value* eighths;  // a number whose floor is n
  Value* biased;  // bits whose lowest nine are n + bias
};

// Cody and Waite's reduction, to eighths: k = round(8 x / ln 2) / 8, r = x - k ln 2, and p = e^r times the power of two
// that the last three bits of k select. Adding 1.5 * 2^20 rounds to eighths, which are then in the sum's lowest bits.
// Requires |x| < 2^17 or NaN.
Power power_of_e(Lanes& v, Value* x, int bias) {
  constexpr float kEighths = 0x1.8p20f;
  Value* magic = v.real(kEighths + static_cast<float>(bias));
  Value* shifted = v.fma(x, kLog2E, magic);
  Value* k = v.b.CreateFSub(shifted, magic);
  Value* r = v.fma(k, -kLn2[0], x);
  r = v.fma(k, -kLn2[1], r);
  Value* rest = v.fma(v.polynomial(r, kExpRemainder), r, v.real(1));
  Value* power = v.lookup(v.bits(shifted), kPowers);
  Value* p = v.fma(v.b.CreateFMul(rest, r), power, power);
  return {p, k, v.b.CreateLShr(v.bits(shifted), v.integer(3))};
}

// 2^n of a power with bias 127, or 2^(n + m) of one with 127 + m. Requires -126 <= n + m <= 127.
Value* scale_of(Lanes& v, const Power& power) { return v.bits_to_float(v.b.CreateShl(power.biased, v.integer(23))); }

// Arguments are clamped to these bounds, beyond which the result is zero or infinite: the scaling supports no larger n.
constexpr float kMinExponent = -104, kMaxExponent = 89;

}  // namespace

// Scales in two steps, of which only the second one rounds, so that a subnormal result is as exact as any other.
Value* emit_exp(llvm::IRBuilder<>& b, Value* x) {
  Lanes v(b, x);
  Power power = power_of_e(v, v.at_least(v.at_most(x, kMaxExponent), kMinExponent), 254);
  if (v.avx512()) return v.avx512(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {power.p, power.eighths});
  Value* half = b.CreateLShr(power.biased, v.integer(1));
  Value* other = b.CreateSub(power.biased, half);
  Value* y = b.CreateFMul(power.p, v.bits_to_float(b.CreateShl(half, v.integer(23))));
  return b.CreateFMul(y, v.bits_to_float(b.CreateShl(other, v.integer(23))));
}

// Scales by 2^(n + 64), which is always a normal number, and then by 2^-64.
Value* emit_exp_of_negative(llvm::IRBuilder<>& b, Value* x) {
  constexpr int kMore = 64;
  Lanes v(b, x);
  Power power = power_of_e(v, v.at_least(x, kMinExponent), 127 + kMore);
  if (v.avx512()) return v.avx512(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {power.p, power.eighths});
  return b.CreateFMul(b.CreateFMul(power.p, scale_of(v, power)), v.real(0x1p-64f));
}

Value* emit_tanh(llvm::IRBuilder<>& b, Value* x) {
  Lanes v(b, x);
  Value* a = v.abs(x);
  Value* square = b.CreateFMul(a, a);
  Value* near = v.fma(b.CreateFMul(square, v.polynomial(square, kTanh)), a, a);
  // 1 - 2 / (e^2a + 1), which is 1 from 9.02 on.
  Value* doubled = v.at_most(b.CreateFAdd(a, a), 20);
  Power power = power_of_e(v, doubled, 127);
  Value* sum = v.fma(scale_of(v, power), power.p, v.real(1));
  Value* far = b.CreateFSub(v.real(1), b.CreateFDiv(v.real(2), sum));
  return v.copysign(b.CreateSelect(b.CreateFCmpOLT(a, v.real(0.625f)), near, far), x);
}

Value* emit_erf(llvm::IRBuilder<>& b, Value* x) {
  // Adding it rounds a small number to an integer, which is in the sum's lowest bits.
  constexpr float kMagic = 0x1.8p23f;
  Lanes v(b, x);
  Value* a = v.at_most(v.abs(x), 3.92f);  // beyond it erf is 1
  Value* shifted = v.fma(a, 1 / kErfStep, v.real(kMagic));
  Value* interval = b.CreateFSub(shifted, v.real(kMagic));
  Value* t = v.fma(interval, -kErfStep, a);
  std::array<Value*, kErf.size()> c;
  for (size_t power = 0; power < c.size(); power++) c[power] = v.lookup(v.bits(shifted), kErf[power]);
  Value* middle = b.CreateSelect(b.CreateFCmpOEQ(interval, v.real(0)), a, c[0]);
  Value* rest = v.polynomial(t, std::span<Value* const>(c).subspan(1));
  return v.copysign(v.at_most(v.fma(rest, t, middle), 1), x);
}

}  // namespace thunder::codegen
