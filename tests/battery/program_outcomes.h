// What a random program gives on a tape, and how far another way of running it may be from that.
#pragma once

#include <cstdlib>

#include "battery/battery.h"
#include "battery/program.h"
#include "tracer/eager.h"

namespace thunder::battery {

// What cancels leaves rounding errors of what cancelled, whose size is about 1.
inline constexpr double kLeast = 1e-3;

inline uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

// What the program left in its state counts as a result.
inline Outcome with_state(Outcome out, const Tensors& inputs) {
  if (!out.error.empty()) return out;
  out.types.push_back(inputs.back()->type());
  out.values.push_back(numbers_of(*inputs.back()));
  return out;
}
inline Outcome taped(Context& context, const Program& p, const Tensors& inputs) {
  EagerScope scope(context.scope_environment(), true);
  std::vector<Tensor*> in;
  for (auto& t : inputs) in.push_back(t.get());
  const auto results = run_program(p, scope, in);
  if (scope.status()) return {{}, {}, scope.status()->code(), scope.status()->message()};
  Outcome out;
  for (Tensor* t : results) out.types.push_back(t->type()), out.values.push_back(numbers_of(*t));
  return with_state(out, inputs);
}
// Whether the program makes much of little: results move beyond the tolerance when its inputs move by a few roundings,
// so that no way of computing them is right.
inline bool amplifies(Context& context, uint64_t seed, const Program& p, const Outcome& expected) {
  Tensors inputs = program_inputs(p, seed);
  for (auto& t : inputs)
    if (t->type().dtype == DType::f32)
      for (int64_t i = 0; i < t->elements(); i++) reinterpret_cast<float*>(t->data())[i] *= i % 2 ? 1 - 0x1p-18f : 1 + 0x1p-18f;
  return !difference(taped(context, p, inputs), expected, 1000, kLeast).empty();
}

}  // namespace thunder::battery
