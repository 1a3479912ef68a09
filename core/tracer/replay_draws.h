// The random numbers of a trace that is replayed: its lines name a state and an ordinal, and draw what the scope draws
// next, once for each ordinal.
#pragma once

#include <map>
#include <unordered_set>
#include <vector>

#include "ir/draws.h"
#include "ir/prim.h"
#include "tracer/scope.h"
#include "tracer/trace_inputs.h"

namespace thunder {

struct Drawn {
  Tensor* state;
  int64_t ordinal;
  ValueId of;  // what stands for the state in the trace
};

class ReplayedDraws {
 public:
  ReplayedDraws(Scope& scope, const Trace& trace) : scope_(scope), trace_(trace) {
    const auto random = random_input(trace);
    if (!random) return;
    state_ = trace.inputs[*random].value;
    for (const Node* n : trace.nodes)
      for_each_prim(*n, [&](const Node& prim) {
        if (advances_state(prim)) recorded_ = prim.args[1].i;
        if (moves_state(prim)) moved_.insert(prim.results[0]);
        if (const auto draw = own_draw(prim)) uses_[draw->ordinal]++;
      });
  }

  // The input that is the random state; kNoValue if nothing is drawn.
  ValueId state() const { return state_; }
  // Whether the line only prepares the random state: it is not replayed, since the scope counts draws, and moves the
  // state to a device when something is drawn there.
  bool makes_state(const Node& n) const {
    return advances_state(n) || moves_state(n);
  }
  // Whether it draws what others draw as well, or what was drawn before. Lines of later stages may draw the same
  // numbers again, or stand elsewhere; as one line each they would draw others.
  bool shares(const Node& node) const {
    bool alone = true;
    for_each_prim(node, [&](const Node& prim) {
      if (const auto draw = own_draw(prim)) alone &= uses_.at(draw->ordinal) == 1 && draw->ordinal >= made();
    });
    return !alone;
  }
  // How many the trace says that it makes: lines that drew for nobody may be gone.
  int64_t recorded() const { return recorded_; }
  // So many draws, in their order.
  void make(int64_t draws) {
    while (made() < draws) {
      const Draw drawn = scope_.builder().draw();
      drawn_.push_back({scope_.wrap(drawn.state.id), drawn.ordinal, kNoValue});
    }
  }
  // Before a composite is called, which draws by itself.
  void pass(const Node& node) {
    for_each_prim(node, [&](const Node& prim) {
      if (const auto draw = own_draw(prim)) make(draw->ordinal), drawn_.push_back({nullptr, 0, kNoValue});
    });
  }
  // The random state that a prim draws from; none: it draws nothing. An error is the scope's.
  std::optional<Drawn> draw(const Node& n) {
    const auto draw = own_draw(n);
    if (!draw) return std::nullopt;
    make(draw->ordinal + 1);
    Drawn drawn = drawn_.at(static_cast<size_t>(draw->ordinal));
    drawn.of = draw->state;
    if (draw->state == state_) return drawn;
    Any move[] = {Any::tensor(drawn.state), {}};
    move[1].kind = ArgKind::device, move[1].i = 0, move[1].device = trace_.type(draw->state).device;
    drawn.state = scope_.invoke(name(Prim::to_device), move, nullptr, nullptr, 0, nullptr);
    return drawn;
  }

 private:
  int64_t made() const { return static_cast<int64_t>(drawn_.size()); }
  bool is_state(ValueId v) const { return v == state_ || moved_.count(v); }
  bool advances_state(const Node& n) const { return n.op->id == Prim::advance_random && n.args[0].v == state_; }
  bool moves_state(const Node& n) const {
    return state_ != kNoValue && n.op->id == Prim::to_device && is_state(n.args[0].v);
  }
  std::optional<FirstDraw> own_draw(const Node& node) const {
    if (state_ == kNoValue) return std::nullopt;
    const auto draw = first_draw(node);
    return draw && is_state(draw->state) ? draw : std::nullopt;
  }

  Scope& scope_;
  const Trace& trace_;
  ValueId state_ = kNoValue;
  int64_t recorded_ = 0;
  std::unordered_set<ValueId> moved_;  // copies of it on devices
  std::map<int64_t, int> uses_;        // prims that draw it, by ordinal
  std::vector<Drawn> drawn_;           // by ordinal; without a state: by a composite
};

}  // namespace thunder
