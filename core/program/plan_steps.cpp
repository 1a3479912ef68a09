#include "program/plan_steps.h"

#include <algorithm>

#include "program/arena_plan.h"
#include "program/copy.h"

namespace thunder {
namespace {

class StepPlanner {
 public:
  StepPlanner(const Trace& trace, const std::vector<Sizes>& strides, const Preparer& preparer,
              std::vector<FinalCopy> copies, Locations& locations, Plan& plan)
      : trace_(trace), strides_(strides), preparer_(preparer), copies_(std::move(copies)), all_(locations),
        plan_(plan) {}

  void run() {
    arenas_.resize(plan_.arenas.size());
    number_values();
    add_steps();
    add_final_copies();
    for (size_t i = 0; i < arenas_.size(); i++) plan_.arenas[i].bytes = arenas_[i].top();
  }

 private:
  const TensorType& type(ValueId v) const { return trace_.type(v); }

  uint32_t arena(Device device) {
    const uint32_t index = arena_of(plan_, device);
    arenas_.resize(plan_.arenas.size());
    return index;
  }

  // The numbers of values in the printed trace, for reports.
  void number_values() {
    numbers_.resize(trace_.store->size());
    uint32_t values = 0;
    for (const Node* n : trace_.nodes)
      for (ValueId r : n->results) numbers_[r] = ++values;
  }

  uint32_t layout(const Sizes& sizes, const Sizes& strides) {
    const auto at = static_cast<uint32_t>(plan_.layouts.size());
    plan_.layouts.insert(plan_.layouts.end(), sizes.begin(), sizes.end());
    plan_.layouts.insert(plan_.layouts.end(), strides.begin(), strides.end());
    return at;
  }

  void add_buffer(Place place, uint32_t index, int64_t offset, const TensorType& t, const Sizes& strides) {
    plan_.buffers.push_back(
        {place, index, offset, t.dtype, t.device, static_cast<int32_t>(t.rank()), layout(concrete(t.shape), strides)});
  }
  void add_buffer(ValueId v) {
    const Location& l = locations_[v];
    const Root& r = roots_[l.root];
    add_buffer(r.place, r.index, r.offset + l.offset, type(v), l.strides);
  }

  // Dense copies of a node's strided inputs, if its executor needs them; they live for this step only.
  std::vector<std::pair<ValueId, int64_t>> densify(const Node& n) {
    std::vector<std::pair<ValueId, int64_t>> copies;
    if (preparer_.takes_strided(n)) return copies;
    for_each_value(n.args, [&](ValueId v) {
      if (is_dense(concrete(type(v).shape), locations_[v].strides)) return;
      const uint32_t index = arena(type(v).device);
      const int64_t at = arenas_[index].allocate(aligned(dense_bytes(type(v))));
      copies.emplace_back(v, at);
      add_copy(v, Place::arena, index, at, dense_strides(type(v).shape));
    });
    return copies;
  }

  void add_copy(ValueId from, Place place, uint32_t index, int64_t offset, const Sizes& strides) {
    Step step;
    step.run = run_copy;
    step.first = static_cast<uint32_t>(plan_.buffers.size());
    add_buffer(from);
    add_buffer(place, index, offset, type(from), strides);
    step.n_inputs = step.n_outputs = 1;
    step.arena = arena(type(from).device);
    plan_.steps.push_back(step);
  }

  void add_step(size_t at) {
    const Node& n = *trace_.nodes[at];
    const auto copies = densify(n);
    Step step;
    step.node = &n;
    if (all_.producer[at] != kNever)
      step.epilogue_input = operand(n, trace_.nodes[static_cast<size_t>(all_.producer[at])]->results[0]);
    step.first = static_cast<uint32_t>(plan_.buffers.size());
    size_t next_copy = 0;
    auto add_input = [&](ValueId v) {
      if (next_copy == copies.size() || copies[next_copy].first != v) return add_buffer(v);
      add_buffer(Place::arena, arena(type(v).device), copies[next_copy++].second, type(v),
                 dense_strides(type(v).shape));
    };
    for (size_t i = 0; i < n.args.size(); i++) {
      const Arg& a = n.args[i];
      if (a.kind == ArgKind::value) add_input(a.v);
      if (a.kind == ArgKind::none && n.op->schema.params[i].kind == ParamKind::tensor)
        plan_.buffers.push_back({.rank = -1});
      if (a.kind == ArgKind::values)
        for (ValueId v : a.value_list()) add_input(v);
    }
    for (auto& [v, at] : copies) arenas_[arena(type(v).device)].release(at, aligned(dense_bytes(type(v))));
    step.n_inputs = static_cast<uint32_t>(plan_.buffers.size()) - step.first;
    for (ValueId r : n.results) add_buffer(r);
    step.n_outputs = static_cast<uint32_t>(n.results.size());
    step.arena = arena(runs_on(n));
    plan_.steps.push_back(step);
  }

  // The device that a node runs on: for a copy between devices, the one that is not the CPU.
  Device runs_on(const Node& n) const {
    Device device = Device::cpu;
    for_each_value(n.args, [&](ValueId v) { device = type(v).device == Device::cpu ? device : type(v).device; });
    for (ValueId r : n.results) device = type(r).device == Device::cpu ? device : type(r).device;
    return device;
  }

  // The index of the input that `v` is.
  static int32_t operand(const Node& n, ValueId v) {
    int32_t number = -1, next = 0;
    for_each_value(n.args, [&](ValueId arg) {
      if (arg == v && number < 0) number = next;
      next++;
    });
    return number;
  }

  void add_steps() {
    for (size_t i = 0; i < trace_.nodes.size(); i++)
      if (constant_[i] && !is_view_[i]) add_step(i);
    plan_.constant_steps = plan_.steps.size();
    std::vector<std::vector<ValueId>> dying(trace_.nodes.size() + 1);
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      const Node& n = *trace_.nodes[i];
      if (!is_view_[i] && !constant_[i]) {
        for (ValueId r : n.results) {
          Root& root = roots_[r];
          if (locations_[r].root == r && !root.placed && root.place == Place::arena) {
            root.index = arena(type(r).device);
            root.offset = arenas_[root.index].allocate(aligned(std::max<size_t>(1, dense_bytes(type(r)))));
            root.placed = true;
            const auto last = static_cast<size_t>(std::max(root.last_use, static_cast<int64_t>(i)));
            dying[last].push_back(r);
            plan_.slots.push_back({numbers_[r], root.index, root.offset, dense_bytes(type(r)), i + 1,
                                   std::min(last + 1, trace_.nodes.size())});
          }
        }
        add_step(i);
      }
      for (ValueId r : dying[i])
        arenas_[roots_[r].index].release(roots_[r].offset, aligned(std::max<size_t>(1, dense_bytes(type(r)))));
    }
  }

  // Values that could not be computed in place are copied at the end, when nothing can fail any more. The source of a
  // copy may be an input that another copy writes, so copies from inputs come first.
  void add_final_copies() {
    std::stable_sort(copies_.begin(), copies_.end(), [](const FinalCopy& a, const FinalCopy& b) {
      return a.place == Place::output && b.place == Place::input;
    });
    for (const FinalCopy& c : copies_)
      add_copy(c.value, c.place, c.index, 0,
               c.place == Place::input ? strides_[c.index] : dense_strides(type(c.value).shape));
  }

  const Trace& trace_;
  const std::vector<Sizes>& strides_;
  const Preparer& preparer_;
  std::vector<FinalCopy> copies_;
  Locations& all_;
  const std::vector<Location>& locations_ = all_.at;
  std::vector<Root>& roots_ = all_.roots;
  const std::vector<bool>&is_view_ = all_.is_view, &constant_ = all_.constant;
  Plan& plan_;
  std::vector<ArenaPlan> arenas_;  // as Plan::arenas
  std::vector<uint32_t> numbers_;  // by value: its number in the printed trace
};

}  // namespace

uint32_t arena_of(Plan& plan, Device device) {
  for (uint32_t i = 0; i < plan.arenas.size(); i++)
    if (plan.arenas[i].device == device) return i;
  plan.arenas.push_back({device});
  return static_cast<uint32_t>(plan.arenas.size() - 1);
}

void plan_steps(const Trace& trace, const std::vector<Sizes>& strides, const Preparer& preparer,
                std::vector<FinalCopy> copies, Locations& locations, Plan& plan) {
  StepPlanner(trace, strides, preparer, std::move(copies), locations, plan).run();
}

}  // namespace thunder
