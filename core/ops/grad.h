// Reverse-mode differentiation: what one rule sees, and the walk over a list of nodes.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ops/builder.h"

namespace thunder {

class Backward;

// One operation being differentiated. Rules read arguments, results and cotangents, and add to the arguments'.
class Grad : public Call {
 public:
  Grad(Backward& walk, const Node& node, std::span<const Arg> args, std::span<const ValueId> results);

  Var result(size_t i = 0) const;         // the forward result
  size_t count() const { return results_.size(); }  // how many results there are
  Var cotangent(size_t i = 0) const;      // d(loss)/d(result i), result's type; zeros when the loss does not reach it
  bool reached(size_t i) const;           // whether the loss depends on result i
  bool wants(size_t arg) const;           // whether this argument's gradient is asked for; others may be skipped
  bool wants(size_t arg, size_t element) const;
  // Adds to d(loss)/d(argument). Requires: the argument's shape; the dtype is converted. Empty: adds nothing.
  void add(size_t arg, Var gradient);
  void add(size_t arg, size_t element, Var gradient);
  // Called instead of adding gradients: differentiates the decomposition, as if the composite had no rule.
  void descend();
  // The same on lines that are computed again from the arguments, once the cotangent is there, so that nothing inside
  // is kept.
  void recompute();

 private:
  Backward& walk_;
  const Node& node_;  // as recorded: its ids are what cotangents are filed under
  std::span<const ValueId> results_;
};

// An executor's own rules come first; null: the op's.
using RuleFor = VjpFn (*)(const OpDef&, const void* rules);

// Where a walk starts: the cotangent of a value, of the value's type.
struct Seed {
  ValueId value;
  Var cotangent;
};

class Backward {
 public:
  // `nodes` in order of execution. With `recompute`, values inside composites are made again from the composite's
  // inputs (a pass merges what both compute); without, they are there (an eager tape).
  Backward(Builder& b, std::span<const Node* const> nodes, bool recompute, RuleFor rule = nullptr,
           const void* rules = nullptr)
      : builder_(b), nodes_(nodes), recompute_(recompute), rule_(rule), rules_(rules) {}
  virtual ~Backward() = default;

  // d(loss)/d(wrt[i]), of wrt[i]'s type; zeros where the loss does not reach. Requires: loss is 0-d and real.
  std::vector<ValueId> run(ValueId loss, std::span<const ValueId> wrt);
  // The cotangents of wrt for those of several values, of any shape.
  std::vector<ValueId> run(std::span<const Seed> seeds, std::span<const ValueId> wrt);

 protected:
  // What is made next is the gradient of this node.
  virtual void begin(const Node&) {}
  // Makes the gradient of this node in a way of its own. False: its rule does.
  virtual bool make_gradient_whole(const Node&) { return false; }
  // Called after the gradient of this node was made: cotangents of its results are not read any more, unless wanted.
  virtual void on_node_finished(const Node&) {}
  // `now` is what the cotangent of `of` is so far, in place of `before`, which may be none.
  virtual void on_contribution(ValueId of, ValueId before, ValueId now) { (void)of, (void)before, (void)now; }

  void contribute(ValueId recorded, Var gradient);
  bool depends(ValueId v) const { return v < depends_.size() && depends_[v]; }

  Builder& builder_;
  std::unordered_map<ValueId, Var> cotangents_;

 private:
  friend class Grad;
  void visit(const Node& node);
  void descend(const Node& node);
  void descend_again(const Node& node);
  void recompute(const Node& node);
  void mark(const Node& node, bool& any);
  Var value(ValueId recorded);

  std::span<const Node* const> nodes_;
  bool recompute_;
  RuleFor rule_;
  const void* rules_;
  std::vector<bool> depends_;
  std::unordered_map<ValueId, const Node*> inner_;  // values inside a composite, by the node that makes them
  std::unordered_map<ValueId, Var> again_;          // the ones made again
};

}  // namespace thunder
