// Prims that draw random numbers: Philox4x32-10 as arithmetic on u64, so that a model draws what the library draws.
#include "onnx/export/rows.h"
#include "ops/philox.h"

namespace thunder::onnx_export {
namespace {

bool advance(Line& l) {
  l.give(l.make("Add", {l.in(0), l.graph.integers({0, l.arg(1).i})}));
  return true;
}

class Words {
 public:
  explicit Words(Line& l) : l_(l) {
    seed_ = part(0), draw_ = add(part(1), number(static_cast<uint64_t>(l.arg(1).i)));
    const Val count = l.make("Squeeze", {l.size(elements(l.result().shape))});
    const auto i64 = [&](int64_t v) { return l.graph.scalar(v, DType::i64); };
    numbers_ = l.graph.cast(l.make("Range", {i64(0), count, i64(1)}), DType::u64);
  }
  // Of each element its word of 32 bits, or of 64, as u64.
  Val bits32() { return chosen(block(shift(numbers_, 2)), 4, 0); }
  Val bits64() {
    const std::array<Val, 4> words = block(shift(numbers_, 1));
    const Val low = chosen(words, 2, 0), high = chosen(words, 2, 1);
    return add(low, left(high, 32));
  }
  Val number(uint64_t v) const { return l_.graph.scalar(static_cast<int64_t>(v), DType::u64); }
  Val shift(Val v, uint64_t by) const {
    return l_.make("BitShift", {v, number(by)}, {attr("direction", std::string_view("RIGHT"))});
  }
  Val mul(Val a, Val b) const { return l_.make("Mul", {a, b}); }
  Val add(Val a, Val b) const { return l_.make("Add", {a, b}); }
  Val low(Val v) const { return l_.make("BitwiseAnd", {v, number(0xffffffff)}); }

 private:
  Val part(int64_t i) const {
    const Val one = l_.make("Gather", {l_.in(0), l_.graph.scalar(i, DType::i64)}, {attr("axis", int64_t{0})});
    return l_.graph.cast(one, DType::u64);
  }
  Val left(Val v, uint64_t by) const {
    return l_.make("BitShift", {v, number(by)}, {attr("direction", std::string_view("LEFT"))});
  }
  Val exclusive(Val a, Val b) const { return l_.make("BitwiseXor", {a, b}); }
  std::array<Val, 4> block(Val number_of_block) const {
    std::array<Val, 4> c = {low(number_of_block), shift(number_of_block, 32), shift(draw_, 32), low(draw_)};
    const Val k0 = low(seed_), k1 = shift(seed_, 32);
    for (uint64_t round = 0; round < 10; round++) {
      const Val first = low(add(k0, number(round * 0x9E3779B9u))), second = low(add(k1, number(round * 0xBB67AE85u)));
      const Val p0 = mul(number(0xD2511F53u), c[0]), p1 = mul(number(0xCD9E8D57u), c[2]);
      c = {exclusive(exclusive(shift(p1, 32), c[1]), first), low(p1), exclusive(exclusive(shift(p0, 32), c[3]), second),
           low(p0)};
    }
    return c;
  }
  // Word `at` of the part of its block that is an element's, of `parts`.
  Val chosen(const std::array<Val, 4>& words, uint64_t parts, size_t at) const {
    const Val which = l_.make("BitwiseAnd", {numbers_, number(parts - 1)});
    const size_t each = 4 / parts;
    Val out = words[at];
    for (size_t p = 1; p < parts; p++)
      out = l_.make("Where", {l_.make("Equal", {which, number(p)}), words[p * each + at], out});
    return out;
  }

  Line& l_;
  Val seed_, draw_, numbers_;
};

void give(Line& l, Val flat) {
  l.give(l.reshape(l.graph.cast(flat, l.result().dtype), l.result().shape));
}

bool uniform(Line& l) {
  Words words(l);
  const DType dtype = l.result().dtype, as = compute_dtype(dtype);
  const uint64_t digits = static_cast<uint64_t>(info(dtype).digits);
  const Val bits =
      dtype == DType::f64 ? words.shift(words.bits64(), 64 - digits) : words.shift(words.bits32(), 32 - digits);
  give(l, l.make("Mul", {l.graph.cast(bits, as), l.graph.scalar(std::ldexp(1.0, -static_cast<int>(digits)), as)}));
  return true;
}

// A quotient of polynomials, by Horner.
Val rational(const Line& l, const Rational& of, Val r) {
  const auto value = [&](const double(&c)[8]) {
    Val out = l.graph.scalar(c[7], DType::f64);
    for (int i = 6; i >= 0; i--) out = l.make("Add", {l.make("Mul", {out, r}), l.graph.scalar(c[i], DType::f64)});
    return out;
  };
  return l.make("Div", {value(of.num), value(of.den)});
}
bool normal(Line& l) {
  Words words(l);
  const bool wide = l.result().dtype == DType::f64;
  const Val bits = wide ? words.shift(words.bits64(), 12) : words.bits32();
  const auto number = [&](double v) { return l.graph.scalar(v, DType::f64); };
  const Val middle = l.make("Add", {l.graph.cast(bits, DType::f64), number(0.5)});
  const Val p = l.make("Mul", {middle, number(wide ? 0x1p-52 : 0x1p-32)}), q = l.make("Sub", {p, number(0.5)});
  const Val square = l.make("Sub", {number(0.180625), l.make("Mul", {q, q})});
  const Val central = l.make("Mul", {q, rational(l, ppnd16::kCentral, square)});
  const Val negative = l.make("Less", {q, number(0)});
  const Val side = l.make("Where", {negative, p, l.make("Sub", {number(1), p})});
  const Val r = l.make("Sqrt", {l.make("Neg", {l.make("Log", {side})})});
  const Val near = rational(l, ppnd16::kMiddle, l.make("Sub", {r, number(1.6)}));
  const Val far = rational(l, ppnd16::kFar, l.make("Sub", {r, number(5)}));
  const Val tail = l.make("Where", {l.make("LessOrEqual", {r, number(ppnd16::kFarBegin)}), near, far});
  const Val outer = l.make("Where", {negative, l.make("Neg", {tail}), tail});
  const Val inside = l.make("LessOrEqual", {l.make("Abs", {q}), number(ppnd16::kMiddleEnd)});
  const Val made = l.make("Where", {inside, central, outer});
  give(l, wide ? made : l.graph.cast(made, DType::f32));
  return true;
}

// The high half of 64 bits times the count.
bool randint(Line& l) {
  Words words(l);
  const auto low = static_cast<uint64_t>(l.arg(2).i), n = static_cast<uint64_t>(l.arg(3).i) - low;
  const Val bits = words.bits64(), below = words.low(bits), above = words.shift(bits, 32);
  const Val n_low = words.number(n & 0xffffffff), n_high = words.number(n >> 32);
  const Val middle = words.add(words.mul(above, n_low), words.shift(words.mul(below, n_low), 32));
  const Val cross = words.add(words.mul(below, n_high), words.low(middle));
  const Val high = words.add(words.mul(above, n_high), words.add(words.shift(middle, 32), words.shift(cross, 32)));
  give(l, l.graph.cast(words.add(high, words.number(low)), DType::i64));
  return true;
}

constexpr Row kRows[] = {
    {"prims.advance_random", "Add", advance},
    {"prims.philox_normal", "BitShift, BitwiseXor, Mul", normal},
    {"prims.philox_permutation", "", nullptr, false,
     "the order of its rows is drawn word by word, as many as it takes"},
    {"prims.philox_randint", "BitShift, BitwiseXor, Mul", randint},
    {"prims.philox_uniform", "BitShift, BitwiseXor, Mul", uniform},
};

}  // namespace

std::span<const Row> random_rows() {
  return kRows;
}

}  // namespace thunder::onnx_export
