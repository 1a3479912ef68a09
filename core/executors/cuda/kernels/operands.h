// The operands that names in a kernel's launch rule refer to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "executors/executor.h"

namespace thunder::kernels {

// An argument of the op, by its place in the schema, or a result, by its number.
struct Operand {
  enum class Kind { tensor, integer, real, boolean, result } kind = Kind::integer;
  size_t index = 0;
  bool is_tensor() const { return kind == Kind::tensor || kind == Kind::result; }
};

// Arguments have the schema's names. Results that the schema does not name are `out`, or `out0`, `out1` ... if there
// are several; an argument of that name hides one. Nothing: there is no such name, or it is neither a tensor nor a
// number.
std::optional<Operand> find_operand(const Schema& schema, std::string_view name);

// The name of the n-th result in the kernel's text.
std::string result_name(const Schema& schema, size_t n);

// The place of a tensor argument among the inputs of a launch. Requires: it is a tensor, or an absent one.
size_t input_index_of(const Node& node, size_t argument);

}  // namespace thunder::kernels
