// Prims that draw random numbers: Philox4x32-10 as arithmetic on u64, so that a region draws what the library draws.
#include <array>
#include <cmath>

#include "executors/openxla/rows.h"
#include "ops/philox.h"

namespace thunder::openxla {
namespace {

void advance(Line& l) {
  const Val places = l.iota(DType::i64, {2}, 0);
  l.give(l.add(l.in(0), l.mul(places, l.like(l.arg(1).plain().i, places))));
}

class Words {
 public:
  explicit Words(Line& l) : l_(l) {
    int64_t count = 1;
    for (const int64_t d : l.result_shape()) count *= d;
    numbers_ = l.iota(DType::u64, {count}, 0);
    seed_ = part(0), draw_ = add(part(1), number(static_cast<uint64_t>(l.arg(1).plain().i)));
  }
  // The word of each element, of 32 or 64 bits, as u64.
  Val bits32() { return chosen(block(right(numbers_, 2)), 4, 0); }
  Val bits64() {
    const std::array<Val, 4> words = block(right(numbers_, 1));
    return add(chosen(words, 2, 0), l_.binary("stablehlo.shift_left", chosen(words, 2, 1), number(32)));
  }
  Val number(uint64_t v) const { return l_.like(static_cast<int64_t>(v), numbers_); }
  Val right(Val v, uint64_t by) const { return l_.binary("stablehlo.shift_right_logical", v, number(by)); }
  Val mul(Val a, Val b) const { return l_.mul(a, b); }
  Val add(Val a, Val b) const { return l_.add(a, b); }
  Val low(Val v) const { return l_.both(v, number(0xffffffff)); }

 private:
  Val part(int64_t i) const {
    const Val one = l_.reshape(l_.slice(l_.in(0), {i}, {i + 1}, {1}), {});
    return l_.broadcast(l_.convert(one, DType::u64), l_.module.shape(numbers_), {});
  }
  Val exclusive(Val a, Val b) const { return l_.binary("stablehlo.xor", a, b); }
  std::array<Val, 4> block(Val number_of_block) const {
    std::array<Val, 4> c = {low(number_of_block), right(number_of_block, 32), right(draw_, 32), low(draw_)};
    const Val k0 = low(seed_), k1 = right(seed_, 32);
    for (uint64_t round = 0; round < 10; round++) {
      const Val first = low(add(k0, number(round * 0x9E3779B9u))), second = low(add(k1, number(round * 0xBB67AE85u)));
      const Val p0 = mul(number(0xD2511F53u), c[0]), p1 = mul(number(0xCD9E8D57u), c[2]);
      c = {exclusive(exclusive(right(p1, 32), c[1]), first), low(p1), exclusive(exclusive(right(p0, 32), c[3]), second),
           low(p0)};
    }
    return c;
  }
  // Word `at` of the part of its block that is an element's, of `parts`.
  Val chosen(const std::array<Val, 4>& words, uint64_t parts, size_t at) const {
    const Val which = l_.both(numbers_, number(parts - 1));
    const size_t each = 4 / parts;
    Val out = words[at];
    for (size_t p = 1; p < parts; p++) out = l_.select(l_.compare("EQ", which, number(p)), words[p * each + at], out);
    return out;
  }

  Line& l_;
  Val seed_, draw_, numbers_;
};

void give(Line& l, Val flat) {
  l.give(l.reshape(l.convert(flat, l.result().dtype), l.result_shape()));
}

void uniform(Line& l) {
  Words words(l);
  const DType dtype = l.result().dtype, as = compute_dtype(dtype);
  const uint64_t digits = static_cast<uint64_t>(info(dtype).digits);
  const Val bits =
      dtype == DType::f64 ? words.right(words.bits64(), 64 - digits) : words.right(words.bits32(), 32 - digits);
  const Val real = l.convert(bits, as);
  give(l, l.mul(real, l.like(std::ldexp(1.0, -static_cast<int>(digits)), real)));
}

// A quotient of polynomials, by Horner.
Val rational(const Line& l, const Rational& of, Val r) {
  const auto value = [&](const double(&c)[8]) {
    Val out = l.like(c[7], r);
    for (int i = 6; i >= 0; i--) out = l.add(l.mul(out, r), l.like(c[i], r));
    return out;
  };
  return l.div(value(of.num), value(of.den));
}
void normal(Line& l) {
  Words words(l);
  const bool wide = l.result().dtype == DType::f64;
  const Val bits = l.convert(wide ? words.right(words.bits64(), 12) : words.bits32(), DType::f64);
  const auto number = [&](double v) { return l.like(v, bits); };
  const Val p = l.mul(l.add(bits, number(0.5)), number(wide ? 0x1p-52 : 0x1p-32)), q = l.sub(p, number(0.5));
  const Val central = l.mul(q, rational(l, ppnd16::kCentral, l.sub(number(0.180625), l.mul(q, q))));
  const Val negative = l.compare("LT", q, number(0));
  const Val side = l.select(negative, p, l.sub(number(1), p));
  const Val r = l.unary("stablehlo.sqrt", l.unary("stablehlo.negate", l.unary("stablehlo.log", side)));
  const Val near = rational(l, ppnd16::kMiddle, l.sub(r, number(1.6))),
            far = rational(l, ppnd16::kFar, l.sub(r, number(5)));
  const Val tail = l.select(l.compare("LE", r, number(ppnd16::kFarBegin)), near, far);
  const Val outer = l.select(negative, l.unary("stablehlo.negate", tail), tail);
  const Val inside = l.compare("LE", l.unary("stablehlo.abs", q), number(ppnd16::kMiddleEnd));
  const Val made = l.select(inside, central, outer);
  give(l, wide ? made : l.convert(made, DType::f32));
}

// The high half of 64 bits times the count.
void randint(Line& l) {
  Words words(l);
  const auto low = static_cast<uint64_t>(l.arg(2).plain().i), n = static_cast<uint64_t>(l.arg(3).plain().i) - low;
  const Val bits = words.bits64(), below = words.low(bits), above = words.right(bits, 32);
  const Val n_low = words.number(n & 0xffffffff), n_high = words.number(n >> 32);
  const Val middle = words.add(words.mul(above, n_low), words.right(words.mul(below, n_low), 32));
  const Val cross = words.add(words.mul(below, n_high), words.low(middle));
  const Val high = words.add(words.mul(above, n_high), words.add(words.right(middle, 32), words.right(cross, 32)));
  give(l, l.convert(words.add(high, words.number(low)), DType::i64));
}

constexpr Row kRows[] = {
    {"prims.advance_random", "stablehlo.iota, add", advance},
    {"prims.philox_normal", "stablehlo.shift_right_logical, xor, multiply", normal},
    {"prims.philox_randint", "stablehlo.shift_right_logical, xor, multiply", randint},
    {"prims.philox_uniform", "stablehlo.shift_right_logical, xor, multiply", uniform},
};

}  // namespace

std::span<const Row> random_rows() {
  return kRows;
}

}  // namespace thunder::openxla
