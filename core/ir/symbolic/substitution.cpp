#include "ir/symbolic/substitution.h"

#include <algorithm>
#include <optional>

#include "ir/post_order.h"

namespace thunder {

Dim Substitution::replace(Dim d) {
  const auto find = [&](Dim of) -> std::optional<Dim> {
    if (of.constant()) return of;
    if (of.expr()->op == DimOp::symbol) return symbols_.at(static_cast<size_t>(of.expr()->a.value()));
    const auto it = known_.find(of.expr());
    return it == known_.end() ? std::nullopt : std::optional(it->second);
  };
  return evaluate_post_order(d, find, [&](const DimExpr& e, Dim a, Dim b) { known_[&e] = apply(e.op, a, b); });
}

namespace {

// The recursion follows how deep ops are nested in their own definitions, never the length of a program.
bool has_symbols(const Node& node) {
  const auto is_symbolic = [](const Arg& a) {
    if (a.kind != ArgKind::dims) return a.kind == ArgKind::symbolic;
    const auto dims = a.dim_list();
    return std::any_of(dims.begin(), dims.end(), [](Dim d) { return !d.constant(); });
  };
  return std::any_of(node.args.begin(), node.args.end(), is_symbolic) ||
         std::any_of(node.body.begin(), node.body.end(), [](const Node* inner) { return has_symbols(*inner); });
}

}  // namespace

const Node* Specialisation::specialise(const Node* node) {
  if (const auto known = made_.find(node); known != made_.end()) return known->second;
  if (!has_symbols(*node)) return made_[node] = node;
  std::vector<const Node*> body;
  for (const Node* inner : node->body) body.push_back(specialise(inner));
  SmallVector<Arg, 8> args(node->args);
  size_t count = 0;
  for (const Arg& a : args) count += a.kind == ArgKind::dims ? a.count : 0;
  std::vector<Dim> dims;
  dims.reserve(count);  // lists must not move
  for (Arg& a : args) {
    if (a.kind == ArgKind::symbolic) a = Arg::integer(sizes_(a.dim()));
    if (a.kind != ArgKind::dims) continue;
    const Dim* const first = dims.data() + dims.size();
    for (Dim d : a.dim_list()) dims.push_back(sizes_(d));
    a.d = first;
  }
  return made_[node] = store_->node(node->op, args, node->results, body, node->where, node->executor);
}

std::shared_ptr<Store> Store::make_specialised(std::shared_ptr<const Store> from, Substitution& sizes) {
  auto store = std::make_shared<Store>();
  store->types_.reserve(from->types_.size());
  std::unordered_map<const TensorType*, const TensorType*> made;  // types are few
  for (const TensorType* type : from->types_) {
    auto [it, fresh] = made.try_emplace(type, nullptr);
    if (fresh) {
      TensorType sized = *type;
      for (Dim& d : sized.shape) d = sizes(d);
      it->second = &*store->kept_types_.insert(std::move(sized)).first;
    }
    store->types_.push_back(it->second);
  }
  store->from_ = std::move(from);
  return store;
}

Trace Specialisation::operator()(const Trace& trace) {
  Trace out = trace;
  out.store = store_;
  for (const Node*& node : out.nodes) node = specialise(node);
  return out;
}

}  // namespace thunder
