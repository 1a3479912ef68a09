// Calls of a compiled function in a scope: under a trace it is traced along, on a tape it gets a backward.
#include "base/text.h"
#include "jit/backward/pair.h"
#include "tracer/eager.h"

namespace thunder {

Values* Compiled::apply(Scope& scope, const Values& in) {
  const Ref<Compiled> kept(this);
  const bool partitions = scope.taped() && !settings_.disable && settings_.fullgraph &&
                     settings_.cache != CacheMode::no_caching && context_->stance() == Stance::normal;
  if (partitions && !not_partitioned_.load(std::memory_order_relaxed) && !scope.status())
    if (Values* results = call_partitioned(scope, in)) return results;
  if (scope.tracing() || scope.taped()) return thunder::apply(scope, *function_, in);
  auto out = make<Values>();
  if (Status* failed = scope.status() ? nullptr : call(in, *out)) scope.fail(Ref<Status>::adopt(failed));
  return scope.own(std::move(out));
}

Values* Compiled::call_partitioned(Scope& tape, const Values& in) {
  Values* results = nullptr;
  std::string why;
  tape.run_formulas([&] {
    check_values(in);
    check_inputs({&in, nullptr, in.size()});
    TapedCalls* taped;
    {
      const std::lock_guard lock(taped_mutex_);
      if (!taped_) taped_ = std::make_unique<Pair>(context_, function_, *options_);
      taped = taped_.get();
    }
    results = taped->call(static_cast<EagerScope&>(tape), in, why);
  });
  if (!why.empty() && !not_partitioned_.exchange(true))
    context_->log(LogLevel::warning, LogName::graph_breaks,
                  cat(function_->name(), ": runs op by op on tapes, without a backward of its own: ", why));
  return results || !tape.status() ? results : tape.own(make<Values>());
}

}  // namespace thunder
