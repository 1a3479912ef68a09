#include "passes/vary.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "ir/prim.h"
#include "ops/world_collectives.h"
#include "passes/inside.h"
#include "tracer/recorder.h"

namespace thunder {
namespace {

bool is_shard(const Node& n) {
  return is_of_ranks(def(n), RankRule::Kind::shard);
}

template <class F>
bool any_inside(const Node& n, F&& f) {
  bool found = false;
  for_each_inside(n, [&](const Node& inner) { found = found || f(inner); });
  return found;
}

// Ops that know of ranks say themselves where their operands differ.
bool knows_ranks(const Node& n) {
  return any_inside(n, [](const Node& inner) { return def(inner).ranks != nullptr; });
}
bool draws(const Node& n) {
  return any_inside(n, [](const Node& inner) { return def(inner).has(kRandom); });
}

// Along one axis.
class Vary {
 public:
  Vary(const Trace& trace, const Registry& registry, std::string_view axis, int64_t ranks)
      : trace_(trace), recorder_(registry, trace.store), grad_(registry.find("grad")), axis_(axis), ranks_(ranks),
        varies_(trace.store->size()), follows_(trace.store->size()), to_(trace.store->size(), kNoValue) {
    for (const Input& in : trace.inputs) follows_[in.value] = is_real(trace.type(in.value).dtype);
  }

  Trace run() {
    for (const Node* n : trace_.nodes) place(n);
    Trace out = trace_;
    out.nodes = std::move(recorder_.nodes());
    return out;
  }

 private:
  void place(const Node* n) {
    if (n->op == grad_) {
      check_loss(*n);
    } else if (n->op->name() == "checkpoint") {
      n = with_lines_inside(n);
    } else if (reads_varying(*n) && !knows_ranks(*n)) {
      check_draws(*n);
      n = with_varying_operands(n);
    }
    recorder_.nodes().push_back(n);
    mark(*n);
  }

  // Of a line that holds lines of the caller's.
  const Node* with_lines_inside(const Node* n) {
    std::vector<const Node*> outside = std::exchange(recorder_.nodes(), {});
    auto made = std::exchange(made_, {});
    for (const Node* inner : n->body) place(inner);
    const std::vector<const Node*> body = std::exchange(recorder_.nodes(), std::move(outside));
    made_ = std::move(made);
    if (std::equal(body.begin(), body.end(), n->body.begin(), n->body.end())) return n;
    return trace_.store->node(n->op, n->args, n->results, body, n->where, n->executor);
  }

  bool reads_varying(const Node& n) const {
    bool reads = false;
    for_each_value(n.args, [&](ValueId v) { reads = reads || varies_[v]; });
    return reads;
  }

  const Node* with_varying_operands(const Node* n) {
    std::vector<ValueId> own;
    for_each_value(n->args, [&](ValueId v) {
      if (!varies_[v] && follows_[v] && is_real(trace_.type(v).dtype)) own.push_back(v);
    });
    for (ValueId v : own) {
      const auto [it, fresh] = made_.try_emplace(v, kNoValue);
      if (fresh) {
        recorder_.set_where(n->where);
        it->second = recorder_.call(Prim::pvary, {recorder_.var(v), axis_, ranks_}).id;
        varies_.resize(trace_.store->size()), follows_.resize(varies_.size());
        varies_[it->second] = true;
      }
      to_[v] = it->second;
    }
    n = trace_.store->substitute(n, to_);
    for (ValueId v : own) to_[v] = kNoValue;
    return n;
  }

  void mark(const Node& n) {
    varies_.resize(trace_.store->size()), follows_.resize(varies_.size());
    bool follows = false;
    for_each_inside(n, [&](const Node& inner) {
      for_each_value(inner.args, [&](ValueId v) { follows = follows || follows_[v]; });
    });
    for (ValueId r : n.results) follows_[r] = follows;
    mark_varying(n);
  }
  void mark_varying(const Node& n) {
    for (const Node* inner : n.body) mark_varying(*inner);
    if (!n.body.empty()) return;  // its results are theirs
    bool varies = reads_varying(n);
    const RankRule* const rule = def(n).ranks;
    if (rule && rule->result != RankRule::Result::as_operand && axis_of(n) == axis_)
      varies = rule->result == RankRule::Result::varies;
    for (ValueId r : n.results) varies_[r] = varies;
    if (n.op == grad_)  // as the values are by which it is taken
      for (size_t i = 0; i < n.results.size(); i++) varies_[n.results[i]] = varies_[n.args[1].value_list()[i]];
  }

  void check_loss(const Node& n) const {
    require(!varies_[n.args[0].v], "grad: the loss differs among the ranks of axis '", axis_,
            "', which have a part of some parameters each", n.where ? cat(" [at ", n.where, "]") : "",
            ": make it one by all_reduce(loss, \"", axis_,
            "\"), or end with a layer that does, such as a Linear of the plan \"rowwise\"");
  }
  void check_draws(const Node& n) const {
    require(!draws(n), n.op->name(), ": it draws the same numbers on all ranks of axis '", axis_,
            "', for values of which each has another part", n.where ? cat(" [at ", n.where, "]") : "",
            ": draw for what is the same on all ranks, such as a result of a \"rowwise\" Linear");
  }

  const Trace& trace_;
  Recorder recorder_;
  const Op* const grad_;
  const std::string_view axis_;
  const int64_t ranks_;
  std::vector<bool> varies_;   // by value
  std::vector<bool> follows_;  // by value: it is made of a real input, and may have a gradient
  std::vector<ValueId> to_;
  std::unordered_map<ValueId, ValueId> made_;  // by value: as one that differs
};

}  // namespace

std::optional<Trace> vary(const Trace& trace, PassContext& context) {
  std::map<std::string_view, int64_t> axes;
  for (const Node* n : trace.nodes)
    for_each_inside(*n, [&](const Node& inner) {
      if (is_shard(inner)) axes.emplace(axis_of(inner), inner.args[2].i);
    });
  if (axes.empty()) return std::nullopt;
  Trace now = trace;
  for (auto& [axis, ranks] : axes) now = Vary(now, context.registry, axis, ranks).run();
  if (now.nodes == trace.nodes) return std::nullopt;
  return now;
}

}  // namespace thunder
