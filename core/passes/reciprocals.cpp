#include "passes/reciprocals.h"

#include "ir/prim.h"
#include "passes/broadcast.h"
#include "passes/rewrite.h"

namespace thunder {
namespace {

// The view that repeats the elements of the divisor; null: it is no division of reals by such a view.
const Node* repeated_divisor(const Node& n, const OpDef& div, Rewriter& made) {
  if (n.op != &div || !is_real(made.type(n.results[0]).dtype)) return nullptr;
  const Node* view = made.producer(n.args[1].v);
  return view && broadcasts(*view, made.store()) ? view : nullptr;
}

}  // namespace

std::optional<Trace> reciprocals(const Trace& trace, PassContext& context) {
  if (!context.settings.allow_reciprocal) return std::nullopt;
  Rewriter made(trace, context.registry);
  const OpDef &div = context.registry.get(Prim::div), &reciprocal = context.registry.get(Prim::reciprocal),
              &mul = context.registry.get(Prim::mul);
  for (const Node* node : trace.nodes) {
    const Node* now = made.substituted(node);
    const Node* view = repeated_divisor(*now, div, made);
    if (!view) {
      made.keep(now);
      continue;
    }
    const Results product = made.build_for(*now, [&] {
      SmallVector<Arg, 8> repeated(view->args.begin(), view->args.end());
      repeated[0] = Arg::value(made.invoke(reciprocal, view->args.first(1))[0]);
      const Arg factors[] = {now->args[0], Arg::value(made.invoke(def(*view), repeated)[0])};
      return made.invoke(mul, factors);
    });
    if (!made.replace(now->results[0], product[0])) made.keep(now);
  }
  return made.finish();
}

}  // namespace thunder
