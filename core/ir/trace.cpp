#include "ir/trace.h"

namespace thunder {

void Store::clear() {
  kept_types_.clear(), types_.clear();
  dims_.clear();
  arena_.clear();
}

std::shared_ptr<Store> Store::make_continuation(std::shared_ptr<const Store> from, size_t values) {
  auto store = std::make_shared<Store>();
  for (ValueId v = 0; v < values; v++) store->add(from->type(v));
  // Types keep their symbols, whose numbers are taken.
  for (size_t i = 0; i < from->dims_.symbols(); i++) store->dims_.symbol(0);
  store->from_ = std::move(from);
  return store;
}

ValueId Store::add(const TensorType& type) {
  // Values often have the type of the one before.
  types_.push_back(!types_.empty() && *types_.back() == type ? types_.back() : &*kept_types_.insert(type).first);
  return static_cast<ValueId>(types_.size() - 1);
}

Arg Store::keep(const Arg& a) {
  Arg copy = a;
  switch (a.kind) {
    case ArgKind::string: copy.s = arena_.copy(a.text()); break;
    case ArgKind::dims: copy.d = arena_.copy(a.dim_list()).data(); break;
    case ArgKind::reals: copy.fs = arena_.copy(a.real_list()).data(); break;
    case ArgKind::values: copy.vs = arena_.copy(a.value_list()).data(); break;
    default: break;
  }
  return copy;
}

const Node* Store::node(const Op* op, std::span<const Arg> args, std::span<const ValueId> results,
                        std::span<const Node* const> body, const char* where, const char* executor) {
  std::span<Arg> kept = arena_.copy(args);
  for (Arg& a : kept) a = keep(a);
  return arena_.make<Node>(op, std::span<const Arg>(kept), std::span<const ValueId>(arena_.copy(results)),
                           std::span<const Node* const>(arena_.copy(body)), where, executor);
}

const Node* Store::claimed(const Node* node, const char* executor) {
  Node* copy = arena_.make<Node>(*node);
  copy->executor = executor;
  return copy;
}

// The recursion follows how deep ops are nested in their own definitions, never the length of a program.
const Node* Store::substitute(const Node* node, std::span<const ValueId> to) {
  auto mapped = [&](ValueId v) { return v < to.size() && to[v] != kNoValue ? to[v] : v; };
  bool changed = false;
  for_each_value(node->args, [&](ValueId v) { changed |= mapped(v) != v; });
  std::vector<const Node*> body;  // as soon as one of its lines is another
  for (size_t i = 0; i < node->body.size(); i++) {
    const Node* made = substitute(node->body[i], to);
    if (made != node->body[i] && body.empty()) body.assign(node->body.begin(), node->body.end());
    if (!body.empty()) body[i] = made;
  }
  changed |= !body.empty();
  if (!changed) return node;
  if (body.empty()) body.assign(node->body.begin(), node->body.end());
  SmallVector<Arg, 8> args(node->args);
  SmallVector<ValueId, 16> lists;
  for_each_value(node->args, [&](ValueId v) { lists.push_back(mapped(v)); });
  size_t at = 0;
  for (Arg& a : args) {
    if (a.kind == ArgKind::value) a.v = lists[at++];
    if (a.kind != ArgKind::values) continue;
    a.vs = lists.data() + at;
    at += a.count;
  }
  return this->node(node->op, args, node->results, body, node->where, node->executor);
}

}  // namespace thunder
