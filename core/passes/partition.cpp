#include "passes/partition.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "ir/prim.h"
#include "ir/symbols.h"
#include "passes/dce.h"
#include "passes/inside.h"
#include "passes/min_cut.h"
#include "tracer/recorder.h"

namespace thunder {
namespace {

std::vector<ValueId> input_values(std::span<const Input> inputs) {
  std::vector<ValueId> out;
  for (const Input& in : inputs) out.push_back(in.value);
  return out;
}

int64_t size_in_bytes(const TensorType& type) {
  int64_t out = static_cast<int64_t>(size_of(type.dtype));
  for (Dim d : type.shape) out *= d.constant() ? d.value() : d.expr()->hint;  // as when it was traced
  return out;
}

// Whether a line may be recomputed in the backward: it costs only reading its inputs.
bool is_cheap(const Node& node) {
  if (!node.op->prim || !node.body.empty() || !node.op->pure) return false;
  const OpDef& op = def(node);
  if (op.has(kRandom) || op.has(kUpdates) || op.has(kEager)) return false;
  bool reads = false;
  for_each_value(node.args, [&](ValueId) { reads = true; });
  return !reads || op.view || op.has(kElementwise);
}

// Chooses which values the forward saves for the backward.
class Saved {
 public:
  Saved(const JointTrace& joint, const std::vector<bool>& late)
      : joint_(joint), late_(late), kept_(joint.trace.store->size(), false), cut_(2 * kept_.size() + 2) {
    const auto& t = joint.trace;
    for (size_t i = 0; i + joint.cotangents < t.inputs.size(); i++) kept_[t.inputs[i].value] = true;
    for (size_t i = 0; i < joint.results; i++) kept_[t.outputs[i]] = true;
  }

  std::vector<ValueId> choose_saved() {
    const auto& t = joint_.trace;
    std::vector<ValueId> candidates;
    for (size_t i = 0; i + joint_.cotangents < t.inputs.size(); i++)
      add(t.inputs[i].value, nullptr, candidates);
    for (const Node* n : t.nodes)
      for (ValueId r : n->results)
        if (!late_[r]) add(r, n, candidates);
    for (const Node* n : t.nodes)
      if (is_late(*n))
        for_each_inside(*n, [&](const Node& inner) { for_each_value(inner.args, [&](ValueId v) { mark_needed(v); }); });
    for (size_t i = joint_.results; i < t.outputs.size(); i++)
      if (late_[t.outputs[i]]) mark_needed(t.outputs[i]);
    const std::vector<bool> side = cut_.sink_side(source(), sink());
    std::vector<ValueId> out;
    for (ValueId v : candidates)
      if (side[reader_vertex(v)] && !side[maker_vertex(v)]) out.push_back(v);
    return out;
  }

 private:
  // A value is two vertices: what makes it, and what reads it. Saving it cuts the edge between them.
  size_t maker_vertex(ValueId v) const { return 2 * static_cast<size_t>(v); }
  size_t reader_vertex(ValueId v) const { return maker_vertex(v) + 1; }
  size_t source() const { return 2 * kept_.size(); }
  size_t sink() const { return source() + 1; }

  // Inputs and results stay in memory anyway. Of a view and its base the base is saved.
  int64_t cost(ValueId v, const Node* maker) const {
    if (kept_[v]) return 0;
    return 2 * size_in_bytes(joint_.trace.type(v)) + (maker && def(*maker).view ? 1 : 0);
  }

  void add(ValueId v, const Node* maker, std::vector<ValueId>& candidates) {
    candidates.push_back(v);
    cut_.edge(maker_vertex(v), reader_vertex(v), cost(v, maker));
    if (maker && is_cheap(*maker))
      for_each_value(maker->args,
                     [&](ValueId from) { cut_.edge(reader_vertex(from), maker_vertex(v), MinCut::kUncut); });
    else
      cut_.edge(source(), maker_vertex(v), MinCut::kUncut);
  }

  bool is_late(const Node& n) const { return !n.results.empty() && late_[n.results[0]]; }
  void mark_needed(ValueId v) {
    if (!late_[v] && needed_.insert(v).second) cut_.edge(reader_vertex(v), sink(), MinCut::kUncut);
  }

  const JointTrace& joint_;
  const std::vector<bool>& late_;
  std::vector<bool> kept_;
  std::unordered_set<ValueId> needed_;
  MinCut cut_;
};

// The lines on which `outputs` depend, as far back as these inputs.
Trace extract_trace(const Trace& from, std::vector<ValueId> outputs, std::span<const ValueId> inputs) {
  Trace out = from;
  out.inputs.clear();
  std::vector<bool> given(from.store->size(), false), live = given;
  for (ValueId v : inputs) given[v] = true;
  for (ValueId v : outputs) live[v] = true;
  std::vector<const Node*> nodes;
  for (size_t i = from.nodes.size(); i-- > 0;) {
    const Node* n = from.nodes[i];
    if (std::none_of(n->results.begin(), n->results.end(), [&](ValueId r) { return live[r] && !given[r]; })) continue;
    for_each_inside(*n, [&](const Node& inner) { for_each_value(inner.args, [&](ValueId v) { live[v] = true; }); });
    nodes.push_back(n);
  }
  out.nodes.assign(nodes.rbegin(), nodes.rend());
  out.outputs = std::move(outputs);
  return out;
}

void take_inputs(Trace& trace, std::span<const ValueId> saved, std::span<const ValueId> cotangents) {
  const auto add = [&](ValueId v, std::string name) {
    const auto index = static_cast<uint32_t>(trace.inputs.size());
    trace.inputs.push_back({v, Source::argument, index, std::move(name)});
  };
  for (size_t i = 0; i < saved.size(); i++) add(saved[i], cat("saved.", i));
  for (size_t i = 0; i < cotangents.size(); i++) add(cotangents[i], cat("cotangents.", i));
}

bool has_size(const TensorType& type, int64_t symbol) {
  return std::any_of(type.shape.begin(), type.shape.end(), [&](Dim d) {
    return !d.constant() && d.expr()->op == DimOp::symbol && d.expr()->a.value() == symbol;
  });
}
// Calls take(i) for the candidates without which no tensor that the trace is given has the size that a symbol in its
// lines stands for.
template <class Take>
void take_sources_of_symbols(const Trace& trace, std::vector<ValueId> given, std::span<const Input> candidates,
                             Take&& take) {
  for (const Symbol& s : used_symbols(trace)) {
    const auto says = [&](ValueId v) { return has_size(trace.type(v), s.number); };
    if (std::any_of(given.begin(), given.end(), says)) continue;
    const auto at = std::find_if(candidates.begin(), candidates.end(), [&](const Input& in) { return says(in.value); });
    if (at == candidates.end()) continue;
    given.push_back(at->value);
    take(static_cast<size_t>(at - candidates.begin()));
  }
}

}  // namespace

Partition partition(JointTrace joint) {
  Trace& t = joint.trace;
  const size_t own = t.inputs.size() - joint.cotangents;
  const std::vector<ValueId> cotangents = input_values(std::span(t.inputs).subspan(own));
  const std::vector<bool> late = dependents(t, cotangents);
  Partition out;
  out.saved = Saved(joint, late).choose_saved();

  std::vector<ValueId> gradients;
  for (size_t i = joint.results; i < t.outputs.size(); i++)
    if (late[t.outputs[i]]) gradients.push_back(t.outputs[i]), out.gradients.push_back(i - joint.results);
  std::vector<ValueId> given = out.saved;
  given.insert(given.end(), cotangents.begin(), cotangents.end());
  out.backward = extract_trace(t, std::move(gradients), given);
  out.backward.function = cat("backward(", t.function, ")");
  take_sources_of_symbols(out.backward, given, std::span(t.inputs).first(own),
                          [&](size_t i) { out.saved.push_back(t.inputs[i].value); });
  take_inputs(out.backward, out.saved, cotangents);

  std::vector<ValueId> results(t.outputs.begin(), t.outputs.begin() + static_cast<ptrdiff_t>(joint.results));
  const std::vector<ValueId> inputs = input_values(std::span(t.inputs).first(own));
  for (ValueId v : out.saved)
    if (std::find(inputs.begin(), inputs.end(), v) == inputs.end() &&
        std::find(results.begin(), results.end(), v) == results.end())
      results.push_back(v);
  out.forward = extract_trace(t, std::move(results), inputs);
  out.forward.inputs.assign(t.inputs.begin(), t.inputs.begin() + static_cast<ptrdiff_t>(own));
  return out;
}

namespace {

// Lines of a backward where some cotangents are zero. Each line is linear in what depends on cotangents.
class Zeros {
 public:
  Zeros(const Registry& registry, const Trace& backward, const std::vector<bool>& reached)
      : trace_(backward), recorder_(registry, backward.store), to_(backward.store->size(), kNoValue) {
    std::vector<ValueId> zero, other;
    const size_t first = backward.inputs.size() - reached.size();
    for (size_t i = 0; i < reached.size(); i++)
      (reached[i] ? other : zero).push_back(backward.inputs[first + i].value);
    on_zero_ = dependents(backward, zero);
    on_other_ = dependents(backward, other);
  }

  bool is_zero(ValueId v) const { return on_zero_[v] && !on_other_[v]; }
  bool is_reached(ValueId v) const { return on_other_[v]; }
  ValueId mapped_value(ValueId v) const { return to_[v] != kNoValue ? to_[v] : v; }

  std::vector<const Node*> rewrite_lines() {
    for (const Node* n : trace_.nodes) {
      if (!n->results.empty() && is_zero(n->results[0])) continue;
      if (is_sum(*n)) continue;
      for_each_inside(*n, [&](const Node& inner) {
        for_each_value(inner.args, [&](ValueId v) {
          if (v < on_zero_.size() && is_zero(v) && to_[v] == kNoValue) to_[v] = make_zeros(trace_.type(v));
        });
      });
      recorder_.nodes().push_back(trace_.store->substitute(n, to_));
    }
    return std::move(recorder_.nodes());
  }

 private:
  ValueId make_zeros(const TensorType& type) {
    return expand_to(full(recorder_, {}, 0, type.dtype, type.device), type.shape).id;
  }
  // A sum with zero is the other operand.
  bool is_sum(const Node& n) {
    if (n.op->id != Prim::add) return false;
    if (n.args[0].kind != ArgKind::value || n.args[1].kind != ArgKind::value) return false;
    const bool left = is_zero(n.args[0].v), right = is_zero(n.args[1].v);
    if (left == right) return false;
    to_[n.results[0]] = mapped_value(n.args[left ? 1 : 0].v);
    return true;
  }

  const Trace& trace_;
  Recorder recorder_;
  std::vector<ValueId> to_;  // by value, what stands for it
  std::vector<bool> on_zero_, on_other_;
};

std::vector<bool> mark_values_read(const Trace& trace) {
  std::vector<bool> out(trace.store->size(), false);
  for (ValueId v : trace.outputs) out[v] = true;
  for (const Node* n : trace.nodes)
    for_each_inside(*n, [&](const Node& inner) { for_each_value(inner.args, [&](ValueId v) { out[v] = true; }); });
  return out;
}

}  // namespace

PartialBackward partial_backward(const Registry& registry, const Trace& backward, const std::vector<bool>& reached,
                                 const std::vector<bool>& wanted) {
  // In a new store: other threads may read the backward's.
  Trace own = backward;
  own.store = Store::make_continuation(backward.store, backward.store->size());
  Zeros zeros(registry, own, reached);
  PartialBackward out;
  out.trace = own;
  out.trace.nodes = zeros.rewrite_lines();
  out.trace.outputs.clear();
  for (size_t i = 0; i < backward.outputs.size(); i++) {
    if (!wanted[i] || !zeros.is_reached(backward.outputs[i])) continue;
    out.outputs.push_back(i);
    out.trace.outputs.push_back(zeros.mapped_value(backward.outputs[i]));
  }
  PassContext context{registry};
  if (auto alive = dce(out.trace, context)) out.trace = std::move(*alive);
  const std::vector<bool> read = mark_values_read(out.trace);
  const size_t inputs = backward.inputs.size() - reached.size();
  std::vector<ValueId> saved, cotangents;
  for (size_t i = 0; i < inputs; i++)
    if (const ValueId v = backward.inputs[i].value; read[v]) saved.push_back(v), out.saved.push_back(i);
  for (size_t i = 0; i < reached.size(); i++)
    if (reached[i]) cotangents.push_back(backward.inputs[inputs + i].value);
  out.trace.inputs.clear();
  std::vector<ValueId> given = saved;
  given.insert(given.end(), cotangents.begin(), cotangents.end());
  take_sources_of_symbols(out.trace, given, std::span(backward.inputs).first(inputs),
                          [&](size_t i) { saved.push_back(backward.inputs[i].value), out.saved.push_back(i); });
  take_inputs(out.trace, saved, cotangents);
  return out;
}

}  // namespace thunder
