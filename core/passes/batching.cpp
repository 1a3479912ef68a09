#include "passes/batching.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {
namespace {

bool is_random(const Node& node) {
  if (node.body.empty()) return def(node).has(kRandom);
  return std::any_of(node.body.begin(), node.body.end(), [](const Node* n) { return is_random(*n); });
}

}  // namespace

Var Batching::value(ValueId v) const {
  if (auto it = batched_.find(v); it != batched_.end()) return it->second;
  Var x = recorder_.var(v);
  Shape shape{size_};
  for (Dim d : x.shape()) shape.push_back(d);
  return expand_to(x, shape);
}

void Batching::visit(const Node& node) {
  recorder_.set_where(node.where);
  std::vector<bool> has;
  for_each_value(node.args, [&](ValueId v) { has.push_back(varies(v)); });
  const bool any = std::find(has.begin(), has.end(), true) != has.end();
  const bool random = randomness_ != Randomness::same && is_random(node);
  if (!any && !random) return recorder_.nodes().push_back(&node);
  require(!random || randomness_ == Randomness::different, "vmap: ", node.op->name(),
          " draws random numbers; say with randomness=\"different\" that each example has its own, or with \"same\" "
          "that all have these");
  if (node.op->name() == "checkpoint") return checkpoint(node);
  if (!node.body.empty() && batch_way(def(node)) != BatchWay::rule) return descend(node);
  rule(node, std::move(has));
}

void Batching::descend(const Node& node) {
  for (const Node* n : node.body) visit(*n);
}

void Batching::rule(const Node& node, std::vector<bool> has) {
  std::vector<Arg> args(node.args.begin(), node.args.end());
  std::vector<ValueList> lists(args.size());
  const auto mapped = [&](ValueId v) { return varies(v) ? batched_.at(v).id : v; };
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i].kind == ArgKind::value) args[i].v = mapped(args[i].v);
    if (args[i].kind != ArgKind::values) continue;
    for (ValueId v : args[i].value_list()) lists[i].push_back(mapped(v));
    args[i] = Arg::values(lists[i]);
  }
  Batch b(recorder_, node, args, std::move(has), size_, randomness_);
  const BatchFn rule = batch_rule(def(node));
  const Results made = rule ? rule(b) : unroll(b);
  for (size_t i = 0; i < node.results.size(); i++) {
    const TensorType &one = recorder_.type(node.results[i]), &all = recorder_.type(made[i]);
    ensure(all.dtype == one.dtype && all.shape == b.with_front(size_, one.shape), "the batching rule of ",
           node.op->name(), " gives ", name(all), " for a batch of ", name(size_), " times ", name(one));
    set(node.results[i], recorder_.var(made[i]));
  }
}

// Batches the body of a checkpoint, which remains one node. If one of its results is not computed by the batched body,
// or two of them are the same value, the batched nodes are recorded without a checkpoint.
void Batching::checkpoint(const Node& node) {
  const size_t before = recorder_.nodes().size();
  const auto first = static_cast<ValueId>(recorder_.store().size());
  descend(node);
  ValueList inputs, results;
  for_each_value(node.args, [&](ValueId v) { inputs.push_back(varies(v) ? batched_.at(v).id : v); });
  for (ValueId r : node.results) {
    const ValueId made = varies(r) ? batched_.at(r).id : r;
    if (made < first || std::find(results.begin(), results.end(), made) != results.end()) return;
    results.push_back(made);
  }
  auto& nodes = recorder_.nodes();
  const std::vector<const Node*> body(nodes.begin() + static_cast<ptrdiff_t>(before), nodes.end());
  nodes.resize(before);
  const Arg args[] = {Arg::values(inputs), Arg::integer(static_cast<int64_t>(first))};
  nodes.push_back(recorder_.store().node(node.op, args, results, body, node.where));
}

}  // namespace thunder
