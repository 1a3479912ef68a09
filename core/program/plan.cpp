// The memory plan: views take no memory, values that do not live at the same time share it, results are written
// where they are wanted.
#include <algorithm>

#include "ir/prim.h"
#include "ops/world_collectives.h"
#include "program/plan_steps.h"

namespace thunder {
namespace {

// A written input no larger than this is copied at the end, rather than computed in place, if steps that an interrupt
// may stop come after it.
constexpr int64_t kSmallWrite = 1 << 16;

// Constants larger than this are recomputed at each call rather than kept.
constexpr int64_t kConstantLimit = 1 << 20;

class Planner {
 public:
  Planner(const Trace& trace, const InputLayouts& inputs, const Kernels& kernels, const PlanOptions& options)
      : trace_(trace),
        strides_(strides_of(trace, inputs)),
        donated_(inputs.donated),
        kernels_(kernels),
        channels_last_(options.channels_last),
        epilogues_(options.epilogues) {}

  PlanFormulas run() {
    plan_.donated = donated_;
    place_inputs();
    locate_results();
    find_constants();
    all_.producer.assign(trace_.nodes.size(), kNever);
    if (epilogues_) find_epilogues(trace_, kernels_, all_);
    find_lifetimes();
    update_in_place(trace_, kernels_, last_check_, all_);
    find_last_work();
    place_writes();
    place_outputs();
    place_epilogues(trace_, kernels_, all_);
    overwrite_operands(trace_, kernels_, plan_.inputs, all_);
    plan_steps(trace_, strides_, kernels_, std::move(copies_), all_, plan_);
    return std::move(plan_);
  }

 private:
  const TensorType& type(ValueId v) const { return trace_.type(v); }

  // An input that is dense is so for all sizes; the strides of others are numbers.
  static std::vector<Shape> strides_of(const Trace& trace, const InputLayouts& inputs) {
    std::vector<Shape> out;
    for (size_t i = 0; i < trace.inputs.size(); i++) {
      Shape strides = dense_stride_formulas(trace.type(trace.inputs[i].value).shape);
      const Sizes& given = inputs.strides[i];
      const auto is_given = [](Dim d, int64_t number) { return unnoted_hint(d) == number; };
      if (!std::equal(strides.begin(), strides.end(), given.begin(), given.end(), is_given))
        strides.assign(given.begin(), given.end());
      out.push_back(std::move(strides));
    }
    return out;
  }

  void place_inputs() {
    locations_.resize(trace_);
    roots_.resize(trace_);
    for (uint32_t i = 0; i < trace_.inputs.size(); i++) {
      const ValueId v = trace_.inputs[i].value;
      plan_.inputs.push_back({{}, {}, false, donated_[i] && is_whole(i), trace_.inputs[i].frozen});
      plan_.input_types.emplace_back(type(v), plan_.formulas);
      std::vector<FormulaRef>& strides = plan_.input_strides.emplace_back();
      for (Dim d : strides_[i]) strides.push_back(plan_.formulas.add(d));
      locations_[v] = {v, 0, strides_[i]};
      roots_[v] = {Place::input, i, 0, true, kNever, kNever};
    }
  }

  // Whether an input is its memory, without gaps or elements that share a place.
  bool is_whole(uint32_t i) const {
    const TensorType& t = type(trace_.inputs[i].value);
    const Sizes strides = concrete(strides_[i]);
    const Extent e = extent(concrete(t.shape), strides, size_of(t.dtype));
    const auto repeats = [](int64_t stride) { return stride == 0; };
    return e.begin == 0 && e.end == static_cast<int64_t>(dense_bytes(t)) &&
           std::none_of(strides.begin(), strides.end(), repeats);
  }

  // A view prim whose strides allow it becomes a view of its input's memory.
  bool make_view(const Node& n) {
    auto there = def(n).view ? locate_view(trace_, n, locations_[n.args[0].v]) : std::nullopt;
    if (there) locations_[n.results[0]] = std::move(*there);
    return there.has_value();
  }

  // For each value the permute that reads it first, if no caller sees how the value itself lies.
  std::vector<const Node*> find_reading_permutes() const {
    std::vector<const Node*> by(trace_.store->size());
    std::vector<bool> returned(by.size());
    for (const ValueId v : trace_.outputs) returned[v] = true;
    for (const Write& w : trace_.writes) returned[w.value] = true;
    for (const Node* n : trace_.nodes)
      if (n->op->id == Prim::permute && !by[n->args[0].v] && !returned[n->args[0].v]) by[n->args[0].v] = n;
    return by;
  }

  // A result that its kernel can write in any order of dims lies as its reader permutes it, so that what reads that is
  // dense; where channels lie last, they do.
  Shape strides_of_result(const Node& n, size_t number, const Node* permute) const {
    const Shape& shape = type(n.results[number]).shape;
    if (std::binary_search(channels_last_.begin(), channels_last_.end(), n.results[number]))
      return channels_last_strides(shape);
    if (!permute || !kernels_.orders_result(n, number)) return dense_stride_formulas(shape);
    const Shape as_read = dense_stride_formulas(type(permute->results[0]).shape);
    const auto dims = permute->args[1].dim_list();
    Shape strides = as_read;
    for (size_t d = 0; d < as_read.size(); d++) strides[normalize_axis(dims[d].value(), strides.size())] = as_read[d];
    return strides;
  }

  void locate_results() {
    const std::vector<const Node*> permutes = this->find_reading_permutes();
    is_view_.resize(trace_.nodes.size());
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      const Node& n = *trace_.nodes[i];
      if ((is_view_[i] = make_view(n))) continue;
      if (def(n).has(kSameMemory)) {
        locations_[n.results[0]] = locations_[n.args[0].v];
        continue;
      }
      for (size_t k = 0; k < n.results.size(); k++) {
        const ValueId r = n.results[k];
        locations_[r] = {r, 0, strides_of_result(n, k, permutes[r])};
        roots_[r].made = static_cast<int64_t>(i);
      }
    }
  }

  // Pure nodes that depend on no input but frozen ones, and whose results are small or no larger than their operands.
  // Not those for which ranks meet: one that compiles anew would wait for others, which compile nothing.
  void find_constants() {
    constant_.resize(trace_.nodes.size());
    std::vector<bool> known(trace_.store->size());
    for (const Input& input : trace_.inputs) known[input.value] = input.frozen;
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      const Node& n = *trace_.nodes[i];
      bool all = n.op->pure && !runs_collective(def(n)) && !waits_for_collective(def(n));
      for_each_value(n.args, [&](ValueId v) { all = all && known[v]; });
      Dim operands = 0;
      if (all) for_each_value(n.args, [&](ValueId v) { operands = operands + bytes_of(type(locations_[v].root)); });
      for (ValueId r : n.results)
        all = all && (is_view_[i] || is_at_most(bytes_of(type(r)), kConstantLimit) ||
                      is_at_most(bytes_of(type(r)), operands));
      constant_[i] = all;
      for (ValueId r : n.results) known[r] = all;
      if (!all || is_view_[i]) continue;
      for (ValueId r : n.results) {
        const uint32_t arena = find_or_add_arena(plan_.arenas, type(r).device);
        plan_.constant_bytes.resize(plan_.arenas.size());
        const auto request = static_cast<int64_t>(plan_.constant_bytes[arena].size());
        roots_[r] = {Place::constant, arena, 0, true, static_cast<int64_t>(i), kNever, request};
        plan_.constant_bytes[arena].push_back(plan_.formulas.add(bytes_of(type(r))));
      }
    }
  }

  void find_lifetimes() {
    const auto end = static_cast<int64_t>(trace_.nodes.size());
    auto use = [&](ValueId v, int64_t at) {
      roots_[locations_[v].root].last_use = std::max(roots_[locations_[v].root].last_use, at);
    };
    IndexChecks checks(trace_);
    last_check_ = kNever;
    for (int64_t i = 0; i < end; i++) {
      const Node& n = *trace_.nodes[static_cast<size_t>(i)];
      for_each_value(n.args, [&](ValueId v) { use(v, i); });
      if (const int64_t producer = all_.producer[static_cast<size_t>(i)]; producer != kNever)
        for_each_value(trace_.nodes[static_cast<size_t>(producer)]->args, [&](ValueId v) { use(v, i); });
      if ((may_reject_data(n) && !checks.has_seen_or_add(n)) || kernels_.has(n, kMayFail)) last_check_ = i;
    }
    plan_.may_fail = last_check_ != kNever;
    for (ValueId v : trace_.outputs) use(v, end);
    for (const Write& w : trace_.writes) use(w.value, end);
  }

  // A node that an executor claimed as a whole checks what the prims of its body check.
  bool may_reject_data(const Node& n) const {
    if (def(n).has(kChecksData) || (def(n).has(kChecksIntegers) && !is_real(type(n.results[0]).dtype))) return true;
    return std::any_of(n.body.begin(), n.body.end(), [this](const Node* inner) { return may_reject_data(*inner); });
  }

  // Whether this value can be placed anywhere: it is a root, dense and has no place yet.
  bool is_unplaced_root(ValueId v) const {
    const Location& l = locations_[v];
    return l.root == v && roots_[v].place == Place::arena && !roots_[v].placed;
  }

  // Finds the last node that does more than compute the new value of a written input. If nothing is written before it,
  // an interrupt can stop the call until then.
  void find_last_work() {
    std::vector<bool> written(trace_.store->size());
    for (const Write& w : trace_.writes) written[w.value] = true;
    const auto works = [&](size_t i) {
      const auto& made = trace_.nodes[i]->results;
      return !is_view_[i] && !constant_[i] &&
             std::none_of(made.begin(), made.end(), [&](ValueId r) { return written[r]; });
    };
    last_work_ = static_cast<int64_t>(trace_.nodes.size()) - 1;
    while (last_work_ >= 0 && !works(static_cast<size_t>(last_work_))) last_work_--;
  }

  // The new value of a written input is computed in the input's memory if no node reads the old value afterwards and
  // none that comes later may reject the call; otherwise it is copied there at the end. So are small values that are
  // computed early, such as running statistics and the random state: in place they would make the rest of the call
  // uninterruptible.
  void place_writes() {
    for (const Write& w : trace_.writes) {
      plan_.inputs[w.input].written = true;
      const ValueId old = trace_.inputs[w.input].value;
      const Location& l = locations_[w.value];
      const bool in_place = l.root == old && is_equal(l.offset, 0) && same_strides(l.strides, strides_[w.input]);
      if (in_place) continue;
      const Root& r = roots_[w.value];
      bool direct = is_unplaced_root(w.value) && r.made > last_check_ && is_dense(type(old).shape, strides_[w.input]);
      direct = direct && type(w.value).dtype == type(old).dtype && can_overwrite_input(old, w.value, r.made);
      direct = direct && (r.made > last_work_ || is_less(kSmallWrite, bytes_of(type(old))));
      if (direct) roots_[w.value] = {Place::input, w.input, 0, true, r.made, r.last_use};
      else copies_.push_back({w.value, Place::input, w.input});
    }
  }

  bool can_overwrite_input(ValueId old, ValueId made_by, int64_t made) const {
    const int64_t last = roots_[old].last_use;
    if (last < made) return true;
    if (last > made) return false;
    const Node& n = *trace_.nodes[static_cast<size_t>(made)];
    if (!kernels_.can_run_in_place(n)) return false;
    // Elementwise at the same addresses: every argument in this memory is the input itself, unchanged.
    bool same = true;
    for_each_value(n.args, [&](ValueId v) {
      if (locations_[v].root == old)
        same = same && is_equal(locations_[v].offset, 0) &&
               same_strides(locations_[v].strides, locations_[made_by].strides);
    });
    return same;
  }

  // Whether a value is the whole root, possibly under another shape.
  bool covers_root(ValueId v, ValueId root) const {
    const Location& l = locations_[v];
    return is_equal(l.offset, 0) && is_equal(bytes_of(type(v)), bytes_of(type(root))) &&
           is_dense(type(v).shape, l.strides);
  }

  void place_outputs() {
    for (uint32_t i = 0; i < trace_.outputs.size(); i++) {
      const ValueId v = trace_.outputs[i];
      plan_.outputs.emplace_back(type(v), plan_.formulas);
      const ValueId root = locations_[v].root;
      if (is_unplaced_root(root) && covers_root(v, root))
        roots_[root] = {Place::output, i, 0, true, roots_[root].made, roots_[root].last_use};
      else copies_.push_back({v, Place::output, i});
    }
  }

  const Trace& trace_;
  const std::vector<Shape> strides_;
  const std::vector<bool>& donated_;
  const Kernels& kernels_;
  const std::span<const ValueId> channels_last_;
  const bool epilogues_;
  PlanFormulas plan_;
  Locations all_;
  ByValue<Location>& locations_ = all_.at;
  ByValue<Root>& roots_ = all_.roots;
  std::vector<bool>&is_view_ = all_.is_view, &constant_ = all_.constant;
  std::vector<FinalCopy> copies_;
  int64_t last_check_ = kNever, last_work_ = kNever;
};

}  // namespace

PlanFormulas plan_formulas(const Trace& trace, const InputLayouts& inputs, const Kernels& kernels,
                           const PlanOptions& options) {
  return Planner(trace, inputs, kernels, options).run();
}

Buffer buffer_of(const Plan& plan, const BufferPlan& b) {
  Buffer buffer;
  buffer.shape = plan.layouts.data() + b.layout;
  buffer.strides = buffer.shape + std::max<int32_t>(b.rank, 0);
  buffer.rank = b.rank;
  buffer.dtype = b.dtype;
  buffer.device = b.device;
  return buffer;
}

}  // namespace thunder
