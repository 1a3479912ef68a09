#include "modules/clip.h"

#include "base/text.h"

namespace thunder {
namespace {

// Applies `f` to each tensor leaf, and keeps the structure.
template <class F>
Values* each_gradient(Scope& scope, const Values& grads, F&& f) {
  auto out = make<Values>(grads);
  for (size_t i = 0; i < grads.size() && !scope.status(); i++) {
    if (!grads[i].tensor) continue;
    scope.run_formulas([&] {
      Var g = scope.builder().var(scope.enter(grads[i].tensor.get()));
      out->set_tensor(i, Ref<Tensor>(scope.wrap(f(g).id)));
    });
  }
  return scope.own(std::move(out));
}

Var sum_of_squares(Var g) {
  Var x = convert(g, compute_dtype(g.dtype()));
  return sum_to(x * x, {});
}

}  // namespace

Values* clip_grad_norm(Scope& scope, const Values& grads, double max_norm, Tensor** total) {
  Tensor *norm = nullptr, *factor = nullptr;
  scope.run_formulas([&] {
    require(max_norm >= 0, "clip_grad_norm: max_norm must not be negative, got ", max_norm);
    Builder& b = scope.builder();
    Var sum = full(b, {}, 0, DType::f32);
    for (size_t i = 0; i < grads.size(); i++)
      if (grads[i].tensor) sum = sum + sum_of_squares(b.var(scope.enter(grads[i].tensor.get())));
    Var root = b.call("sqrt", {sum});
    norm = scope.wrap(root.id);
    // The small number keeps a norm of zero from dividing.
    Var scale = full(b, {}, max_norm, root.dtype()) / (root + 1e-6);
    factor = scope.wrap(b.call("minimum", {scale, full(b, {}, 1, root.dtype())}).id);
  });
  if (total) *total = norm ? norm : scope.failed_tensor();
  return each_gradient(scope, grads,
                       [&](Var g) { return convert(g * scope.builder().var(scope.enter(factor)), g.dtype()); });
}

Values* clip_grad_value(Scope& scope, const Values& grads, double clip_value) {
  scope.run_formulas(
      [&] { require(clip_value >= 0, "clip_grad_value: clip_value must not be negative, got ", clip_value); });
  return each_gradient(scope, grads, [&](Var g) { return g.builder->call("clamp", {g, -clip_value, clip_value}); });
}

}  // namespace thunder
