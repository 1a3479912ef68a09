// Integers computed from the sizes of a node's tensors and from its integer arguments: "ceildiv(x.numel, 256)".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executors/cuda/kernels/operands.h"

namespace thunder::kernels {

// NAME.numel, NAME.rank, NAME.size(DIM), NAME.stride(DIM), NAME.itemsize of tensors, integer arguments, integers,
// + - * / % (as in C), ceildiv(a, b), min(a, b), max(a, b), and parentheses. All of these are 0 for an absent tensor.
class Formula {
 public:
  // `what` names its owner in errors. Throws invalid_argument, naming the position.
  Formula(std::string_view text, const Schema& schema, std::string_view what);

  // Evaluates the formula for one node. Strides are those of view.inputs and view.outputs where these are given, else
  // dense ones. Throws invalid_argument where an argument is no number, on division by zero and on overflow.
  int64_t evaluate(const NodeView& view) const;
  const std::string& text() const { return text_; }

 private:
  friend class FormulaParser;
  enum class Operation : uint8_t {
    integer,
    argument,
    numel,
    rank,
    size,
    stride,
    itemsize,
    negate,
    add,
    sub,
    mul,
    div,
    mod,
    ceildiv,
    min,
    max
  };
  struct Step {
    Operation operation;
    int64_t number = 0;    // of an integer
    Operand operand = {};  // of an argument or a property
  };
  static int64_t apply_operation(Operation operation, int64_t a, int64_t b);

  std::string text_, what_;
  std::vector<Step> steps_;  // in postfix order
};

}  // namespace thunder::kernels
