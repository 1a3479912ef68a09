#include "program/plan_steps.h"

#include <algorithm>

#include "ir/prim.h"
#include "program/donated.h"

namespace thunder {
namespace {

class StepPlanner {
 public:
  StepPlanner(const Trace& trace, const std::vector<Shape>& strides, const Kernels& kernels,
              std::vector<FinalCopy> copies, Locations& locations, PlanFormulas& plan)
      : trace_(trace), strides_(strides), kernels_(kernels), copies_(std::move(copies)), all_(locations),
        plan_(plan) {}

  void run() {
    layouts_.resize(trace_);
    find_requests();
    place_values();
    add_steps();
    add_final_copies();
  }

 private:
  const TensorType& type(ValueId v) const { return trace_.type(v); }

  uint32_t arena_index(Device device) { return find_or_add_arena(plan_.arenas, device); }
  FormulaRef formula(Dim d) { return plan_.formulas.add(d); }

  // A value's index among the requests of an arena.
  struct Request {
    ValueId value;
    uint32_t arena;
    size_t index;
  };
  Request add_request(ValueId v, size_t first, size_t last) {
    const uint32_t index = arena_index(type(v).device);
    std::vector<ArenaRequest>& requests = plan_.arenas[index].requests;
    requests.push_back({0, first, last});
    plan_.bytes.resize(plan_.arenas.size());
    plan_.bytes[index].push_back(formula(bytes_of(type(v))));
    return {v, index, requests.size() - 1};
  }
  const ArenaRequest& placed_request(const Request& r) const { return plan_.arenas[r.arena].requests[r.index]; }

  // Nodes run in the order of the trace, those that run once before all others.
  void find_requests() {
    const size_t nodes = trace_.nodes.size();
    dense_.resize(nodes);
    DonatedMemory donated(trace_, plan_.inputs, all_);
    for (size_t i = 0; i < nodes; i++)
      if (constant_[i] && !is_view_[i]) request_dense_copies(i, i);
    for (size_t i = 0; i < nodes; i++) {
      if (is_view_[i] || constant_[i]) continue;
      for (ValueId r : trace_.nodes[i]->results) {
        Root& root = roots_[r];
        if (locations_[r].root != r || root.placed || root.place != Place::arena) continue;
        const auto last = static_cast<size_t>(std::max(root.last_use, static_cast<int64_t>(i)));
        const auto place = donated.empty() ? std::nullopt
                                           : donated.reserve(type(r).device, dense_bytes(type(r)),
                                                             static_cast<int64_t>(i), static_cast<int64_t>(last));
        if (place) root = {Place::input, place->input, place->offset, true, root.made, root.last_use};
        else values_.push_back(add_request(r, nodes + i, nodes + last));
      }
      request_dense_copies(i, nodes + i);
    }
    plan_.in_donated = donated.bytes();
  }

  // Dense copies of a node's strided inputs, if its executor needs them; they live for this step only, or as long as
  // what it starts.
  void request_dense_copies(size_t node, size_t time) {
    const Node& n = *trace_.nodes[node];
    if (is_copy(n) || kernels_.takes_strided(n)) return;
    size_t last = time;
    if (kernels_.has(n, kStarts)) last += static_cast<size_t>(all_.root_of(n.results[0]).last_use) - node;
    for_each_value(n.args, [&](ValueId v) {
      if (!is_dense(type(v).shape, locations_[v].strides)) dense_[node].push_back(add_request(v, time, last));
    });
  }

  void place_values() {
    const size_t nodes = trace_.nodes.size();
    for (const Request& r : values_) {
      Root& root = roots_[r.value];
      const ArenaRequest& lives = placed_request(r);
      root.index = r.arena, root.placed = true;
      root.request = static_cast<int64_t>(r.index);
      plan_.slots.push_back(
          {r.value, r.arena, 0, 0, lives.first - nodes, std::min(lives.last - nodes, nodes - 1), r.index});
      plan_.slot_bytes.push_back(plan_.bytes[r.arena][r.index]);
    }
  }

  uint32_t add_layout(const Shape& sizes, const Shape& strides) {
    const auto at = static_cast<uint32_t>(plan_.layouts.size());
    for (Dim d : sizes) plan_.layouts.push_back(formula(d));
    for (Dim d : strides) plan_.layouts.push_back(formula(d));
    return at;
  }

  uint32_t add_dense_layout(const TensorType& t) { return add_layout(t.shape, dense_stride_formulas(t.shape)); }

  // `offset`: in an arena from the start of the request.
  void add_buffer(Place place, uint32_t index, Dim offset, const TensorType& t, uint32_t layout, int64_t request) {
    plan_.buffers.push_back({.index = index,
                             .layout = layout,
                             .request = static_cast<int32_t>(request),
                             .dtype = t.dtype,
                             .device = t.device,
                             .place = place,
                             .rank = static_cast<int8_t>(t.rank())});
    plan_.offsets.push_back(formula(offset));
  }
  void add_buffer(const Request& r) {
    const TensorType& t = type(r.value);
    add_buffer(Place::arena, r.arena, 0, t, add_dense_layout(t), static_cast<int64_t>(r.index));
  }
  void add_buffer(ValueId v) {
    const Location& l = locations_[v];
    const Root& r = roots_[l.root];
    uint32_t& layout = layouts_[v];
    if (!layout) layout = add_layout(type(v).shape, l.strides) + 1;
    add_buffer(r.place, r.index, Dim(r.offset) + l.offset, type(v), layout - 1, r.request);
  }

  // Adds a step that copies to the buffer that `add_to` adds.
  template <class AddTo>
  void add_copy(ValueId from, const AddTo& add_to) {
    PlannedStep step;
    step.first = static_cast<uint32_t>(plan_.buffers.size());
    add_buffer(from);
    add_to();
    step.n_inputs = step.n_outputs = 1;
    step.arena = arena_index(type(from).device);
    plan_.steps.push_back(step);
  }

  // Whether a node only copies its operand's elements in order: a view prim whose operand's strides do not allow a
  // view.
  static bool is_copy(const Node& n) { return n.op->id == Prim::reshape; }

  // The result, seen with the operand's sizes.
  void add_reshape(const Node& n) {
    const ValueId from = n.args[0].v, to = n.results[0];
    const Root& r = roots_[locations_[to].root];
    const TensorType& t = type(from);
    add_copy(from, [&] { add_buffer(r.place, r.index, r.offset, t, add_dense_layout(t), r.request); });
  }

  void add_step(size_t at) {
    const Node& n = *trace_.nodes[at];
    if (is_copy(n)) return add_reshape(n);
    const std::vector<Request>& copies = dense_[at];
    for (const Request& r : copies) add_copy(r.value, [&] { add_buffer(r); });
    PlannedStep step;
    step.line = static_cast<int32_t>(at);
    step.time = constant_[at] ? at : trace_.nodes.size() + at;
    if (all_.producer[at] != kNever)
      step.epilogue_input = operand_index(n, trace_.nodes[static_cast<size_t>(all_.producer[at])]->results[0]);
    step.first = static_cast<uint32_t>(plan_.buffers.size());
    size_t next_copy = 0;
    auto add_input = [&](ValueId v) {
      if (next_copy == copies.size() || copies[next_copy].value != v) return add_buffer(v);
      add_buffer(copies[next_copy++]);
    };
    for (size_t i = 0; i < n.args.size(); i++) {
      const Arg& a = n.args[i];
      if (a.kind == ArgKind::value) add_input(a.v);
      if (a.kind == ArgKind::none && n.op->schema.params[i].kind == ParamKind::tensor)
        plan_.buffers.push_back({.rank = -1}), plan_.offsets.emplace_back();
      if (a.kind == ArgKind::values)
        for (ValueId v : a.value_list()) add_input(v);
    }
    step.n_inputs = static_cast<uint32_t>(plan_.buffers.size()) - step.first;
    for (ValueId r : n.results) add_buffer(r);
    step.n_outputs = static_cast<uint32_t>(n.results.size());
    step.arena = arena_index(device_of(n));
    plan_.steps.push_back(step);
  }

  // The device that a node runs on: for a copy between devices, the one that is not the CPU.
  Device device_of(const Node& n) const {
    Device device = Device::cpu;
    for_each_value(n.args, [&](ValueId v) { device = type(v).device == Device::cpu ? device : type(v).device; });
    for (ValueId r : n.results) device = type(r).device == Device::cpu ? device : type(r).device;
    return device;
  }

  // The index of the input that `v` is.
  static int32_t operand_index(const Node& n, ValueId v) {
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
    for (size_t i = 0; i < trace_.nodes.size(); i++)
      if (!is_view_[i] && !constant_[i]) add_step(i);
  }

  // Values that could not be computed in place are copied at the end, when nothing can fail any more. The source of a
  // copy may be an input that another copy writes, so copies from inputs come first.
  void add_final_copies() {
    std::stable_sort(copies_.begin(), copies_.end(), [](const FinalCopy& a, const FinalCopy& b) {
      return a.place == Place::output && b.place == Place::input;
    });
    for (const FinalCopy& c : copies_)
      add_copy(c.value, [&] {
        const TensorType& t = type(c.value);
        const bool given = c.place == Place::input;
        const uint32_t layout = given ? add_layout(t.shape, strides_[c.index]) : add_dense_layout(t);
        add_buffer(c.place, c.index, 0, t, layout, kNever);
      });
  }

  const Trace& trace_;
  const std::vector<Shape>& strides_;
  const Kernels& kernels_;
  std::vector<FinalCopy> copies_;
  Locations& all_;
  const ByValue<Location>& locations_ = all_.at;
  ByValue<Root>& roots_ = all_.roots;
  const std::vector<bool>&is_view_ = all_.is_view, &constant_ = all_.constant;
  PlanFormulas& plan_;
  ByValue<uint32_t> layouts_;  // where that of its location begins, plus 1; 0: it has none yet
  std::vector<Request> values_;  // roots in an arena, in the order of the trace
  std::vector<std::vector<Request>> dense_;  // by node: the copies of its operands
};

}  // namespace

uint32_t find_or_add_arena(std::vector<DeviceArena>& arenas, Device device) {
  for (uint32_t i = 0; i < arenas.size(); i++)
    if (arenas[i].device == device) return i;
  arenas.push_back({device});
  return static_cast<uint32_t>(arenas.size() - 1);
}

void plan_steps(const Trace& trace, const std::vector<Shape>& strides, const Kernels& kernels,
                std::vector<FinalCopy> copies, Locations& locations, PlanFormulas& plan) {
  StepPlanner(trace, strides, kernels, std::move(copies), locations, plan).run();
}

}  // namespace thunder
