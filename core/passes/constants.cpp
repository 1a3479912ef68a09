#include "passes/constants.h"

#include <limits>

#include "ops/kernels.h"

namespace thunder {

std::optional<double> stored_value(double value, DType dtype) {
  return by_element(dtype, [&](auto t) -> std::optional<double> {
    using T = decltype(t);
    if constexpr (std::is_same_v<T, bool>) {
      return value != 0;
    } else if constexpr (std::is_integral_v<T>) {
      // The first double that the type does not hold: of 64-bit ones their maximum rounded up.
      constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
      constexpr double high = static_cast<double>(std::numeric_limits<T>::max()) + (sizeof(T) < 8);
      if (!(value >= low && value < high)) return std::nullopt;
      return static_cast<double>(static_cast<T>(value));
    } else {
      return static_cast<double>(static_cast<Compute<T>>(T(static_cast<Compute<T>>(value))));
    }
  });
}

std::optional<double> constant_value(const Rewriter& rewriter, ValueId v) {
  for (const Node* n = rewriter.producer(v); n; n = rewriter.producer(n->args[0].v)) {
    const std::string_view name = n->op->name();
    if (name == "prims.full") return stored_value(n->args[1].f, n->args[2].dtype);
    if (name != "prims.expand" && name != "prims.reshape" && name != "prims.permute") return std::nullopt;
  }
  return std::nullopt;
}

ValueId make_constant(Rewriter& rewriter, double value, const TensorType& type, const Node& in_place_of) {
  const Registry& ops = rewriter.registry();
  const Arg full[] = {Arg::dims({}), Arg::real(value), Arg::of(type.dtype), Arg::of(type.device)};
  const ValueId scalar = rewriter.record(ops.get("prims.full"), full, in_place_of)[0];
  if (type.rank() == 0) return scalar;
  const Arg expand[] = {Arg::value(scalar), Arg::dims(type.shape)};
  return rewriter.record(ops.get("prims.expand"), expand, in_place_of)[0];
}

}  // namespace thunder
