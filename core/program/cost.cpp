#include "program/cost.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "ir/shape.h"
#include "ops/op.h"

namespace thunder {
namespace {

double elements(const TensorType& type) {
  const Sizes sizes = concrete(type.shape);
  return std::accumulate(sizes.begin(), sizes.end(), 1.0, [](double n, int64_t size) { return n * double(size); });
}

double elements_of(const Node& n, size_t arg, const Store& store) {
  return arg < n.args.size() && n.args[arg].kind == ArgKind::value ? elements(store.type(n.args[arg].v)) : 0;
}

}  // namespace

double flops_of(const Node& node, const Store& store) {
  if (!node.body.empty())
    return std::accumulate(node.body.begin(), node.body.end(), 0.0,
                           [&](double sum, const Node* line) { return sum + flops_of(*line, store); });
  if (node.results.empty() || !node.op->prim) return 0;
  const OpDef& op = def(node);
  if (op.multiply_adds)
    return 2 * op.multiply_adds(store.type(node.args[0].v), store.type(node.args[1].v), store.type(node.results[0]));
  if (op.has(kReduction)) return elements_of(node, 0, store);
  return op.has(kElementwise) ? elements(store.type(node.results[0])) : 0;
}

std::string ops_of(const Node& node) {
  if (node.op->name() != "region") return std::string(node.op->name());
  return join(node.body, ", ", [](const Node* line) { return line->op->name(); });
}

double bytes_of(const Plan& plan, const Step& step) {
  double sum = 0;
  for (uint32_t i = step.first; i < step.first + step.n_inputs + step.n_outputs; i++) {
    const BufferPlan& b = plan.buffers[i];
    if (b.rank < 0) continue;
    double bytes = double(size_of(b.dtype));
    const int64_t* sizes = plan.layouts.data() + b.layout;
    for (int32_t d = 0; d < b.rank; d++)
      if (sizes[b.rank + d] != 0) bytes *= double(sizes[d]);  // a stride of 0 reads the same element again
    sum += bytes;
  }
  return sum;
}

Cost cost_of(const Program& program) {
  const Plan& plan = program.plan();
  Cost out;
  const auto add = [&](const Step& step) {
    out.bytes += bytes_of(plan, step);
    if (step.node) out.flops += flops_of(*step.node, *program.trace().store);
  };
  for (const Step& step : plan.steps) add(step);
  for (const Step& step : plan.epilogues) add(step);
  out.steps = plan.steps.size();
  out.peak_bytes = program.peak_bytes();
  for (const DenseType& t : plan.outputs) out.result_bytes += t.bytes;
  return out;
}

std::string cost_json(const Program& program) {
  const Cost c = cost_of(program);
  return cat("{\"flops\":", c.flops, ",\"bytes\":", c.bytes, ",\"peak_bytes\":", c.peak_bytes, ",\"result_bytes\":",
             c.result_bytes, ",\"steps\":", c.steps, "}");
}

}  // namespace thunder
