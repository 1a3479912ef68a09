// Forward-mode differentiation: records each node, followed by nodes that compute the tangents of its results.
#pragma once

#include "ops/grad.h"
#include "tracer/recorder.h"

namespace thunder {

// How the tangents of an op's results are computed:
//   none: it is not differentiable, so that its results have none
//   diagonal: by its vjp, since the Jacobian of an elementwise prim is diagonal
//   linear: by the op itself, applied to the tangents
//   vjp_of_vjp: by the vjp of its vjp, which is linear in the cotangent
//   body: by the tangents of the nodes of its decomposition
enum class TangentRule { none, diagonal, linear, vjp_of_vjp, body };
TangentRule tangent_rule(const OpDef& op);

class Forward {
 public:
  explicit Forward(Recorder& recorder) : recorder_(recorder) {}

  void set(ValueId v, Var tangent) { tangents_[v] = tangent; }
  // Records the node, or the nodes of its decomposition instead, and the tangents of its results.
  void visit(const Node& node);
  // The tangent has the value's type. It is zero if the value depends on no value that has a tangent.
  Var tangent(ValueId v) const;

 private:
  bool has_tangent(ValueId v) const { return tangents_.contains(v); }
  std::vector<ValueId> args_with_tangents(const Node& node) const;
  void diagonal(const Node& node);
  void linear(const Node& node);
  void vjp_of_vjp(const Node& node);

  Recorder& recorder_;
  std::unordered_map<ValueId, Var> tangents_;
};

}  // namespace thunder
