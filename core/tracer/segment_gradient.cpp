// Gradients across breaks. What earlier segments computed from the tensors in wrt is recorded again in the segment that
// asks, on the tensors that they read, so that loss and gradient are one trace.
#include <algorithm>
#include <deque>

#include "base/text.h"
#include "ir/draws.h"
#include "tracer/segments.h"

namespace thunder {

class SegmentScope::Joined {
 public:
  Joined(SegmentScope& scope, ValueId loss, std::span<Tensor* const> wrt, std::span<const ValueId> ids)
      : scope_(scope),
        now_(scope.past_.size()),
        maps_(now_ + 1) {
    Past current{scope.recorded({loss}), {}, {}, {}, {}, {}, {}, {}};
    for (size_t i = 0; i < current.trace.inputs.size(); i++) {
      current.inputs.push_back(scope.input_tensor(i));
      current.before.push_back(version(*current.inputs.back()));
    }
    current_ = std::move(current);
    for (size_t i = 0; i < wrt.size(); i++) note_wrt(*wrt[i], ids[i], loss);
    mark(loss, ids);
    if (!crosses() || !needs_what_wrt_is_of()) return;
    whole_ = true;
    for (ValueId v : ids) stands_.push_back({scope_.original({now_, v}), v});
    mark(loss, ids);
  }

  // Whether the gradient depends on earlier segments, or on lines of them that were recorded again.
  bool crosses() const {
    if (whole_) return true;
    const auto is_used = [&](auto& leaf) { return used_[now_][leaf.first]; };
    return std::any_of(leaves_[now_].begin(), leaves_[now_].end(), is_used) ||
           std::any_of(used_.begin(), used_.begin() + static_cast<ptrdiff_t>(now_),
                       [](auto& used) { return !used.empty(); });
  }

  void record() {
    scope_.recorder().build();
    for (size_t k = 0; k <= now_; k++)
      if (!used_[k].empty()) record(k);
  }

  // A value of the current segment in terms of wrt.
  ValueId in_terms_of_wrt(ValueId v) const { return maps_[now_][v] == kNoValue ? v : maps_[now_][v]; }

 private:
  static uint64_t version(const Tensor& t) { return t.concrete() ? t.storage()->version() : 0; }
  const Past& segment_at(size_t k) const { return k == now_ ? current_ : scope_.past_[k]; }

  // The lines that are recorded again.
  void mark(ValueId loss, std::span<const ValueId> ids) {
    used_.assign(now_ + 1, {}), active_.assign(now_ + 1, {}), leaves_.assign(now_ + 1, {});
    for (size_t k = 0; k <= now_; k++) mark_dependents(k);
    used_[now_].assign(segment_at(now_).trace.store->size(), false);
    used_[now_][loss] = true;
    // The value of a tensor in wrt is needed itself, if it depends on another one in wrt.
    for (ValueId v : ids) used_[now_][v] = true;
    for (size_t k = now_ + 1; k-- > 0;) slice(k);
  }

  static bool holds_gradient(const Node& n) {
    return n.op->name() == "grad" ||
           std::any_of(n.body.begin(), n.body.end(), [](const Node* inner) { return holds_gradient(*inner); });
  }
  // A gradient among the lines may be by what wrt was computed from; and of two of wrt one may be a view of the other.
  bool needs_what_wrt_is_of() const {
    if (both_) return true;
    for (size_t k = 0; k <= now_; k++)
      for (const Node* n : segment_at(k).trace.nodes)
        if (!used_[k].empty() && is_line_needed(k, *n) && active_[k][n->results[0]] && holds_gradient(*n)) return true;
    return false;
  }

  // Notes the values that earlier segments had for a tensor in wrt: the gradient is by those.
  void note_wrt(const Tensor& t, ValueId v, ValueId loss) {
    const ValueId given = scope_.given(const_cast<Tensor*>(&t));
    const Contents held = scope_.contents(given);
    for (const Origin& at : held.now) stands_.push_back({scope_.original(at), v});
    if (!held.before.empty()) scope_.require_current(current_, loss, v, held);
    const Place at = scope_.locate(given, scope_.held_by_inputs());
    if (at.input == SIZE_MAX || !at.path.empty() || at.now != scope_.inputs()[at.input].value) return;
    seeds_.push_back(scope_.input_tensor(at.input));
  }
  bool is_seed(const Tensor& t, uint64_t seen) const {
    return t.concrete() && std::any_of(seeds_.begin(), seeds_.end(),
                                       [&](auto& s) { return s->storage() == t.storage() && version(*s) == seen; });
  }

  // Marks the values of a segment that depend on wrt, through earlier segments' results or as values of wrt itself.
  void mark_dependents(size_t k) {
    const Past& p = segment_at(k);
    std::vector<bool>& active = active_[k];
    active.assign(p.trace.store->size(), false);
    for (size_t i = 0; i < p.inputs.size(); i++) {
      const auto made = scope_.find_maker(k, *p.inputs[i], p.before[i]);
      active[p.trace.inputs[i].value] =
          (made && active_[made->at.segment][made->at.value]) || (k < now_ && is_seed(*p.inputs[i], p.before[i]));
    }
    for (const Node* n : p.trace.nodes) {
      bool any = false;
      for_each_value(n->args, [&](ValueId v) { any |= active[v]; });
      for (ValueId r : n->results) active[r] = any || mark_if_wrt(k, r, any);
    }
  }

  // Whether this value is wrt's, and a leaf. A view that depends on another of wrt would have to be both.
  bool mark_if_wrt(size_t k, ValueId v, bool depends) {
    const Origin at = scope_.original({k, v});
    for (const Stand& s : stands_) {
      if (s.at != at) continue;
      if (whole_) return true;
      if (!depends) leaves_[k][v] = s.now;
      else both_ = both_ || scope_.recorder().memory().view_of(s.now);
      return true;
    }
    return false;
  }

  // Whether what a segment read of an earlier one is recorded again, too.
  bool is_source_recorded_again(const Made& made) const { return whole_ || active_[made.at.segment][made.at.value]; }
  // Whether all that is used of a segment is recorded again.
  bool is_again(size_t k) const { return k < now_ || whole_; }
  bool is_line_needed(size_t k, const Node& n) const {
    return std::any_of(n.results.begin(), n.results.end(), [&](ValueId r) {
      return used_[k][r] && !leaves_[k].count(r) && (is_again(k) || active_[k][r]);
    });
  }

  // The lines that are recorded again: of the current segment those that depend on what earlier ones made of wrt.
  void slice(size_t k) {
    std::vector<bool>& used = used_[k];
    if (used.empty()) return;
    const Past& p = segment_at(k);
    for (size_t i = p.trace.nodes.size(); i-- > 0;) {
      const Node& n = *p.trace.nodes[i];
      if (is_line_needed(k, n)) for_each_value(n.args, [&](ValueId v) { used[v] = true; });
    }
    for (size_t i = 0; i < p.inputs.size(); i++) {
      if (!used[p.trace.inputs[i].value]) continue;
      const auto made = scope_.find_maker(k, *p.inputs[i], p.before[i]);
      if (!made || !is_source_recorded_again(*made)) continue;
      std::vector<bool>& there = used_[made->at.segment];
      if (there.empty()) there.assign(segment_at(made->at.segment).trace.store->size(), false);
      there[made->at.value] = true;
    }
  }

  [[noreturn]] void refuse(const Tensor& t, std::string_view why) const {
    thunder::fail(Code::unimplemented,
                  "grad: the function broke between wrt and the loss, where a value was read, and a tensor, ",
                  name(t.type()), ", that an earlier part read ", why,
                  "; take the gradient before the value is read, or read it later");
  }

  ValueId record_input_again(size_t k, size_t i) {
    const Past& p = segment_at(k);
    const Ref<Tensor>& t = p.inputs[i];
    if (!t->concrete()) return scope_.number_input(t->number_value());
    if (const auto made = scope_.find_maker(k, *t, p.before[i]); made && is_source_recorded_again(*made)) {
      const bool same = made->tensor->strides() == t->strides() && made->tensor->offset() == t->offset() &&
                        made->tensor->type() == t->type();
      if (!same) refuse(*t, "is a view that was taken of its memory");
      return maps_[made->at.segment][made->at.value];
    }
    if (version(*t) != p.before[i]) refuse(*t, "was written in place since");
    return scope_.TracingScope::given(t.get());
  }

  void record(size_t k) {
    const Past& p = segment_at(k);
    std::vector<ValueId>& map = maps_[k];
    map.assign(p.trace.store->size(), kNoValue);
    const std::vector<bool>& used = used_[k];
    for (size_t i = 0; i < p.inputs.size(); i++) {
      const ValueId v = p.trace.inputs[i].value;
      if (used[v] && (is_again(k) || active_[k][v])) map[v] = record_input_again(k, i);
    }
    for (const Node* n : p.trace.nodes) {
      if (is_line_needed(k, *n) && !reuse_copy(k, *n)) record_line(k, *n, map);
      for (ValueId r : n->results)
        if (const auto leaf = leaves_[k].find(r); leaf != leaves_[k].end()) map[r] = leaf->second;
    }
    scope_.recorder().set_where(nullptr);
  }

  // Whether the line's results exist already in this segment, because another copy of the line was recorded again.
  bool reuse_copy(size_t k, const Node& n) {
    for (ValueId r : n.results)
      if (!recorded_.count(canonical_origin(k, r))) return false;
    for (ValueId r : n.results) maps_[k][r] = recorded_.at(canonical_origin(k, r));
    return true;
  }
  // All that stands for one of wrt has one value, so have all copies of a line, and a view that is taken again of the
  // same.
  std::pair<Origin, ValueId> canonical_origin(size_t k, ValueId v) const {
    const Origin at = scope_.original({k, v});
    if (!whole_) return {at, kNoValue};
    for (const Stand& s : stands_)
      if (s.at == at) return {{SIZE_MAX, s.now}, kNoValue};
    const auto first = scope_.taken_first(at);
    return first ? std::pair(*first, maps_[k][scope_.memory(k).root(v)]) : std::pair(at, kNoValue);
  }

  std::vector<Arg> map_arguments(const Node& n, const std::vector<ValueId>& map) {
    std::vector<Arg> args(n.args.begin(), n.args.end());
    const auto to = [&](ValueId v) { return map[v] == kNoValue ? v : map[v]; };
    for (Arg& a : args) {
      if (a.kind == ArgKind::value) a.v = to(a.v);
      if (a.kind != ArgKind::values) continue;
      lists_.emplace_back();
      for (ValueId v : a.value_list()) lists_.back().push_back(to(v));
      a = Arg::values(lists_.back());
    }
    return args;
  }

  void record_line(size_t k, const Node& n, std::vector<ValueId>& map) {
    const size_t values = scope_.recorder().values();
    rerecord_line(n, map);
    for (ValueId r : n.results) {
      if (map[r] >= values) scope_.copies_.try_emplace({now_, map[r]}, scope_.original({k, r}));
      map[r] = recorded_.try_emplace(canonical_origin(k, r), map[r]).first->second;
    }
  }

  void rerecord_line(const Node& n, std::vector<ValueId>& map) {
    // The values that it read are inputs of the lines in its body.
    if (def(n).has(kEager) && !n.body.empty()) {
      for (const Node* inner : n.body) rerecord_line(*inner, map);
      return;
    }
    lists_.clear();
    const std::vector<Arg> args = map_arguments(n, map);
    TracingRecorder& recorder = scope_.recorder();
    recorder.set_where(n.where ? recorder.store().text(n.where) : nullptr);
    if (n.op->name() == "grad") return copy_gradient_line(n, args, map);
    if (n.op->name() == "checkpoint") return copy_checkpoint_line(n, map);
    // The numbers that it drew then.
    const auto draw = first_draw(n);
    const int64_t draws = draw ? scope_.count_draws_from(draw->ordinal) : 0;
    const Results results = recorder.invoke(def(n), args);
    if (draw) scope_.count_draws_from(draws);
    for (size_t i = 0; i < n.results.size(); i++) map[n.results[i]] = results[i];
  }

  void copy_gradient_line(const Node& n, const std::vector<Arg>& args, std::vector<ValueId>& map) {
    std::vector<ValueId> results;
    for (ValueId v : args[1].value_list()) results.push_back(scope_.recorder().store().add(scope_.recorder().type(v)));
    scope_.recorder().nodes().push_back(
        scope_.recorder().store().node(n.op, args, results, {}, scope_.recorder().where()));
    for (size_t i = 0; i < results.size(); i++) map[n.results[i]] = results[i];
  }

  void copy_checkpoint_line(const Node& n, std::vector<ValueId>& map) {
    std::vector<Tensor*> inputs;
    for (ValueId v : n.args[0].value_list()) inputs.push_back(scope_.wrap(map[v] == kNoValue ? v : map[v]));
    const std::vector<Tensor*> made = scope_.checkpointed(inputs, [&] {
      for (const Node* inner : n.body) rerecord_line(*inner, map);
      std::vector<Tensor*> out;
      for (ValueId r : n.results) out.push_back(scope_.wrap(map[r]));
      return out;
    });
    for (size_t i = 0; i < made.size(); i++) map[n.results[i]] = scope_.enter(made[i]);
  }

  SegmentScope& scope_;
  const size_t now_;
  Past current_;
  std::vector<Ref<Tensor>> seeds_;  // wrt, where it is memory
  struct Stand {
    Origin at;
    ValueId now;
  };
  std::vector<Stand> stands_;       // wrt, where segments made it
  bool both_ = false;               // one of wrt is a view of what depends on another
  bool whole_ = false;              // wrt are no leaves: what they were computed from is recorded again, too
  std::vector<std::vector<ValueId>> maps_;  // by segment and value: the value in the current recording
  std::vector<std::vector<bool>> used_, active_;
  std::vector<std::unordered_map<ValueId, ValueId>> leaves_;  // values of segments that are wrt, and what that is now
  std::map<std::pair<Origin, ValueId>, ValueId> recorded_;  // by what is the same
  std::deque<std::vector<ValueId>> lists_;
};

std::vector<ValueId> SegmentScope::gradient(ValueId loss, std::span<Tensor* const> wrt) {
  if (past_.empty()) return TracingScope::gradient(loss, wrt);
  ValueList ids = gradient_inputs(loss, wrt);
  Joined joined(*this, loss, wrt, ids);
  if (!joined.crosses()) return record_gradient(loss, ids);
  joined.record();
  for (ValueId& id : ids) id = joined.in_terms_of_wrt(id);
  return record_gradient(joined.in_terms_of_wrt(loss), ids);
}

}  // namespace thunder
