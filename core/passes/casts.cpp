#include "passes/casts.h"

#include "ir/prim.h"
#include "ops/builder.h"
#include "passes/rewrite.h"

namespace thunder {
namespace {

bool handles(Prim op) {
  return op == Prim::convert || op == Prim::reshape || op == Prim::permute || op == Prim::expand || op == Prim::gather;
}

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
ValueId gather_before_convert(Rewriter& r, const Node& gather) {
  const Node* convert = r.producer(gather.args[0].v);
  const ValueId result = gather.results[0];
  const Dim picked = elements(r.type(result).shape), all = elements(r.type(gather.args[0].v).shape);
  if (!convert || convert->op->id != Prim::convert || !picked.constant() || !all.constant() ||
      picked.value() >= all.value())
    return kNoValue;
  const Arg of_operand[] = {convert->args[0], gather.args[1], gather.args[2]};
  const Arg converted[] = {Arg::value(r.record(Prim::gather, of_operand, gather)[0]), convert->args[1]};
  return r.record(Prim::convert, converted, gather)[0];
}

// The value that replaces the node's result. kNoValue: the node is not simplified.
ValueId simplify(Rewriter& r, const Node& node) {
  if (node.op->id == Prim::gather) return gather_before_convert(r, node);
  const ValueId input = node.args[0].v;
  const Node* inner = r.producer(input);
  if (inner && inner->op != node.op) inner = nullptr;
  if (node.op->id == Prim::convert) {
    if (r.type(input) == r.type(node.results[0])) return input;
    if (!inner || !lossless(r.type(inner->args[0].v).dtype, r.type(input).dtype)) return kNoValue;
    if (r.type(inner->args[0].v) == r.type(node.results[0])) return inner->args[0].v;
    const Arg args[] = {inner->args[0], node.args[1]};
    return r.record(Prim::convert, args, node)[0];
  }
  if (node.op->id == Prim::permute) {
    const size_t rank = r.type(input).rank();
    Shape order = permutation_axes(node, rank);
    if (is_identity(order)) return input;
    if (!inner) return kNoValue;
    const Shape first = permutation_axes(*inner, rank);
    for (Dim& d : order) d = first[static_cast<size_t>(d.value())];
    if (is_identity(order)) return inner->args[0].v;
    const Arg args[] = {inner->args[0], Arg::dims(order)};
    return r.record(Prim::permute, args, node)[0];
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
  for (const Node* old : trace.nodes) {
    const Node* node = rewriter.substituted(old);
    if (handles(node->op->id)) {
      const ValueId value = simplify(rewriter, *node);
      if (value != kNoValue && rewriter.replace(node->results[0], value)) continue;
    }
    rewriter.keep(node);
  }
  return rewriter.finish();
}

}  // namespace thunder
