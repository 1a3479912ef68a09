// A function of tensors. It can be traced, run eagerly, or inlined into another one.
#pragma once

#include <string>

#include "tracer/scope.h"

namespace thunder {

class Function : public Counted<Function> {
 public:
  explicit Function(std::string name) : name_(std::move(name)) {}
  virtual ~Function() = default;
  const std::string& name() const { return name_; }

  // Runs on the calling thread with no lock held. Its error is added to the scope's; null never hides that one.
  virtual Ref<Status> call(Scope& scope, const Values& in, Values& out) = 0;

 private:
  std::string name_;
};

// Calls `f` inside a scope: inlined while tracing, run when eager. The scope owns the result.
Values* apply(Scope& scope, Function& f, const Values& in);

// A function that returns [f's results, gradients]: the gradient of f's first result, a 0-d tensor, with respect to
// the leaves of its inputs at `wrt` (comma-separated paths; empty: every real tensor, unless `captured` is given)
// and to the tensors of `captured` (may be null).
Ref<Function> value_and_grad(Ref<Function> f, std::string wrt, Ref<Values> captured);

}  // namespace thunder
