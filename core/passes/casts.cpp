#include "passes/casts.h"

#include "ops/builder.h"
#include "passes/rewrite.h"

namespace thunder {
namespace {

struct Ops {
  const OpDef *convert, *reshape, *permute, *expand, *gather;
  explicit Ops(const Registry& r)
      : convert(r.find("prims.convert")),
        reshape(r.find("prims.reshape")),
        permute(r.find("prims.permute")),
        expand(r.find("prims.expand")),
        gather(r.find("prims.gather")) {}
  bool handles(const Op* op) const {
    return op == convert || op == reshape || op == permute || op == expand || op == gather;
  }
};

Shape permutation_axes(const Node& permute, size_t rank) {
  Shape out;
  for (Dim d : permute.args[1].dim_list()) out.push_back(normalize_axis(d.value(), rank));
  return out;
}

bool is_identity(std::span<const Dim> order) {
  for (size_t i = 0; i < order.size(); i++)
    if (!(order[i] == Dim(i))) return false;
  return true;
}

// Gathers before converting: otherwise all converted elements would be stored, to gather a few.
ValueId gather_before_convert(Rewriter& r, const Ops& ops, const Node& gather) {
  const Node* convert = r.producer(gather.args[0].v);
  const ValueId result = gather.results[0];
  const Dim picked = elements(r.type(result).shape), all = elements(r.type(gather.args[0].v).shape);
  if (!convert || convert->op != ops.convert || !picked.constant() || !all.constant() || picked.value() >= all.value())
    return kNoValue;
  const Arg of_operand[] = {convert->args[0], gather.args[1], gather.args[2]};
  const Arg converted[] = {Arg::value(r.record(*ops.gather, of_operand, gather)[0]), convert->args[1]};
  return r.record(*ops.convert, converted, gather)[0];
}

// The value that replaces the node's result. kNoValue: the node is not simplified.
ValueId simplify(Rewriter& r, const Ops& ops, const Node& node) {
  if (node.op == ops.gather) return gather_before_convert(r, ops, node);
  const ValueId input = node.args[0].v;
  const Node* inner = r.producer(input);
  if (inner && inner->op != node.op) inner = nullptr;
  if (node.op == ops.convert) {
    if (r.type(input) == r.type(node.results[0])) return input;
    if (!inner || !lossless(r.type(inner->args[0].v).dtype, r.type(input).dtype)) return kNoValue;
    if (r.type(inner->args[0].v) == r.type(node.results[0])) return inner->args[0].v;
    const Arg args[] = {inner->args[0], node.args[1]};
    return r.record(*ops.convert, args, node)[0];
  }
  if (node.op == ops.permute) {
    const size_t rank = r.type(input).rank();
    Shape order = permutation_axes(node, rank);
    if (is_identity(order)) return input;
    if (!inner) return kNoValue;
    const Shape first = permutation_axes(*inner, rank);
    for (Dim& d : order) d = first[static_cast<size_t>(d.value())];
    if (is_identity(order)) return inner->args[0].v;
    const Arg args[] = {inner->args[0], Arg::dims(order)};
    return r.record(*ops.permute, args, node)[0];
  }
  // Of two consecutive reshapes or expands only the last shape matters.
  if (r.type(input).shape == r.type(node.results[0]).shape) return input;
  if (!inner) return kNoValue;
  if (r.type(inner->args[0].v).shape == r.type(node.results[0]).shape) return inner->args[0].v;
  const Arg args[] = {inner->args[0], node.args[1]};
  return r.record(def(*node.op), args, node)[0];
}

}  // namespace

std::optional<Trace> casts(const Trace& trace, PassContext& context) {
  Rewriter rewriter(trace, context.registry);
  const Ops ops(context.registry);
  for (const Node* old : trace.nodes) {
    const Node* node = rewriter.substituted(old);
    if (ops.handles(node->op)) {
      const ValueId value = simplify(rewriter, ops, *node);
      if (value != kNoValue && rewriter.replace(node->results[0], value)) continue;
    }
    rewriter.keep(node);
  }
  return rewriter.finish();
}

}  // namespace thunder
