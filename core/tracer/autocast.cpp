// Mixed precision: converts an op's arguments under autocast.
#include "tracer/scope.h"

namespace thunder {

// Casts reals narrower than f64, as the op's row says.
void Scope::cast_arguments(const OpDef& op) {
  const CastPolicy policy = op.autocast;
  if (policy == CastPolicy::none || policy == CastPolicy::unsaid) return;
  const auto castable = [&](ValueId v) {
    const DType d = builder().type(v).dtype;
    return is_real(d) && d != DType::f64;
  };
  const auto each = [&](auto&& visit) {
    for (Arg& a : args_)
      if (a.kind == ArgKind::value && castable(a.v)) visit(a.v);
    for (ValueId& v : ids_)
      if (castable(v)) visit(v);
  };
  DType to = policy == CastPolicy::lower_precision_fp ? autocast : DType::f32;
  if (policy == CastPolicy::promote) {
    to = autocast;
    each([&](ValueId v) { to = builder().type(v).dtype == DType::f32 ? DType::f32 : to; });
  }
  each([&](ValueId& v) {
    if (builder().type(v).dtype != to) v = convert(builder().var(v), to).id;
  });
}

}  // namespace thunder
