// exp, tanh, which is made of it, and erf.
#include <llvm/IR/IntrinsicsX86.h>

#include <array>

#include "executors/llvm/lanes.h"
#include "executors/llvm/math.h"
#include "executors/cpu/polynomials.h"

namespace thunder::codegen {
namespace {

// e^x = 2^n * p with 0.7 < p < 1.42.
struct Power {
  Value* p;
  Value* n;       // a whole number
  Value* biased;  // bits whose lowest nine are n + bias
};

// Cody and Waite's reduction: n = round(x / ln 2), r = x - n ln 2, p = e^r. Adding 1.5 * 2^23 rounds to a whole
// number, which the sum then has in its lowest bits. Requires |x| < 2^20 or NaN.
Power power_of_e(Lanes& v, Value* x, int bias) {
  const float magic = 0x1.8p23f + static_cast<float>(bias);
  Value* shifted = v.fma(x, kLog2E, v.real(magic));
  Value* n = v.b.CreateFSub(shifted, v.real(magic));
  Value* r = v.fma(n, -kLn2[0], x);
  r = v.fma(n, -kLn2[1], r);
  Value* rest = v.polynomial(r, kExp);
  Value* p = v.fma(v.fma(rest, r, v.real(1)), r, v.real(1));
  return {p, n, v.bits(shifted)};
}

// 2^n of a power with bias 127. Requires -126 <= n <= 127.
Value* scale_of(Lanes& v, const Power& power) { return v.number(v.b.CreateShl(power.biased, v.integer(23))); }

}  // namespace

Value* emit_exp(llvm::IRBuilder<>& b, Value* x) {
  Lanes v(b, x);
  // Beyond these the result is zero or infinite all the same, and n stays within what the scaling takes.
  x = v.at_least(v.at_most(x, 89), -104);
  // In two steps, of which only the second rounds: a denormal result is as exact as any other.
  Power power = power_of_e(v, x, 254);
  if (v.avx512()) return v.avx512(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {power.p, power.n});
  Value* half = b.CreateLShr(power.biased, v.integer(1));
  Value* other = b.CreateSub(power.biased, half);
  Value* y = b.CreateFMul(power.p, v.number(b.CreateShl(half, v.integer(23))));
  return b.CreateFMul(y, v.number(b.CreateShl(other, v.integer(23))));
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
  constexpr float kMagic = 0x1.8p23f;  // its sum with a small number is rounded to a whole one, which its lowest bits hold
  Lanes v(b, x);
  Value* a = v.at_most(v.abs(x), 3.92f);  // from where on erf is 1
  Value* shifted = v.fma(a, 1 / kErfStep, v.real(kMagic));
  Value* piece = b.CreateFSub(shifted, v.real(kMagic));
  Value* t = v.fma(piece, -kErfStep, a);
  std::array<Value*, kErf.size()> c;
  for (size_t power = 0; power < c.size(); power++) c[power] = v.chosen(v.bits(shifted), kErf[power]);
  Value* middle = b.CreateSelect(b.CreateFCmpOEQ(piece, v.real(0)), a, c[0]);
  Value* rest = v.polynomial(t, std::span<Value* const>(c).subspan(1));
  return v.copysign(v.at_most(v.fma(rest, t, middle), 1), x);
}

}  // namespace thunder::codegen
