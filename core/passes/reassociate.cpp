#include "passes/reassociate.h"

#include "ir/prim.h"
#include "ops/world_collectives.h"
#include "passes/rewrite.h"

namespace thunder {
namespace {

bool is_sum_over_ranks(const Node* n) {
  return n && runs_collective(def(*n), Collective::reduce_scatter) && n->args[def(*n).ranks->reduction].text() == "sum";
}
bool sums_alike(const Node& a, const Node& b) {
  for (size_t i = 1; i < a.args.size(); i++)
    if (!same(a.args[i], b.args[i])) return false;
  return true;
}

}  // namespace

std::optional<Trace> reassociate(const Trace& trace, PassContext& context) {
  if (!context.settings.deterministic) return std::nullopt;
  const Op& add = context.registry.get(Prim::add);
  Rewriter rewriter(trace, context.registry);
  for (const Node* node : trace.nodes) {
    const Node* n = rewriter.substituted(node);
    const bool adds = n->op == &add;
    const Node* const a = adds ? rewriter.producer(n->args[0].v) : nullptr;
    const Node* const b = adds ? rewriter.producer(n->args[1].v) : nullptr;
    if (!is_sum_over_ranks(a) || !is_sum_over_ranks(b) || !sums_alike(*a, *b)) {
      rewriter.keep(n);
      continue;
    }
    const Var sum = rewriter.build_for(*n, [&] {
      std::vector<Arg> args(a->args.begin(), a->args.end());
      args[0] = Arg::value(rewriter.var(rewriter.invoke(def(add), std::array{a->args[0], b->args[0]})[0]).id);
      return rewriter.var(rewriter.invoke(def(*a), args)[0]);
    });
    rewriter.replace(n->results[0], sum.id);
  }
  return rewriter.finish();
}

}  // namespace thunder
