// Functions that are compiled where a tape calls them, as one line of it: their gradients are such functions again.
#pragma once

#include <map>
#include <mutex>

#include "jit/call.h"
#include "tracer/eager.h"
#include "tracer/needed.h"

namespace thunder {

// A compiled function of inputs one after the other, which gives tensors one after the other.
class TapedFunction : public Counted<TapedFunction> {
 public:
  TapedFunction(CompileSetup setup, Ref<Function> function);

  const Ref<Compiled>& compiled() const { return compiled_; }
  // Computes the gradients of the wanted inputs from the inputs and the cotangents of the results that are reached.
  // Values that the function computes on the way are computed again.
  Ref<TapedFunction> gradient(const std::vector<bool>& reached, const std::vector<bool>& wanted);

 private:
  const CompileSetup setup_;
  const Ref<Function> function_;
  const Ref<Compiled> compiled_;
  std::mutex mutex_;
  std::map<std::pair<std::vector<bool>, std::vector<bool>>, Ref<TapedFunction>> gradients_;
};

// The inputs of a line: values of the tape; plain numbers are not values.
struct TapedInputs {
  void push(ValueId v) { values.push_back(v), leaves.emplace_back(); }
  void push(Leaf number) { leaves.push_back(std::move(number)); }

  std::vector<ValueId> values;
  std::vector<Leaf> leaves;  // by input: the number, or an empty one for the next value
};

// A line of a tape that stands for a call of a compiled function. Its one argument are the values among its inputs.
class TapedCall : public OpDef, public Dependencies {
 public:
  explicit TapedCall(TapedInputs inputs);
  virtual void differentiate(Grad& grad) const = 0;
  bool depends(size_t, size_t) const override { return true; }

 protected:
  // Which input the value is.
  size_t input_of(size_t value) const;
  // The inputs as the gradient sees them.
  TapedInputs inputs(const Grad& grad) const;
  // Adds the gradients that the function's derivation from scratch gives.
  void differentiate_again(Grad& grad, TapedFunction& function) const;

 private:
  const std::vector<Leaf> leaves_;
};

// Calls the function, and records the call as a line of the tape. Throws errors of the call.
std::vector<ValueId> call_recorded(EagerBuilder& tape, const Ref<TapedFunction>& function, TapedInputs inputs);

// Adds `gradients`, those of the inputs at `of`.
void add_gradients(Grad& grad, std::span<const ValueId> gradients, std::span<const size_t> of);

EagerBuilder& tape_of(const Grad& grad);

}  // namespace thunder
