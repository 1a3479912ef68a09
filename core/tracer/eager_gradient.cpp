// Gradients on a tape. What a gradient computes on its way is dropped as soon as it was read, as PyTorch does without
// create_graph; the gradient of a gradient computes it again, and records it. A tape with ops of callers records all.
#include <algorithm>
#include <unordered_set>

#include "ops/grad.h"
#include "tracer/eager.h"
#include "tracer/needed.h"

namespace thunder {

namespace {

// Drops each value that the gradient made once no cotangent is there that holds it.
class DroppingBackward : public Backward {
 public:
  DroppingBackward(EagerBuilder& builder, std::span<const Node* const> nodes, std::span<const ValueId> wrt)
      : Backward(builder, nodes, false),
        eager_(builder),
        first_(next_value()),
        swept_(first_),
        wanted_(wrt.begin(), wrt.end()) {}

 protected:
  // Whether it runs whole: on a device, where a gradient's rule would launch a kernel for each of its lines.
  bool make_gradient_whole(const Node& node) override {
    const OpDef& op = def(node);
    if (!eager_.composites() || op.view || (!op.vjp && !node.body.empty())) return false;
    std::vector<ValueId> ids;
    for_each_value(node.args, [&](ValueId v) { ids.push_back(v); });
    std::vector<Tensor*> in, results, cotangents;
    std::vector<bool> wanted;
    for (ValueId v : ids) in.push_back(eager_.tensor(v).get()), wanted.push_back(depends(v));
    for (ValueId r : node.results) {
      const auto it = cotangents_.find(r);
      results.push_back(eager_.tensor(r).get());
      cotangents.push_back(it == cotangents_.end() ? nullptr : eager_.tensor(it->second.id).get());
    }
    if (std::any_of(in.begin(), in.end(), [](Tensor* t) { return t->type().device == Device::cpu; })) return false;
    std::vector<Ref<Tensor>> out;
    if (!eager_.composites()->gradient(op, node.args, in, results, cotangents, wanted, out)) return false;
    for (size_t i = 0; i < ids.size(); i++)
      if (out[i]) contribute(ids[i], eager_.var(eager_.add(std::move(out[i]))));
    return true;
  }

  void on_contribution(ValueId of, ValueId before, ValueId now) override {
    if (of >= first_ && before == kNoValue) inside_.push_back(of);
    if (before != kNoValue) release(before);
    if (now < first_) return;
    if (now - first_ >= holders_.size()) holders_.resize(now - first_ + 1);
    holders_[now - first_]++;
  }

  void on_node_finished(const Node& node) override {
    forget_results(node);
    for (ValueId v : inside_) forget(v);
    inside_.clear();
    for (; swept_ < next_value(); swept_++)
      if (!held(swept_)) eager_.drop(swept_);
  }

 private:
  ValueId next_value() const { return static_cast<ValueId>(eager_.size()); }
  bool held(ValueId v) const { return v - first_ < holders_.size() && holders_[v - first_]; }

  void forget_results(const Node& node) {
    for (ValueId r : node.results) forget(r);
    for (const Node* n : node.body) forget_results(*n);
  }
  void forget(ValueId of) {
    const auto it = cotangents_.find(of);
    if (it == cotangents_.end() || wanted_.contains(of)) return;
    const ValueId cotangent = it->second.id;
    cotangents_.erase(it);
    release(cotangent);
  }
  void release(ValueId cotangent) {
    if (cotangent >= first_ && --holders_[cotangent - first_] == 0 && cotangent < swept_) eager_.drop(cotangent);
  }

  EagerBuilder& eager_;
  const ValueId first_;
  ValueId swept_;                  // values before this one were looked at
  std::vector<uint32_t> holders_;  // by value from first_ on: of how many values it is the cotangent
  std::vector<ValueId> inside_;    // values made by the gradient itself that have cotangents
  const std::unordered_set<ValueId> wanted_;
};

// Whether callers' rules or hooks are among the nodes: rules may keep their arguments, and hooks must be called once.
bool has_own_rules(std::span<const Node* const> nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node* n) {
    return def(*n).has(kOwnRules) || has_own_rules(n->body);
  });
}

class PausedTape {
 public:
  explicit PausedTape(EagerBuilder& builder) : builder_(builder) { builder_.pause_tape(true); }
  ~PausedTape() { builder_.pause_tape(false); }
  PausedTape(const PausedTape&) = delete;
  PausedTape& operator=(const PausedTape&) = delete;

 private:
  EagerBuilder& builder_;
};

}  // namespace

std::vector<ValueId> EagerScope::gradient(ValueId loss, std::span<Tensor* const> wrt) {
  require(builder_.taped(), "grad: this eager scope keeps no tape; create it with THUNDER_SCOPE_TAPED");
  record_gradients_behind(loss);
  std::vector<ValueId> ids;
  for (Tensor* t : wrt) {
    ids.push_back(differentiable(enter(t)));
    builder_.memory().require_current(builder_.tape(), loss, ids.back(), known_.at(t));
  }
  const std::vector<const Node*> tape = builder_.tape();
  if (has_own_rules(tape)) return Backward(builder_, tape, false).run(loss, ids);
  return take_gradient(loss, ids);
}

std::vector<ValueId> EagerScope::take_gradient(ValueId loss, const std::vector<ValueId>& wrt) {
  TakenGradient taken{builder_.tape().size(), loss, wrt, {}, static_cast<ValueId>(builder_.size())};
  {
    const PausedTape paused(builder_);
    const std::vector<const Node*> tape = builder_.tape();
    taken.results = DroppingBackward(builder_, tape, wrt).run(loss, wrt);
  }
  const std::unordered_set<ValueId> kept(taken.results.begin(), taken.results.end());
  for (ValueId v = taken.first; v < builder_.size(); v++)
    if (!kept.contains(v)) builder_.drop(v);
  own_memory(taken);
  taken_.push_back(taken);
  return taken.results;
}

// The tape knows nothing of how a result was made: none may be a view of what else it holds.
void EagerScope::own_memory(const TakenGradient& taken) {
  std::unordered_set<const Storage*> others;
  for (ValueId v = 0; v < taken.first; v++)
    if (const Ref<Tensor>& held = builder_.tensor(v)) others.insert(held->storage().get());
  std::unordered_set<ValueId> seen;
  for (ValueId v : taken.results)
    if (v >= taken.first && seen.insert(v).second && !others.insert(builder_.tensor(v)->storage().get()).second)
      builder_.replace(v, dense_copy(*builder_.tensor(v)));
}

void EagerScope::record(const TakenGradient& taken) {
  const size_t recorded = builder_.tape().size();
  const std::vector<const Node*> tape(builder_.tape().begin(), builder_.tape().begin() + taken.before);
  const std::vector<ValueId> again = Backward(builder_, tape, false).run(taken.loss, taken.wrt);
  std::unordered_set<ValueId> seen;
  for (size_t i = 0; i < again.size(); i++)
    if (taken.results[i] >= taken.first && seen.insert(taken.results[i]).second)
      builder_.record_same(again[i], taken.results[i]);
  builder_.move_lines(recorded, taken.before);
  for (TakenGradient& other : taken_)
    if (other.before >= taken.before) other.before += builder_.tape().size() - recorded;
}

void EagerScope::record_gradients_behind(ValueId value) {
  while (!taken_.empty()) {
    ValueSet needed(builder_.size());
    add_needed(builder_.tape(), value, needed);
    const auto found = std::find_if(taken_.begin(), taken_.end(), [&](const TakenGradient& t) {
      return std::any_of(t.results.begin(), t.results.end(), [&](ValueId v) { return v >= t.first && needed.has(v); });
    });
    if (found == taken_.end()) return;
    const TakenGradient taken = std::move(*found);
    taken_.erase(found);
    record(taken);
  }
}

}  // namespace thunder
