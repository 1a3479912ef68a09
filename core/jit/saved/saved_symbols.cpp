// The data on symbols that a saved program has besides its trace: live integers, and in which memory values lie.
#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "ir/symbols.h"
#include "jit/saved/saved_function.h"

namespace thunder {

namespace {

std::vector<ValueId> top_level_values(const Trace& trace) {
  std::vector<ValueId> values;
  for (const Input& in : trace.inputs) values.push_back(in.value);
  for (const Node* n : trace.nodes) values.insert(values.end(), n->results.begin(), n->results.end());
  return values;
}

}  // namespace

std::vector<int64_t> number_memory_roots(const SavedProgram& program) {
  const std::vector<ValueId> values = top_level_values(program.trace);
  std::unordered_map<ValueId, int64_t> places;
  for (ValueId v : values) places.emplace(v, static_cast<int64_t>(places.size()));
  std::vector<int64_t> out;
  for (ValueId v : values) {
    const auto root = places.find(program.roots[v]);
    out.push_back(root == places.end() ? -1 : root->second);
  }
  return out;
}

void restore_memory_roots(SavedProgram& program) {
  if (program.memory.empty()) return;
  const std::vector<ValueId> values = top_level_values(program.trace);
  require(program.memory.size() == values.size(), "it says in which memory ", program.memory.size(),
          " values lie, the trace has ", values.size());
  program.roots.assign(program.trace.store->size(), kNoValue);
  for (size_t i = 0; i < values.size(); i++) {
    const int64_t root = program.memory[i];
    require(root >= -1 && root < static_cast<int64_t>(values.size()), "a value lies in the memory of value ", root,
            ", which the trace does not have");
    if (root >= 0) program.roots[values[i]] = values[static_cast<size_t>(root)];
  }
  program.memory.clear();
}

std::vector<Dim> collect_integer_formulas(const SavedProgram& program) {
  std::vector<Dim> found;
  const auto is_integer = [&](const Symbol& s) {
    return std::any_of(program.inputs.begin(), program.inputs.end(), [&](auto& in) { return in.symbol == s.number; });
  };
  for_each_number(program.trace, [&](Dim formula) {
    const std::vector<Symbol> symbols = used_symbols(formula);
    const bool known = std::find(found.begin(), found.end(), formula) != found.end();
    if (!known && std::all_of(symbols.begin(), symbols.end(), is_integer)) found.push_back(formula);
  });
  return found;
}

std::vector<IntegerValue> integer_symbols(const SavedProgram& program, const Values& in) {
  std::vector<IntegerValue> out;
  for (size_t leaf = 0; leaf < program.inputs.size(); leaf++)
    if (program.inputs[leaf].symbol) out.push_back({*program.inputs[leaf].symbol, in[leaf].i});
  return out;
}

}  // namespace thunder
