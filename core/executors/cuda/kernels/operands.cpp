#include "executors/cuda/kernels/operands.h"

#include "base/text.h"

namespace thunder::kernels {
std::string result_name(const Schema& schema, size_t n) {
  if (n < schema.result_names.size()) return schema.result_names[n];
  return schema.results.size() == 1 ? std::string("out") : cat("out", n);
}

std::optional<Operand> find_operand(const Schema& schema, std::string_view name) {
  if (const int found = schema.find(name); found >= 0) {
    const auto at = static_cast<size_t>(found);
    switch (schema.params[at].kind) {
      case ParamKind::tensor:
        return Operand{Operand::Kind::tensor, at};
      case ParamKind::integer:
        return Operand{Operand::Kind::integer, at};
      case ParamKind::real:
        return Operand{Operand::Kind::real, at};
      case ParamKind::boolean:
        return Operand{Operand::Kind::boolean, at};
      default:
        return std::nullopt;
    }
  }
  for (size_t n = 0; n < schema.results.size(); n++)
    if (!schema.lists() && name == result_name(schema, n)) return Operand{Operand::Kind::result, n};
  return std::nullopt;
}

size_t input_index_of(const Node& node, size_t argument) {
  size_t n = 0;
  for (size_t i = 0; i < argument; i++) n += inputs_of(node.args[i], node.op->schema.params[i]);
  return n;
}

}  // namespace thunder::kernels
