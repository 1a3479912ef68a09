#include "ops/grad.h"

#include <unordered_set>

#include "base/text.h"
#include "ir/prim.h"

namespace thunder {

Grad::Grad(Backward& walk, const Node& node, std::span<const Arg> args, std::span<const ValueId> results)
    : Call(walk.builder_, def(node), args), walk_(walk), node_(node), results_(results) {}

Var Grad::result(size_t i) const { return walk_.value(results_[i]); }

bool Grad::reached(size_t i) const { return walk_.cotangents_.contains(results_[i]); }

Var Grad::cotangent(size_t i) const {
  auto it = walk_.cotangents_.find(results_[i]);
  if (it != walk_.cotangents_.end()) return it->second;
  const TensorType& t = builder.type(results_[i]);
  return expand_to(full(builder, {}, 0, t.dtype, t.device), t.shape);
}

bool Grad::wants(size_t arg) const {
  const Arg& a = node_.args[arg];
  if (a.kind == ArgKind::value) return walk_.depends(a.v);
  for (ValueId v : a.kind == ArgKind::values ? a.value_list() : std::span<const ValueId>())
    if (walk_.depends(v)) return true;
  return false;
}

bool Grad::wants(size_t arg, size_t element) const { return walk_.depends(node_.args[arg].vs[element]); }

void Grad::add(size_t arg, Var g) {
  if (g && wants(arg)) walk_.contribute(node_.args[arg].v, g);
}
void Grad::add(size_t arg, size_t element, Var g) {
  if (g && wants(arg, element)) walk_.contribute(node_.args[arg].vs[element], g);
}

void Grad::descend() { walk_.descend(node_); }

void Grad::recompute() { walk_.recompute(node_); }

void Backward::contribute(ValueId v, Var g) {
  const TensorType& t = builder_.type(v);
  ensure(g.shape() == t.shape, "a gradient of shape ", name(g.shape()), " for a value of shape ", name(t.shape));
  g = convert(g, t.dtype);
  auto [it, fresh] = cotangents_.try_emplace(v, g);
  const ValueId before = fresh ? kNoValue : it->second.id;
  if (!fresh) it->second = builder_.call(Prim::add, {it->second, g});
  on_contribution(v, before, it->second.id);
}

namespace {

// A node's arguments with each value replaced according to `of`.
struct Substituted {
  template <class Of>
  Substituted(const Node& node, const Of& of) : args(node.args.begin(), node.args.end()), lists(args.size()) {
    for (size_t i = 0; i < args.size(); i++) {
      if (args[i].kind == ArgKind::value) args[i].v = of(args[i].v);
      if (args[i].kind != ArgKind::values) continue;
      for (ValueId element : args[i].value_list()) lists[i].push_back(of(element));
      args[i] = Arg::values(lists[i]);
    }
  }
  std::vector<Arg> args;
  std::vector<ValueList> lists;  // what the arguments that are lists point to
};

// Whether a composite draws random numbers or reads an integer: recorded again, it would draw others, or lack the
// integer.
bool draws_or_reads(const Node& node) {
  if ((def(node).has(kRandom) && node.body.empty()) || def(node).has(kEager)) return true;
  return std::any_of(node.body.begin(), node.body.end(), [](const Node* n) { return draws_or_reads(*n); });
}

}  // namespace

// The value as the backward may use it: values inside a composite are made again, from the composite's inputs.
Var Backward::value(ValueId v) {
  if (auto it = again_.find(v); it != again_.end()) return it->second;
  auto inner = inner_.find(v);
  if (!recompute_ || inner == inner_.end()) return builder_.var(v);
  const Node& node = *inner->second;
  if (!node.body.empty() && draws_or_reads(node)) {
    for (const Node* n : node.body)
      for (ValueId r : n->results) inner_[r] = n;
    return value(v);
  }
  const Substituted given(node, [this](ValueId v) { return value(v).id; });
  Results made = builder_.invoke(def(node), given.args);
  for (size_t i = 0; i < made.size(); i++) again_[node.results[i]] = builder_.var(made[i]);
  return again_.at(v);
}

void Backward::descend(const Node& node) {
  if (node.body.empty()) return descend_again(node);
  // The node's own results stay what they are; the rest of its body is inside.
  for (const Node* n : node.body)
    for (ValueId r : n->results)
      if (std::find(node.results.begin(), node.results.end(), r) == node.results.end()) inner_[r] = n;
  for (const Node* n : node.body) {
    bool any = false;
    mark(*n, any);
  }
  for (size_t i = node.body.size(); i-- > 0;) visit(*node.body[i]);
}

// Records a composite that ran as a whole again, line by line.
void Backward::descend_again(const Node& node) {
  ensure(def(node).decompose != nullptr, def(node).name(), " has no gradient");
  std::vector<const Node*> body;
  const Results made = builder_.decompose(def(node), node.args, body);
  for (const Node* n : body) {
    bool any = false;
    mark(*n, any);
  }
  for (size_t i = 0; i < made.size(); i++)
    if (auto it = cotangents_.find(node.results[i]); it != cotangents_.end() && depends(made[i]))
      contribute(made[i], it->second);
  for (size_t i = body.size(); i-- > 0;) visit(*body[i]);
}

// What is made again reads the arguments behind barriers that wait for a cotangent: no pass merges it with the forward,
// or moves it before the backward has come here.
void Backward::recompute(const Node& node) {
  if (node.body.empty()) return descend_again(node);
  Backward again(builder_, node.body, true, rule_, rules_);
  std::vector<Seed> seeds;
  for (ValueId r : node.results)
    if (auto it = cotangents_.find(r); it != cotangents_.end()) seeds.push_back({r, it->second});
  std::vector<ValueId> wrt;
  for_each_value(node.args, [&](ValueId v) {
    if (!again.again_.contains(v))
      again.again_[v] = builder_.call(Prim::optimization_barrier, {value(v), seeds[0].cotangent});
    if (depends(v) && std::find(wrt.begin(), wrt.end(), v) == wrt.end()) wrt.push_back(v);
  });
  for (const Node* n : node.body)
    for (ValueId r : n->results)
      if (std::find(node.results.begin(), node.results.end(), r) == node.results.end()) again.inner_[r] = n;
  const std::vector<ValueId> gradients = again.run(seeds, wrt);
  for (size_t i = 0; i < wrt.size(); i++) contribute(wrt[i], builder_.var(gradients[i]));
}

void Backward::mark(const Node& node, bool& any) {
  for_each_value(node.args, [&](ValueId v) { any |= depends(v); });
  if (!any || !def(node).nondiff.empty()) return void(any = false);
  for (ValueId r : node.results) {
    if (!is_real(builder_.type(r).dtype)) continue;
    if (r >= depends_.size()) depends_.resize(r + 1);
    depends_[r] = true;
  }
}

void Backward::visit(const Node& node) {
  bool reached = false;
  for (ValueId r : node.results) reached |= depends(r) && cotangents_.contains(r);
  if (!reached || !def(node).nondiff.empty()) return;
  begin(node);
  if (make_gradient_whole(node)) return;
  const OpDef& op = def(node);
  VjpFn rule = rule_ ? rule_(op, rules_) : nullptr;
  if (!rule) rule = op.vjp;
  if (!rule) {
    return descend(node);
  }
  const Substituted given(node, [this](ValueId v) { return value(v).id; });
  Grad grad(*this, node, given.args, node.results);
  rule(grad);
}

namespace {

// Whether one of the values that the node makes inside, and does not give, is among `used`.
bool exposes(const Node& node, std::span<const ValueId> given, const std::unordered_set<ValueId>& used) {
  return std::any_of(node.body.begin(), node.body.end(), [&](const Node* n) {
    for (ValueId r : n->results)
      if (used.contains(r) && std::find(given.begin(), given.end(), r) == given.end()) return true;
    return exposes(*n, given, used);
  });
}

void open(const Node& node, const std::unordered_set<ValueId>& used, std::vector<const Node*>& out) {
  if (!exposes(node, node.results, used)) return out.push_back(&node);
  for (const Node* n : node.body) open(*n, used, out);
}

// The nodes, with the body in place of each one inside of which a later one reads: as the backward of a tape does, so
// that a gradient of the gradient goes through those values too.
std::vector<const Node*> open_exposed_bodies(std::span<const Node* const> nodes) {
  std::unordered_set<ValueId> used;
  for (const Node* n : nodes) for_each_value(n->args, [&](ValueId v) { used.insert(v); });
  std::vector<const Node*> out;
  for (const Node* n : nodes) open(*n, used, out);
  return out;
}

}  // namespace

std::vector<ValueId> Backward::run(ValueId loss, std::span<const ValueId> wrt) {
  const TensorType& type = builder_.type(loss);
  require(type.rank() == 0 && is_real(type.dtype), "grad: the loss must be a 0-d tensor of a real dtype, got ",
          name(type));
  const Seed seed{loss, {}};
  return run({&seed, 1}, wrt);
}

std::vector<ValueId> Backward::run(std::span<const Seed> seeds, std::span<const ValueId> wrt) {
  for (ValueId v : wrt) {
    require(is_real(builder_.type(v).dtype), "grad: only real tensors have gradients, got ", name(builder_.type(v)));
    if (v >= depends_.size()) depends_.resize(v + 1);
    depends_[v] = true;
  }
  std::vector<const Node*> tape;
  if (!recompute_) nodes_ = tape = open_exposed_bodies(nodes_);
  for (const Node* n : nodes_) {
    bool any = false;
    mark(*n, any);
  }
  for (const Seed& s : seeds)
    if (depends(s.value)) contribute(s.value, s.cotangent ? s.cotangent : full_like(builder_.var(s.value), 1));
  for (size_t i = nodes_.size(); i-- > 0;) {
    visit(*nodes_[i]);
    on_node_finished(*nodes_[i]);
  }
  std::vector<ValueId> out;
  for (ValueId v : wrt) {
    auto it = cotangents_.find(v);
    const TensorType& t = builder_.type(v);
    out.push_back(it != cotangents_.end() ? it->second.id
                                          : expand_to(full(builder_, {}, 0, t.dtype, t.device), t.shape).id);
  }
  return out;
}

}  // namespace thunder
