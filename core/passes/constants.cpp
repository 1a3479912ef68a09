#include "passes/constants.h"

#include <limits>
#include <utility>

#include "ir/prim.h"
#include "ops/kernels.h"
#include "ops/numbers.h"

namespace thunder {

std::optional<Arg> stored_value(const Arg& value, DType dtype) {
  const bool real = value.kind == ArgKind::real;
  return by_element(dtype, [&](auto t) -> std::optional<Arg> {
    using T = decltype(t);
    if constexpr (std::is_same_v<T, bool>) {
      return Arg::integer(real ? value.f != 0 : value.i != 0);
    } else if constexpr (std::is_integral_v<T>) {
      if (!real) return std::in_range<T>(value.i) ? std::optional(Arg::integer(value.i)) : std::nullopt;
      // The first double that the type, or an i64, does not hold: of 64-bit ones their maximum rounded up.
      constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
      constexpr double high = sizeof(T) < 8 ? static_cast<double>(std::numeric_limits<T>::max()) + 1 : 0x1p63;
      if (!(value.f >= low && value.f < high)) return std::nullopt;
      return Arg::integer(static_cast<int64_t>(value.f));
    } else {
      const T stored = real ? converted<T>(value.f) : converted<T>(value.i);
      return Arg::real(static_cast<double>(static_cast<Compute<T>>(stored)));
    }
  });
}

namespace {

template <class F>
std::optional<Arg> constant_made_by(const F& producer, ValueId v) {
  for (const Node* n = producer(v); n; n = producer(n->args[0].v)) {
    const Prim op = n->op->id;
    if (op == Prim::full) return stored_value(n->args[1].plain(), n->args[2].dtype);
    if (op != Prim::expand && op != Prim::reshape && op != Prim::permute) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Arg> constant_value(const Rewriter& rewriter, ValueId v) {
  return constant_made_by([&](ValueId of) { return rewriter.producer(of); }, v);
}

std::optional<Arg> constant_value(std::span<const Node* const> producers, ValueId v) {
  return constant_made_by([&](ValueId of) { return producers[of]; }, v);
}

ValueId make_constant(Rewriter& rewriter, const Arg& value, const TensorType& type, const Node& in_place_of) {
  const Arg full[] = {Arg::dims({}), exact_number(value), Arg::of(type.dtype), Arg::of(type.device)};
  const ValueId scalar = rewriter.record(Prim::full, full, in_place_of)[0];
  if (type.rank() == 0) return scalar;
  const Arg expand[] = {Arg::value(scalar), Arg::dims(type.shape)};
  return rewriter.record(Prim::expand, expand, in_place_of)[0];
}

}  // namespace thunder
