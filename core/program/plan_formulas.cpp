#include "program/plan_formulas.h"

#include <algorithm>

#include "program/copy.h"
#include "program/plan_steps.h"

namespace thunder {
namespace {

// Makes a plan of formulas and their values.
class Numbers {
 public:
  Numbers(const PlanFormulas& of, std::span<const Node* const> lines, std::span<const int64_t> values)
      : of_(of), lines_(lines), values_(values) {}

  Plan plan() {
    out_.constant_steps = of_.constant_steps, out_.may_fail = of_.may_fail, out_.in_donated = of_.in_donated;
    out_.layouts.reserve(of_.layouts.size());
    for (const FormulaRef& f : of_.layouts) out_.layouts.push_back(number(f));
    add_inputs();
    out_.outputs.reserve(of_.outputs.size());
    for (const TypeFormulas& t : of_.outputs) out_.outputs.emplace_back(type(t));
    place_requests();
    add_buffers();
    add_steps();
    return std::move(out_);
  }

 private:
  int64_t number(const FormulaRef& f) const { return Formulas::value(f, values_); }

  TensorType type(const TypeFormulas& t) const {
    TensorType out = t.type;
    for (const FormulaRef& f : t.shape) out.shape.push_back(number(f));
    return out;
  }

  void add_inputs() {
    out_.inputs = of_.inputs;
    for (size_t i = 0; i < of_.inputs.size(); i++) {
      InputPlan& input = out_.inputs[i];
      input.type = type(of_.input_types[i]);
      for (const FormulaRef& f : of_.input_strides[i]) input.strides.push_back(number(f));
    }
  }

  size_t place(DeviceArena& a) const {
    if (a.device != Device::cpu) return place_tightly(a.requests);
    const std::optional<size_t> bytes = of_.order ? of_.order->place(a.requests) : std::nullopt;
    return bytes ? *bytes : place_in_order(a.requests);
  }

  void place_requests() {
    out_.arenas = of_.arenas;
    for (size_t i = 0; i < out_.arenas.size(); i++) {
      DeviceArena& a = out_.arenas[i];
      for (size_t k = 0; k < a.requests.size(); k++) {
        const int64_t bytes = number(of_.bytes[i][k]);
        a.requests[k].bytes = aligned(static_cast<size_t>(std::max<int64_t>(1, bytes)));
      }
      a.bytes = place(a);
      int64_t end = 0;
      std::vector<int64_t>& starts = constants_.emplace_back();
      for (size_t k = 0; i < of_.constant_bytes.size() && k < of_.constant_bytes[i].size(); k++) {
        starts.push_back(end);
        end = checked_add(end, aligned(static_cast<size_t>(number(of_.constant_bytes[i][k]))));
      }
      a.constant_bytes = static_cast<size_t>(end);
    }
    out_.slots = of_.slots;
    for (size_t i = 0; i < out_.slots.size(); i++) {
      ArenaSlot& s = out_.slots[i];
      s.bytes = static_cast<size_t>(number(of_.slot_bytes[i]));
      s.offset = out_.arenas[s.arena].requests[s.request].offset;
    }
  }

  void add_buffers() {
    out_.buffers = of_.buffers;
    for (size_t i = 0; i < out_.buffers.size(); i++) {
      BufferPlan& b = out_.buffers[i];
      b.offset = number(of_.offsets[i]);
      const auto request = static_cast<size_t>(b.request);
      if (b.place == Place::arena && b.request >= 0) b.offset += out_.arenas[b.index].requests[request].offset;
      if (b.place == Place::constant) b.offset += constants_[b.index][request], b.request = -1;
    }
  }

  void add_steps() {
    out_.steps.reserve(of_.steps.size());
    for (const PlannedStep& planned : of_.steps) {
      Step& step = out_.steps.emplace_back();
      static_cast<PlannedStep&>(step) = planned;
      if (planned.line < 0) step.call.run = run_copy;
      else step.node = lines_[static_cast<size_t>(planned.line)];
    }
  }

  const PlanFormulas& of_;
  const std::span<const Node* const> lines_;
  const std::span<const int64_t> values_;
  Plan out_;
  std::vector<std::vector<int64_t>> constants_;  // by arena and request: where it lies
};

}  // namespace

bool PlanFormulas::fits(const InputLayouts& given, std::span<const int64_t> values) const {
  const auto is_same = [&](int64_t stride, const FormulaRef& f) { return stride == Formulas::value(f, values); };
  for (size_t i = 0; i < input_strides.size(); i++)
    if (!std::equal(given.strides[i].begin(), given.strides[i].end(), input_strides[i].begin(), input_strides[i].end(),
                    is_same))
      return false;
  return given.donated == donated;
}

Plan PlanFormulas::plan(std::span<const Node* const> lines, std::span<const int64_t> values) const {
  return Numbers(*this, lines, values).plan();
}

void PlanFormulas::keep_order(const Plan& plan) {
  const std::vector<ArenaRequest>& placed = plan.arenas[0].requests;
  if (placed.size() <= ArenaOrder::kMost) order.emplace(placed);
}

}  // namespace thunder
