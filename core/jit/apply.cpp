// Calls of a compiled function in a scope: under a trace it is traced along, on a tape it gets a backward.
#include "base/text.h"
#include "jit/backward/pair.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

// What a tape ran op by op may give arguments, views of them and of one another: results have memory of their own.
Values* copy_results(Scope& tape, Values* results) {
  for (size_t i = 0; i < results->size() && !tape.status(); i++) {
    Tensor* t = (*results)[i].tensor.get();
    if (!t || t->kind() == Tensor::Kind::number) continue;
    const Any x = Any::tensor(t);
    results->set_tensor(i, Ref<Tensor>(tape.invoke("clone", {&x, 1}, nullptr, nullptr, 0, nullptr)));
  }
  return results;
}

}  // namespace

Values* Compiled::apply(Scope& scope, const Values& in) {
  const Ref<Compiled> kept(this);
  const bool partitions = scope.taped() && !settings_.disable && settings_.fullgraph &&
                     settings_.cache != CacheMode::no_caching && context_->stance() == Stance::normal;
  if (partitions && !not_partitioned_.load(std::memory_order_relaxed) && !scope.status())
    if (Values* results = call_partitioned(scope, in)) return results;
  if (scope.tracing()) return thunder::apply(scope, *function_, in);
  if (scope.taped()) return copy_results(scope, thunder::apply(scope, *function_, in));
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
