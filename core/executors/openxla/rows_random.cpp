// Prims that draw random numbers.
#include "executors/openxla/rows.h"
#include "ops/philox_lines.h"

namespace thunder::openxla {
namespace {

void advance(Line& l) {
  const Val places = l.iota(DType::i64, {2}, 0);
  l.add_result(l.add(l.input(0), l.mul(places, l.constant_like(l.arg(1).plain().i, places))));
}

struct Ops {
  using Val = openxla::Val;
  Line& l;
  Val all;  // the numbers of the elements

  Val numbers() const { return all; }
  Val state(int64_t i) const {
    const Val one = l.reshape(l.slice(l.input(0), {i}, {i + 1}, {1}), {});
    return l.broadcast(cast(one, DType::u64), l.module.shape(all), {});
  }
  Val word(uint64_t v) const { return l.constant_like(static_cast<int64_t>(v), all); }
  Val real(double v, Val like) const { return l.constant_like(v, like); }
  Val cast(Val v, DType to) const { return l.convert(v, to); }
  Val left(Val v, Val by) const { return l.binary("stablehlo.shift_left", v, by); }
  Val right(Val v, Val by) const { return l.binary("stablehlo.shift_right_logical", v, by); }
  Val both(Val a, Val b) const { return l.logical_and(a, b); }
  Val exclusive(Val a, Val b) const { return l.binary("stablehlo.xor", a, b); }
  Val add(Val a, Val b) const { return l.add(a, b); }
  Val sub(Val a, Val b) const { return l.sub(a, b); }
  Val mul(Val a, Val b) const { return l.mul(a, b); }
  Val div(Val a, Val b) const { return l.div(a, b); }
  Val equal(Val a, Val b) const { return l.compare("EQ", a, b); }
  Val less(Val a, Val b) const { return l.compare("LT", a, b); }
  Val at_most(Val a, Val b) const { return l.compare("LE", a, b); }
  Val select(Val condition, Val a, Val b) const { return l.select(condition, a, b); }
  Val negative(Val v) const { return l.unary("stablehlo.negate", v); }
  Val abs(Val v) const { return l.unary("stablehlo.abs", v); }
  Val log(Val v) const { return l.unary("stablehlo.log", v); }
  Val sqrt(Val v) const { return l.unary("stablehlo.sqrt", v); }
};

PhiloxLines<Ops> make_philox_lines(Line& l) {
  int64_t count = 1;
  for (const int64_t d : l.result_shape()) count *= d;
  return {Ops{l, l.iota(DType::u64, {count}, 0)}, l.arg(1).plain().i};
}
void add_draws(Line& l, Val flat) {
  l.add_result(l.reshape(l.convert(flat, l.result().dtype), l.result_shape()));
}
void uniform(Line& l) {
  add_draws(l, make_philox_lines(l).uniform(l.result().dtype));
}
void normal(Line& l) {
  add_draws(l, make_philox_lines(l).normal(l.result().dtype));
}
void randint(Line& l) {
  add_draws(l, make_philox_lines(l).randint(l.arg(2).plain().i, l.arg(3).plain().i));
}

}  // namespace

const Row advance_random_row = {"stablehlo.iota, add", advance};
const Row philox_normal_row = {"stablehlo.shift_right_logical, xor, multiply", normal};
const Row philox_randint_row = {"stablehlo.shift_right_logical, xor, multiply", randint};
const Row philox_uniform_row = {"stablehlo.shift_right_logical, xor, multiply", uniform};

}  // namespace thunder::openxla
