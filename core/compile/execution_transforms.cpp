#include "compile/execution_transforms.h"

#include <algorithm>

#include "base/text.h"
#include "passes/rewrite.h"

namespace thunder {
namespace {

// Replaces the node by what the executor records for it. False: the node stays.
bool substitute(Rewriter& rewriter, const NodeView& view, const Executor& executor, const ScopeEnvironment& environment,
                const std::string& what) {
  const Node& node = view.node;
  Results results;
  const bool wanted = rewriter.build_for(node, [&] {
    BuilderScope scope(environment, rewriter, what);
    return executor.desc().execution_transform(view, scope, results, executor.desc().user);
  });
  if (!wanted) return false;
  require(results.size() == node.results.size(), what, " gives ", results.size(), " results, the op ",
          node.results.size());
  for (size_t i = 0; i < results.size(); i++) {
    const TensorType &from = rewriter.type(results[i]), &to = rewriter.type(node.results[i]);
    require(from == to, what, ": result ", i + 1, " is ", name(from), ", the op's is ", name(to));
  }
  for (size_t i = 0; i < results.size(); i++) rewriter.replace(node.results[i], results[i]);
  return true;
}

// The same; an error names the executor, the op and the user's line, but an exception of a binding stays as it is.
bool try_substitute(Rewriter& rewriter, const NodeView& view, const Executor& executor,
                    const ScopeEnvironment& environment) {
  const Node& node = view.node;
  const std::string what = cat("the execution transform of executor '", executor.name(), "' for ", node.op->name());
  try {
    return substitute(rewriter, view, executor, environment, what);
  } catch (const Error& e) {
    if (e.status()->has_foreign()) throw;
    fail(e.code(), e.message().starts_with(what) ? "" : cat(what, ": "), e.message(),
         node.where ? cat(" [at ", node.where, "]") : "");
  }
}

}  // namespace

std::optional<Trace> apply_execution_transforms(const Trace& trace, const Executors& executors,
                                               const ScopeEnvironment& environment,
                                               const CompileSettings& settings) {
  if (std::none_of(executors.begin(), executors.end(), [](auto& e) { return e->desc().execution_transform; }))
    return std::nullopt;
  Rewriter rewriter(trace, *environment.registry);
  for (const Node* old : trace.nodes) {
    const Node* node = rewriter.substituted(old);
    const NodeView view{*node, rewriter.store(), settings};
    const Executor* executor = claimant(view, executors);
    if (!executor || !executor->desc().execution_transform || !try_substitute(rewriter, view, *executor, environment))
      rewriter.keep(node);
  }
  return rewriter.finish();
}

}  // namespace thunder
