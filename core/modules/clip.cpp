#include "modules/clip.h"

#include <map>

#include "base/text.h"
#include "ops/world_collectives.h"

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

// The sum over all elements of all of them, on whatever ranks they are.
Var sum_of_all_squares(Scope& scope, const Values& grads) {
  Builder& b = scope.builder();
  std::vector<ValueId> ids;
  std::vector<size_t> leaves;
  for (size_t i = 0; i < grads.size(); i++)
    if (grads[i].tensor) ids.push_back(scope.enter(grads[i].tensor.get())), leaves.push_back(i);
  const bool has_shards = rank_axes(b.registry()).has_shards();
  const std::vector<ValuePart> parts = has_shards ? scope.parts(ids) : std::vector<ValuePart>(ids.size());
  Var sum = full(b, {}, 0, DType::f32);
  std::map<std::string, Var> over_ranks;  // by axis
  for (size_t k = 0; k < ids.size(); k++) {
    require(!has_shards || parts[k].known, "clip_grad_norm: '", grads.path(leaves[k]),
            "' may be of a shard, of which the other ranks have the rest; clip gradients in the compiled function that "
            "takes them");
    Var squares = sum_of_squares(b.var(ids[k]));
    if (!parts[k].of) {
      sum = sum + squares;
      continue;
    }
    auto [it, fresh] = over_ranks.try_emplace(parts[k].of->axis, squares);
    if (!fresh) it->second = it->second + squares;
  }
  for (auto& [axis, squares] : over_ranks) sum = sum + b.call("all_reduce", {squares, std::string_view(axis), "sum"});
  return sum;
}

}  // namespace

Values* clip_grad_norm(Scope& scope, const Values& grads, double max_norm, Tensor** total) {
  Tensor *norm = nullptr, *factor = nullptr;
  scope.run_formulas([&] {
    require(max_norm >= 0, "clip_grad_norm: max_norm must not be negative, got ", max_norm);
    Builder& b = scope.builder();
    Var root = b.call("sqrt", {sum_of_all_squares(scope, grads)});
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
