#include "jit/watches/reference.h"

#include "ops/convert_elements.h"
#include "ops/registry.h"
#include "ops/widened.h"

namespace thunder {

std::vector<Reference::Line> Reference::run(const Node& node, Known& known) {
  std::vector<Line> lines;
  run(node, known, lines);
  return lines;
}

void Reference::run(const Node& node, Known& known, std::vector<Line>& lines) {
  const bool is_region = node.op->name() == "region";
  if (!is_region && def(node).has_kernel()) return run_line(node, known, lines);
  for (const Node* line : node.body) run(*line, known, lines);
}

void Reference::run_line(const Node& node, Known& known, std::vector<Line>& lines) {
  std::vector<Buffer> in, out;
  const auto add = [&](ValueId v) { in.push_back(known.at(v)->buffer()); };
  for (size_t i = 0; i < node.args.size(); i++) {
    const Arg& a = node.args[i];
    if (a.kind == ArgKind::value) add(a.v);
    if (a.kind == ArgKind::values)
      for (ValueId v : a.value_list()) add(v);
    if (a.kind == ArgKind::none && node.op->schema.params[i].kind == ParamKind::tensor) in.push_back({.rank = -1});
  }
  Line line{&node, {}};
  for (ValueId r : node.results) {
    line.results.push_back(Tensor::empty(context_.allocator(), store_.type(r)));
    out.push_back(line.results.back()->buffer());
  }
  if (Status* failed = run_reference(def(node), {in, out, node.args, &def(node), &context_.threads()}))
    throw Error(Ref<Status>::adopt(failed));
  for (size_t i = 0; i < node.results.size(); i++) known[node.results[i]] = line.results[i];
  lines.push_back(std::move(line));
}

std::vector<double> as_doubles(const Tensor& t) {
  std::vector<double> out(static_cast<size_t>(t.elements()));
  const Buffer from = t.buffer();
  const Sizes sizes(t.sizes(), t.sizes() + t.type().rank()), strides = dense_strides(sizes);
  Buffer to = from;
  to.data = out.data(), to.dtype = DType::f64, to.shape = sizes.data(), to.strides = strides.data();
  convert_elements(from, to);
  return out;
}

}  // namespace thunder
