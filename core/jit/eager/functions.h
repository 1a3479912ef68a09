// The functions traced for eager ops: one call of an op, or its gradient.
#pragma once

#include "jit/eager/prims/key.h"
#include "tracer/function.h"

namespace thunder {

// The op, called with the tensors that the function is given, in their order.
Ref<Function> function_of_op(const OpDef& op, const EagerKey& key);

// The tensors from which the gradient of a call is computed. A tensor that is given twice is one input.
struct GradientInputs {
  // `cotangents`: null where the loss does not reach a result.
  GradientInputs(std::span<Tensor* const> in, std::span<Tensor* const> results, std::span<Tensor* const> cotangents,
                 const std::vector<bool>& wanted);

  static constexpr int64_t kAbsent = -1;
  std::vector<Tensor*> tensors;  // each once
  // Numbers that tell which tensors are the same, for the arguments, the results, and the cotangents, some of which are
  // absent.
  std::vector<int64_t> in, results, cotangents;
  std::vector<bool> wanted;  // by `in`

  // Everything in which two calls of equal arguments may differ.
  std::vector<int64_t> key() const;
};

// Where the gradient by an input comes from: no gradient, a result of the function, or one of its inputs as it is.
struct GradientPlace {
  enum class Kind { none, result, input } kind = Kind::none;
  size_t index = 0;
};

// The gradient of the op. `places` is filled as it is traced.
Ref<Function> function_of_gradient(const OpDef& op, const EagerKey& key, GradientInputs inputs,
                                   std::vector<GradientPlace>& places);

}  // namespace thunder
