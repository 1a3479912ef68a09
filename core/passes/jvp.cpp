#include "passes/jvp.h"

#include "ir/prim.h"

#include <algorithm>

namespace thunder {

Var Forward::tangent(ValueId v) const {
  auto it = tangents_.find(v);
  return it != tangents_.end() ? it->second : full_like(recorder_.var(v), 0);
}

// The arguments that have tangents, each once.
std::vector<ValueId> Forward::args_with_tangents(const Node& node) const {
  std::vector<ValueId> out;
  for_each_value(node.args, [&](ValueId v) {
    if (has_tangent(v) && std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  });
  return out;
}

TangentRule tangent_rule(const OpDef& op) {
  if (!op.nondiff.empty()) return TangentRule::none;
  if (!op.vjp) return TangentRule::body;
  if (op.prim && op.has(kElementwise)) return TangentRule::diagonal;
  return op.has(kLinear) ? TangentRule::linear : TangentRule::vjp_of_vjp;
}

void Forward::visit(const Node& node) {
  const TangentRule rule = args_with_tangents(node).empty() ? TangentRule::none : tangent_rule(def(node));
  if (rule == TangentRule::body) {
    ensure(!node.body.empty(), def(node).name(), " has no gradient");
    for (const Node* n : node.body) visit(*n);
    return;
  }
  recorder_.set_where(node.where);
  recorder_.nodes().push_back(&node);
  if (rule == TangentRule::diagonal) diagonal(node);
  if (rule == TangentRule::linear) linear(node);
  if (rule == TangentRule::vjp_of_vjp) vjp_of_vjp(node);
}

void Forward::diagonal(const Node& node) {
  const Node* const nodes[] = {&node};
  const ValueId result = node.results[0];
  const DType dtype = recorder_.type(result).dtype;
  if (!is_real(dtype)) return;
  Var sum;
  for (ValueId v : args_with_tangents(node)) {
    const Seed seed{result, convert(tangents_.at(v), dtype)};
    Var part = recorder_.var(Backward(recorder_, nodes, true).run({&seed, 1}, {&v, 1})[0]);
    part = convert(part, dtype);
    sum = sum ? recorder_.call(Prim::add, {sum, part}) : part;
  }
  set(result, sum);
}

void Forward::linear(const Node& node) {
  std::vector<Arg> args(node.args.begin(), node.args.end());
  std::vector<ValueList> lists(args.size());
  const auto tangent_of = [&](ValueId v) { return is_real(recorder_.type(v).dtype) ? tangent(v).id : v; };
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i].kind == ArgKind::value) args[i].v = tangent_of(args[i].v);
    if (args[i].kind != ArgKind::values) continue;
    for (ValueId v : args[i].value_list()) lists[i].push_back(tangent_of(v));
    args[i] = Arg::values(lists[i]);
  }
  const Results made = recorder_.invoke(def(node), args);
  for (size_t i = 0; i < made.size(); i++)
    if (is_real(recorder_.type(made[i]).dtype)) set(node.results[i], recorder_.var(made[i]));
}

// The cotangents are zeros, of which only the vjp's structure is used: nodes that compute the vjp itself are dead in
// the end, since the vjp is linear in the cotangents.
void Forward::vjp_of_vjp(const Node& node) {
  const Node* const nodes[] = {&node};
  std::vector<Seed> seeds, tangents;
  std::vector<ValueId> cotangents;
  for (ValueId r : node.results) {
    if (!is_real(recorder_.type(r).dtype)) continue;
    seeds.push_back({r, full_like(recorder_.var(r), 0)});
    cotangents.push_back(seeds.back().cotangent.id);
  }
  const size_t before = recorder_.nodes().size();
  const std::vector<ValueId> args = args_with_tangents(node),
                             pulled = Backward(recorder_, nodes, true).run(seeds, args);
  for (size_t i = 0; i < args.size(); i++) tangents.push_back({pulled[i], tangents_.at(args[i])});
  const std::vector<const Node*> backward(recorder_.nodes().begin() + static_cast<ptrdiff_t>(before),
                                          recorder_.nodes().end());
  const std::vector<ValueId> pushed = Backward(recorder_, backward, true).run(tangents, cotangents);
  for (size_t i = 0; i < seeds.size(); i++) set(seeds[i].value, recorder_.var(pushed[i]));
}

}  // namespace thunder
