// Forward-mode differentiation: the walk that records, beside each line, how its results change along tangents.
#pragma once

#include "ops/grad.h"
#include "tracer/recorder.h"

namespace thunder {

// How tangents go through an op: through a prim that works element by element by its vjp, whose Jacobian is diagonal;
// through one that is linear by itself; through any other op with a vjp by the vjp of that vjp, which is linear in the
// cotangent; through composites by their lines. None go through what is not differentiable.
enum class TangentRule { none, slopes, itself, twice, lines };
TangentRule tangent_rule(const OpDef& op);

class Forward {
 public:
  explicit Forward(Recorder& recorder) : recorder_(recorder) {}

  void set(ValueId v, Var tangent) { tangents_[v] = tangent; }
  // Records the line, or its inside in its place, and what its results' tangents need.
  void line(const Node& node);
  // Of the value's type; zeros where nothing reaches it.
  Var tangent(ValueId v) const;

 private:
  bool moves(ValueId v) const { return tangents_.contains(v); }
  std::vector<ValueId> moving(const Node& node) const;
  void diagonal(const Node& node);
  void linear(const Node& node);
  void twice(const Node& node);

  Recorder& recorder_;
  std::unordered_map<ValueId, Var> tangents_;
};

}  // namespace thunder
