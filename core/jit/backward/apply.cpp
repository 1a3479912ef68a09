#include "jit/backward/apply.h"

#include <array>
#include <cstring>

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

// A call that fails has changed nothing, unless it may come in parts: it wrote nothing, and drew nothing.
Values* run_on_tape(EagerScope& tape, const CompiledState& state, const Values& in) {
  if (!state.settings.fullgraph || state.settings.disable) return apply(tape, *state.function, in);
  struct Undoable {
    EagerScope& tape;
    const size_t mark = tape.begin_undoable();
    ~Undoable() { tape.end_undoable(); }
  };
  const Undoable call{tape};
  Tensor& random = *state.context.random();
  std::array<int64_t, 2> drawn;
  std::memcpy(drawn.data(), random.data(), sizeof drawn);
  Values* const results = apply(tape, *state.function, in);
  if (!tape.status()) return results;
  tape.undo_writes(call.mark);
  if (std::memcmp(drawn.data(), random.data(), sizeof drawn) == 0) return results;
  std::memcpy(random.data(), drawn.data(), sizeof drawn);
  random.bump();
  return results;
}

// By a forward program with a compiled backward. Null: the function must run op by op.
Values* call_partitioned(Scope& tape, Compiled& compiled, const Values& in) {
  CompiledState& state = compiled.state();
  Values* results = nullptr;
  std::string why;
  tape.run_formulas([&] {
    if (in.status()) throw Error(in.status());
    compiled.misses().check_inputs({&in, nullptr, in.size()});
    TapedCalls* taped;
    {
      const std::lock_guard lock(state.taped_mutex);
      if (!state.taped) state.taped = std::make_unique<Pair>(state);
      taped = state.taped.get();
    }
    results = taped->call(static_cast<EagerScope&>(tape), in, why);
  });
  if (!why.empty() && !state.not_partitioned.exchange(true))
    state.context.log(LogLevel::warning, LogName::graph_breaks,
                      cat(state.function->name(), ": runs op by op on tapes, without a backward of its own: ", why));
  return results || !tape.status() ? results : tape.own(make<Values>());
}

}  // namespace

Values* apply(Scope& scope, Compiled& compiled, const Values& in) {
  const Ref<Compiled> kept(&compiled);
  CompiledState& state = compiled.state();
  const bool partitions = scope.taped() && !state.settings.disable && state.settings.fullgraph && state.caches &&
                          state.context.stance() == Stance::normal;
  if (partitions && !state.not_partitioned.load(std::memory_order_relaxed) && !scope.status())
    if (Values* results = call_partitioned(scope, compiled, in)) return results;
  if (scope.tracing()) return apply(scope, *state.function, in);
  if (scope.taped()) return copy_results(scope, run_on_tape(static_cast<EagerScope&>(scope), state, in));
  auto out = make<Values>();
  if (Status* failed = scope.status() ? nullptr : compiled.call(in, *out)) scope.fail(Ref<Status>::adopt(failed));
  return scope.own(std::move(out));
}

}  // namespace thunder
