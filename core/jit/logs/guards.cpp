#include "jit/logs/guards.h"

#include <algorithm>

#include "base/text.h"
#include "ir/symbols.h"

namespace thunder {
namespace {

std::string input_name(const Entry& e, size_t input) {
  const std::string& name = e.traces.front().inputs[input].name;
  return name.empty() ? cat("i[", e.traces.front().inputs[input].index + 1, "]") : name;
}

void append_input(std::string& out, const Entry& e, size_t input) {
  const std::string path = input_name(e, input);
  const TensorType& type = e.traces.front().type(e.traces.front().inputs[input].value);
  const uint32_t leaf = e.bindings[input].leaf;
  if (type.weak) {
    out += cat(path, ": a number, ", name(type.dtype), "\n");
    for (auto& [read, value] : e.float_guards)
      if (read == leaf) out += cat(path, " == ", value, "  (the function read it as a number)\n");
    return;
  }
  out += cat("dtype(", path, ") == ", name(type.dtype), ", rank(", path, ") == ", type.rank(), ", device(", path,
             ") == ", name(type.device), "\n");
  for (size_t dim = 0; dim < type.rank(); dim++)
    out += cat("size(", path, ", ", dim, ") == ", name(type.shape[dim]), "\n");
  const Sizes& strides = e.inputs.strides[leaf];
  out += strides.empty() ? cat("strides(", path, ") are dense\n")
                         : cat("strides(", path, ") == [", join(strides, ", ", [](int64_t s) { return s; }), "]\n");
}

std::string format_guarded(const Leaf& l) {
  switch (l.kind) {
    case ArgKind::integer: return cat(l.i);
    case ArgKind::boolean: return l.i ? "true" : "false";
    case ArgKind::string: return cat("'", l.text, "'");
    case ArgKind::none: return "none";
    default: return "what it was";
  }
}

// Guards of the leaves that are neither tensors nor floats.
void append_constants(std::string& out, const Entry& e) {
  std::vector<bool> bound(e.inputs.leaves.size(), false);
  for (size_t i = 0; i < e.leaves; i++) bound[e.bindings[i].leaf] = true;
  for (const IntegerSymbol& s : e.integers) {
    bound[s.leaf] = true;
    out += cat("leaf ", s.leaf, " == s", s.symbol, "\n");
  }
  for (size_t leaf = 0; leaf < bound.size(); leaf++)
    if (!bound[leaf]) out += cat("leaf ", leaf, " == ", format_guarded(e.inputs.leaves[leaf]), "\n");
}

void append_symbols(std::string& out, const Entry& e) {
  const auto is_integer = [&](const Symbol& s) {
    return std::any_of(e.integers.begin(), e.integers.end(), [&](auto& i) { return i.symbol == s.number; });
  };
  for (const Symbol& s : used_symbols(e.traces.front()))
    if (!is_integer(s)) out += cat("s", s.number, " >= 2\n");
  for (const SizeRange& r : e.ranges)
    for (size_t i = 0; i < e.leaves; i++) {
      if (e.bindings[i].leaf != r.leaf) continue;
      const std::string size = cat("size(", input_name(e, i), ", ", r.dim, ")");
      if (r.min > 2) out += cat(size, " >= ", r.min, "\n");
      if (r.max < std::numeric_limits<int64_t>::max()) out += cat(size, " <= ", r.max, "\n");
    }
  for (const DimCondition& c : e.conditions) out += c.formula() + "\n";
}

}  // namespace

std::string guards_report(const Entry& program) {
  // Programs from files have no values of a call.
  const Entry& e = program.of && !program.of->traces.empty() ? *program.of : program;
  std::string out = cat("the structure of the inputs is ", e.inputs.structure, "\n");
  for (size_t i = 0; i < e.leaves; i++) append_input(out, e, i);
  append_constants(out, e);
  append_symbols(out, e);
  if (!program.size_class.empty()) out += cat("its lines serve all sizes for which ", program.size_class, "\n");
  size_t facts = 0;
  for (const GenerationGuard& g : e.guards) facts += g.facts.size();
  if (facts)
    out += cat("what was read beside the arguments is what it was, in ", facts, facts == 1 ? " place\n" : " places\n");
  return out;
}

}  // namespace thunder
