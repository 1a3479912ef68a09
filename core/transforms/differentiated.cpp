#include "transforms/differentiated.h"

#include "base/text.h"

namespace thunder {
namespace {

// The leaves of the first of several entries.
size_t first_entry_leaf_count(std::string_view structure) {
  size_t leaves = 0, depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < structure.size(); i++) {
    const char c = structure[i];
    if (quoted && c == '\\') i++;
    else if (c == '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c == '[' || c == '{') depth++;
    else if (c == ']' || c == '}') depth--;
    else if (c == '*') leaves++;
    else if (c == ',' && depth == 0) break;
  }
  return leaves;
}

}  // namespace

Differentiated::Differentiated(const std::string& who, Scope& scope, Function& f, const Values& in,
                               const Derivative& what) {
  std::vector<InnerArgument> arguments;
  for (size_t leaf : real_leaves(who, in, what.wrt)) {
    Tensor* t = in[leaf].tensor.get();
    if (t->kind() == Tensor::Kind::number || t->type().weak) continue;
    arguments.push_back({leaf, t->type()});
    given.push_back(t);
  }
  require(!given.empty(), who, ": no argument is a tensor of reals, by which alone can be differentiated");
  inner = trace_inside(scope, f, in, arguments);
  for (size_t i = 0; i < given.size(); i++) inputs.push_back(inner.trace.inputs[i].value);
  const auto& all = inner.trace.outputs;
  const size_t leaves = what.first_only ? first_entry_leaf_count(inner.results->structure()) : inner.results->size();
  for (size_t i = 0; i < all.size(); i++)
    if (inner.outputs[i] < leaves) outputs.push_back(all[i]);
  for (size_t i = 0; i < outputs.size(); i++)
    require(is_real(inner.trace.type(outputs[i]).dtype), who, ": result ", i, " is ",
            name(inner.trace.type(outputs[i])), ", only reals can be differentiated");
}

}  // namespace thunder
