// A scope over any builder: what a caller's decompositions, gradients and passes compute in. What they write is
// recorded or run as the builder does it, on proxies that end with the scope.
#pragma once

#include <unordered_map>

#include "tracer/scope.h"

namespace thunder {

class BuilderScope : public Scope {
 public:
  // `what` says in messages whose computation this is: "the decomposition of f". The builder outlives the scope.
  BuilderScope(ScopeEnvironment environment, Builder& builder, std::string what);
  ~BuilderScope() override { expire(); }

  bool tracing() const override { return true; }
  Builder& builder() override { return builder_; }
  // Parameters of modules, other functions' proxies, concrete tensors, writes and gradients are refused: a computation
  // that becomes part of a trace has nothing but what it is given.
  Tensor* parameter(Tensor* t, std::string_view path) override;
  void guard(std::shared_ptr<const std::atomic<uint64_t>>, std::unique_ptr<Fact>) override {}
  ValueId enter(Tensor* t) override;
  Tensor* wrap(ValueId v) override;
  void write(Tensor* x, ValueId value) override;
  void reset() override { expire(); }
  // If ops run at once, the proxy gets its tensor here, which stays a value of this scope.
  bool give_data(Tensor& proxy, const char* where) override;

  // The values of results that a callback gave. Throws the scope's error, or naming a result that is no tensor of it.
  Results results(const Values& out);

 protected:
  void begin_op(const char*) override {}
  void end_op() override {}
  std::vector<ValueId> gradient(ValueId loss, std::span<Tensor* const> wrt) override;
  // Called before a value is read: passes refuse values that do not exist yet.
  virtual void check_readable(ValueId) {}

  const std::string what_;

 private:
  void expire() { Scope::reset(); }

  Builder& builder_;
  std::unordered_map<const Tensor*, ValueId> read_;  // proxies that have become their tensors
};

// An argument as callbacks see it: tensors as proxies, a list of tensors as a group, everything else as it is.
void push_argument(BuilderScope& scope, Values& in, const Param& param, const Arg& arg);

}  // namespace thunder
