// Philox4x32-10, and what is drawn by it, in the ops of an engine: on u64, so that it draws what the library draws.
#pragma once

#include <array>
#include <cmath>

#include "ir/dtype.h"
#include "ops/philox.h"

namespace thunder {

// `Ops` writes lines on values of its type Val: constants, arithmetic and comparisons, numbers() as the u64 number of
// each element of the result, and state(i) as an element of the random state, u64.
template <class Ops>
class PhiloxLines {
 public:
  using Val = typename Ops::Val;
  // `draw`: how many draws lie between the state and this one.
  PhiloxLines(const Ops& ops, int64_t draw)
      : o_(ops), numbers_(o_.numbers()), seed_(o_.state(0)),
        draw_(o_.add(o_.state(1), word(static_cast<uint64_t>(draw)))) {}

  Val uniform(DType dtype) const {
    const int digits = info(dtype).digits;
    const Val bits = dtype == DType::f64 ? right(bits64(), static_cast<uint64_t>(64 - digits))
                                         : right(bits32(), static_cast<uint64_t>(32 - digits));
    const Val real = o_.cast(bits, compute_dtype(dtype));
    return o_.mul(real, o_.real(std::ldexp(1.0, -digits), real));
  }
  Val normal(DType dtype) const {
    const bool wide = dtype == DType::f64;
    const Val bits = o_.cast(wide ? right(bits64(), 12) : bits32(), DType::f64);
    const auto number = [&](double v) { return o_.real(v, bits); };
    const Val p = o_.mul(o_.add(bits, number(0.5)), number(wide ? 0x1p-52 : 0x1p-32)), q = o_.sub(p, number(0.5));
    const Val central = o_.mul(q, rational(ppnd16::kCentral, o_.sub(number(0.180625), o_.mul(q, q))));
    const Val negative = o_.less(q, number(0));
    const Val r = o_.sqrt(o_.negative(o_.log(o_.select(negative, p, o_.sub(number(1), p)))));
    const Val near = rational(ppnd16::kMiddle, o_.sub(r, number(1.6)));
    const Val far = rational(ppnd16::kFar, o_.sub(r, number(5)));
    const Val tail = o_.select(o_.at_most(r, number(ppnd16::kFarBegin)), near, far);
    const Val outer = o_.select(negative, o_.negative(tail), tail);
    return o_.cast(o_.select(o_.at_most(o_.abs(q), number(ppnd16::kMiddleEnd)), central, outer),
                   wide ? DType::f64 : DType::f32);
  }
  // The high half of 64 bits times the count.
  Val randint(int64_t from, int64_t end) const {
    const uint64_t first = static_cast<uint64_t>(from), n = static_cast<uint64_t>(end) - first;
    const Val bits = bits64(), below = low(bits), above = right(bits, 32);
    const Val n_low = word(n & 0xffffffff), n_high = word(n >> 32);
    const Val middle = o_.add(o_.mul(above, n_low), right(o_.mul(below, n_low), 32));
    const Val cross = o_.add(o_.mul(below, n_high), low(middle));
    const Val high = o_.add(o_.mul(above, n_high), o_.add(right(middle, 32), right(cross, 32)));
    return o_.add(high, word(first));
  }

 private:
  Val word(uint64_t v) const { return o_.word(v); }
  Val right(Val v, uint64_t by) const { return o_.right(v, word(by)); }
  Val low(Val v) const { return o_.both(v, word(0xffffffff)); }
  // Each element's word of 32 bits, or of 64, as u64.
  Val bits32() const { return chosen(block(right(numbers_, 2)), 4, 0); }
  Val bits64() const {
    const std::array<Val, 4> words = block(right(numbers_, 1));
    return o_.add(chosen(words, 2, 0), o_.left(chosen(words, 2, 1), word(32)));
  }
  std::array<Val, 4> block(Val number) const {
    std::array<Val, 4> c = {low(number), right(number, 32), right(draw_, 32), low(draw_)};
    const Val k0 = low(seed_), k1 = right(seed_, 32);
    for (uint64_t round = 0; round < 10; round++) {
      const Val first = low(o_.add(k0, word(round * 0x9E3779B9u))), second = low(o_.add(k1, word(round * 0xBB67AE85u)));
      const Val p0 = o_.mul(word(0xD2511F53u), c[0]), p1 = o_.mul(word(0xCD9E8D57u), c[2]);
      c = {o_.exclusive(o_.exclusive(right(p1, 32), c[1]), first), low(p1),
           o_.exclusive(o_.exclusive(right(p0, 32), c[3]), second), low(p0)};
    }
    return c;
  }
  // Word `at` of the part of its block that is an element's, of `parts`.
  Val chosen(const std::array<Val, 4>& words, uint64_t parts, size_t at) const {
    const Val which = o_.both(numbers_, word(parts - 1));
    const size_t each = 4 / parts;
    Val out = words[at];
    for (size_t p = 1; p < parts; p++) out = o_.select(o_.equal(which, word(p)), words[p * each + at], out);
    return out;
  }
  // A quotient of polynomials by Horner's scheme.
  Val rational(const Rational& of, Val r) const {
    const auto value = [&](const double(&c)[8]) {
      Val out = o_.real(c[7], r);
      for (int i = 6; i >= 0; i--) out = o_.add(o_.mul(out, r), o_.real(c[i], r));
      return out;
    };
    return o_.div(value(of.num), value(of.den));
  }

  const Ops o_;
  const Val numbers_, seed_, draw_;
};

}  // namespace thunder
