// The parameters with which a kernel of a caller's is launched.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executors/cuda/kernels/formula.h"

namespace thunder::kernels {

constexpr size_t kMaxParameters = 128;

// Splits a text at the commas outside of parentheses and trims the parts; an empty text has one empty part.
std::vector<std::string_view> split_at_commas(std::string_view text);

// The types that are no tensors' addresses.
enum class ParameterType { i32, u32, i64, u64, f32, f64, boolean };

struct Parameter {
  enum class Kind { null, tensor, formula, real, boolean } kind = Kind::null;
  Operand operand;  // of a tensor, a float or a boolean argument
  ParameterType type = ParameterType::i64;
  std::optional<Formula> formula;
};

// "x, float c, out, int x.numel"; empty: the arguments in the schema's order, then the results. `what` names their
// owner in errors. Throws invalid_argument.
std::vector<Parameter> parse_parameters(std::string_view text, const Schema& schema, const std::string& what);

// The bytes of a parameter as the kernel reads it.
struct Word {
  std::array<std::byte, 8> bytes{};
};
// The value that a node passes; zero for a tensor, whose address comes with each launch. Throws invalid_argument if the
// type cannot represent it.
Word evaluate_parameter(const Parameter& parameter, const NodeView& view);

}  // namespace thunder::kernels
