// Prims that draw random numbers.
#include "onnx/export/rows.h"
#include "ops/philox_lines.h"

namespace thunder::onnx_export {
namespace {

bool advance(Line& l) {
  l.give(l.make("Add", {l.in(0), l.graph.integers({0, l.arg(1).i})}));
  return true;
}

struct Ops {
  using Val = onnx_export::Val;
  Line& l;

  Val numbers() const {
    const Val count = l.make("Squeeze", {l.size(elements(l.result().shape))});
    const auto i64 = [&](int64_t v) { return l.graph.scalar(v, DType::i64); };
    return cast(l.make("Range", {i64(0), count, i64(1)}), DType::u64);
  }
  Val state(int64_t i) const {
    return cast(l.make("Gather", {l.in(0), l.graph.scalar(i, DType::i64)}, {attr("axis", int64_t{0})}), DType::u64);
  }
  Val word(uint64_t v) const { return l.graph.scalar(static_cast<int64_t>(v), DType::u64); }
  Val real(double v, Val like) const { return l.graph.scalar(v, l.graph.dtype(like)); }
  Val cast(Val v, DType to) const { return l.graph.cast(v, to); }
  Val shifted(Val v, Val by, std::string_view direction) const {
    return l.make("BitShift", {v, by}, {attr("direction", direction)});
  }
  Val left(Val v, Val by) const { return shifted(v, by, "LEFT"); }
  Val right(Val v, Val by) const { return shifted(v, by, "RIGHT"); }
  Val both(Val a, Val b) const { return l.make("BitwiseAnd", {a, b}); }
  Val exclusive(Val a, Val b) const { return l.make("BitwiseXor", {a, b}); }
  Val add(Val a, Val b) const { return l.make("Add", {a, b}); }
  Val sub(Val a, Val b) const { return l.make("Sub", {a, b}); }
  Val mul(Val a, Val b) const { return l.make("Mul", {a, b}); }
  Val div(Val a, Val b) const { return l.make("Div", {a, b}); }
  Val equal(Val a, Val b) const { return l.make("Equal", {a, b}); }
  Val less(Val a, Val b) const { return l.make("Less", {a, b}); }
  Val at_most(Val a, Val b) const { return l.make("LessOrEqual", {a, b}); }
  Val select(Val condition, Val a, Val b) const { return l.make("Where", {condition, a, b}); }
  Val negative(Val v) const { return l.make("Neg", {v}); }
  Val abs(Val v) const { return l.make("Abs", {v}); }
  Val log(Val v) const { return l.make("Log", {v}); }
  Val sqrt(Val v) const { return l.make("Sqrt", {v}); }
};

PhiloxLines<Ops> philox_lines(Line& l) {
  return {Ops{l}, l.arg(1).i};
}
bool give(Line& l, Val flat) {
  l.give(l.reshape(l.graph.cast(flat, l.result().dtype), l.result().shape));
  return true;
}
bool uniform(Line& l) {
  return give(l, philox_lines(l).uniform(l.result().dtype));
}
bool normal(Line& l) {
  return give(l, philox_lines(l).normal(l.result().dtype));
}
bool randint(Line& l) {
  return give(l, philox_lines(l).randint(l.arg(2).i, l.arg(3).i));
}

}  // namespace

const Row advance_random_row = {"Add", advance};
const Row philox_normal_row = {"BitShift, BitwiseXor, Mul", normal};
const Row philox_randint_row = {"BitShift, BitwiseXor, Mul", randint};
const Row philox_uniform_row = {"BitShift, BitwiseXor, Mul", uniform};

}  // namespace thunder::onnx_export
