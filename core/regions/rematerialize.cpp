#include "regions/rematerialize.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/value_set.h"
#include "loops/target.h"
#include "passes/broadcast.h"
#include "passes/frozen.h"
#include "regions/derivation.h"
#include "regions/recompute.h"
#include "regions/regions.h"

namespace thunder {
namespace {

constexpr int64_t kLarge = 4096;  // bytes; what is smaller costs little wherever it is

class Rematerialization {
 public:
  Rematerialization(Trace& trace, const Executor& executor, const Op& op, RegionStates& states)
      : trace_(trace), store_(*trace.store), executor_(executor), op_(op), states_(states),
        name_(trace.store->text(executor.name())), computed_(when_computed(trace)), kept_(store_.size()),
        uses_(store_.size()), broadcast_from_(store_.size(), kNoValue), before_(trace.nodes.size()),
        known_(store_.size()) {
    for (const ValueId v : trace.outputs) kept_[v] = 1;
    for (const Write& w : trace.writes) kept_[w.value] = 1;
    for (size_t i = 0; i < trace.nodes.size(); i++) index_node(i);
  }

  void run() {
    // Backwards, so that a line can follow those that read it.
    for (size_t i = trace_.nodes.size(); i-- > 0;)
      if (is_cheaper(i)) duplicate_into_readers(i);
    // Runs twice: a value rematerialized in the first pass may be an operand of others.
    for (size_t i = 0; i < trace_.nodes.size(); i++)
      if (trace_.nodes[i] && is_region(*trace_.nodes[i])) derive_inputs(i), derive_inputs(i);
    finish();
  }

 private:
  void index_node(size_t at) {
    const Node& n = *trace_.nodes[at];
    if (broadcasts(n, store_)) broadcast_from_[n.results[0]] = n.args[0].v;
    for_each_value(n.args, [&](ValueId v) { readers_[v].push_back(at); });
    for (const ValueId r : n.results) lines_.made_at[r] = at;
    if (def(n).view) lines_.views[n.args[0].v].push_back(&n);
    if (is_region(n)) {
      for (const Node* line : n.body) for (const ValueId r : line->results) lines_.makers[r] = line;
    } else if (is_single(n)) {
      for (const ValueId r : n.results) lines_.makers[r] = &n;
    }
  }

  bool is_region(const Node& n) const { return thunder::is_region(n, executor_, op_); }
  bool is_single(const Node& n) const { return thunder::is_single(n, executor_, op_); }
  bool is_on_device(ValueId v) const { return store_.type(v).device != Device::cpu; }
  size_t most_instructions(const Node& n) const {
    const ExecutorDesc& d = executor_.desc();
    return d.recomputed_instructions ? d.recomputed_instructions(n, store_, d.user)
                                     : loops::Capabilities().recomputed_instructions;
  }

  bool is_cheaper(size_t at) const {
    const Node& n = *trace_.nodes[at];
    if (!is_single(n) || n.results.size() != 1 || def(n).view || computed_[at] == Computed::once) return false;
    const ValueId made = n.results[0];
    if (!is_on_device(made) || kept_[made]) return false;
    const Node* const line[] = {&n};
    return Recompute(store_, line, kept_, uses_, broadcast_from_, most_instructions(n)).is_cheaper(n) &&
           reads_no_more_than_it_makes(n);
  }
  // The operands of a line may then live as long as its result would, and are read as often.
  bool reads_no_more_than_it_makes(const Node& n) const {
    int64_t bytes = 0;
    for_each_value(n.args, [&](ValueId v) {
      while (broadcast_from_[v] != kNoValue) v = broadcast_from_[v];
      bytes += bytes_of(v, store_);
    });
    return bytes && bytes <= bytes_of(n.results[0], store_);
  }

  struct Made {
    size_t at;
    const Node* region;
    RegionState state;
  };

  void duplicate_into_readers(size_t at) {
    const Node& n = *trace_.nodes[at];
    const ValueId made = n.results[0];
    std::vector<Made> regions;
    for (const size_t reader : readers_[made]) {
      const Node* const region = trace_.nodes[reader];
      if (!region || (!regions.empty() && regions.back().at == reader)) continue;
      if (!is_region(*region)) return;
      const ValueId own = store_.add(store_.type(made));
      const Node* const line = store_.node(n.op, n.args, {&own, 1}, {}, n.where, n.executor);
      regions.push_back({reader, nullptr, nullptr});
      regions.back().region = prepend_lines(*region, {&line, 1}, made, own, regions.back().state);
      if (!regions.back().region) return;
    }
    if (regions.empty()) return;
    for (Made& m : regions) replace(m.at, m.region, std::move(m.state));
    lines_.made_at.erase(made);
    trace_.nodes[at] = nullptr;
  }

  void derive_inputs(size_t at) {
    const auto inputs = trace_.nodes[at]->args[0].value_list();
    for (const ValueId v : std::vector<ValueId>(inputs.begin(), inputs.end())) {
      const auto made_at = lines_.made_at.find(v);
      if (made_at == lines_.made_at.end() || computed_[made_at->second] == Computed::once) continue;
      const bool is_view = trace_.nodes[made_at->second] && def(*trace_.nodes[made_at->second]).view;
      if (is_view || !is_on_device(v) || bytes_of(v, store_) < kLarge) continue;
      const Node& region = *trace_.nodes[at];
      Derivation derivation(store_, lines_, at, region.args[0].value_list(), v);
      // If other readers need the stored value, only a read is saved, no write, and the inputs of the recomputation
      // would have to live as long.
      const std::vector<size_t>& readers = readers_[v];
      const bool is_last = !kept_[v] && std::all_of(readers.begin(), readers.end(), [at](size_t r) { return r == at; });
      const auto found = derivation.derive(most_instructions(*region.body[0]) / 2, is_last ? bytes_of(v, store_) : 0);
      if (!found) continue;
      RegionState state;
      const Node* const changed = prepend_lines(region, derivation.lines(), v, *found, state);
      if (!changed) continue;
      replace(at, changed, std::move(state));
      for (const Node* view : derivation.views()) {
        before_[at].push_back(view);
        lines_.made_at[view->results[0]] = at;
        lines_.makers[view->results[0]] = view;
      }
    }
  }

  // The region with `lines` before the first that reads `v`, for which `own` stands; null: the executor takes none so.
  const Node* prepend_lines(const Node& region, std::span<const Node* const> lines, ValueId v, ValueId own,
                            RegionState& state) {
    to_.resize(store_.size(), kNoValue);
    to_[v] = own;
    std::vector<const Node*> body;
    bool is_made = false;
    for (const Node* line : region.body) {
      const Node* const changed = store_.substitute(line, to_);
      if (changed != line && !std::exchange(is_made, true)) body.insert(body.end(), lines.begin(), lines.end());
      body.push_back(changed);
    }
    to_[v] = kNoValue;
    if (!executor_.desc().fits(body, store_, state, executor_.desc().user)) return nullptr;
    return rebuild_region(region, body, region.results);
  }
  const Node* rebuild_region(const Node& old, std::span<const Node* const> body, std::span<const ValueId> results) {
    std::vector<ValueId> inputs;
    known_.clear(), known_.resize(store_.size());
    for (const Node* line : body) {
      for_each_value(line->args, [&](ValueId v) {
        if (known_.add(v)) inputs.push_back(v);
      });
      known_.add(*line);
    }
    const Arg args[] = {Arg::values(inputs)};
    return store_.node(&op_, args, results, body, old.where, name_);
  }

  void replace(size_t at, const Node* region, RegionState state) {
    trace_.nodes[at] = region;
    states_[region] = std::move(state);
    for_each_value(region->args, [&](ValueId v) {
      std::vector<size_t>& readers = readers_[v];
      if (readers.empty() || readers.back() != at) readers.push_back(at);
    });
  }

  // Puts new views in their places, and leaves out what no line reads any more.
  void finish() {
    std::vector<const Node*> nodes;
    kept_.resize(store_.size());
    const auto keep = [&](const Node* n) {
      for_each_value(n->args, [&](ValueId v) { kept_[v] = 1; });
      nodes.push_back(n);
    };
    for (size_t i = trace_.nodes.size(); i-- > 0;) {
      if (const Node* const n = trace_.nodes[i] ? remove_unread(*trace_.nodes[i]) : nullptr) keep(n);
      for (size_t view = before_[i].size(); view-- > 0;) keep(before_[i][view]);
    }
    std::reverse(nodes.begin(), nodes.end());
    trace_.nodes = std::move(nodes);
  }
  // The region without unread results and lines; null if none of its results is read.
  const Node* remove_unread(const Node& n) {
    const auto is_read = [this](ValueId v) { return kept_[v] != 0; };
    if (std::all_of(n.results.begin(), n.results.end(), is_read)) return &n;
    if (!is_region(n)) return lines_.makers.count(n.results[0]) ? nullptr : &n;
    std::vector<ValueId> results;
    std::copy_if(n.results.begin(), n.results.end(), std::back_inserter(results), is_read);
    std::vector<const Node*> body;
    known_.clear(), known_.resize(store_.size());
    for (const ValueId r : results) known_.add(r);
    for (size_t i = n.body.size(); i-- > 0;) {
      const Node* const line = n.body[i];
      const std::span made = line->results;
      if (std::none_of(made.begin(), made.end(), [this](ValueId r) { return known_.has(r); })) continue;
      for_each_value(line->args, [this](ValueId v) { known_.add(v); });
      body.push_back(line);
    }
    if (body.empty()) return nullptr;
    std::reverse(body.begin(), body.end());
    RegionState state;
    if (!executor_.desc().fits(body, store_, state, executor_.desc().user)) body.assign(n.body.begin(), n.body.end());
    const Node* const region = rebuild_region(n, body, results);
    states_[region] = body.size() == n.body.size() ? std::move(states_[&n]) : std::move(state);
    return region;
  }

  Trace& trace_;
  Store& store_;
  const Executor& executor_;
  const Op& op_;
  RegionStates& states_;
  const char* name_;
  const std::vector<Computed> computed_;
  std::vector<uint8_t> kept_;   // by value: it is returned or written
  std::vector<uint32_t> uses_;  // none is counted: what a line reads need not be stored for others
  std::vector<ValueId> broadcast_from_;
  std::vector<std::vector<const Node*>> before_;  // by line: new views that stand before it
  std::unordered_map<ValueId, std::vector<size_t>> readers_;  // by value: lines that read it, or did
  LinesByResult lines_;
  std::vector<ValueId> to_;
  ValueSet known_;
};

}  // namespace

void rematerialize(Trace& trace, const Executors& executors, const Op& region, RegionStates& states) {
  const bool on_device = std::any_of(trace.nodes.begin(), trace.nodes.end(), [&](const Node* n) {
    return !n->results.empty() && trace.type(n->results[0]).device != Device::cpu;
  });
  for (const Ref<Executor>& e : executors)
    if (on_device && e->desc().claim_region && e->desc().fits) Rematerialization(trace, *e, region, states).run();
}

}  // namespace thunder
