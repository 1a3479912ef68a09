// thunder_compile and thunder_compiled_*.
#include <cstring>

#include "capi/compiled.h"
#include "capi/options.h"
#include "capi/trace.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// The call itself refuses proxies and failed tensors in the bindings of `out`; this refuses what is not a handle.
Status* null_argument_status(const char* function, const char* argument) {
  return guarded(function, [&] { need(nullptr, argument); });
}

thunder_trace* stage_of(const thunder_compiled* compiled, const Entry& program, size_t stage) {
  check(stage < program.traces.size(), "there is no stage ", stage, ", there are ", program.traces.size());
  std::vector<Ref<Tensor>> captured;
  for (const Binding& b : program.bindings) captured.push_back(b.captured);
  return given(make<TraceHandle>(core(compiled)->context(), program.traces[stage], std::move(captured)));
}

}  // namespace

extern "C" {

thunder_status* thunder_compile(thunder_function* function, const thunder_options* options,
                                thunder_compiled** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(function, "function"), need(out, "out");
    *out = given(make<CompiledHandle>(core(function)->context, core(function)->function, usable_options(options)));
  }));
}

thunder_status* thunder_compiled_function(const thunder_compiled* compiled, thunder_function** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    const Compiled& c = *core(compiled);
    *out = given(make<FunctionHandle>(c.context(), c.shared_function()));
  }));
}

thunder_compiled* thunder_compiled_retain(thunder_compiled* compiled) noexcept { return retained(compiled); }
void thunder_compiled_release(thunder_compiled* compiled) noexcept { released(compiled); }

thunder_status* thunder_compiled_call(thunder_compiled* compiled, thunder_stream* stream, const thunder_values* in,
                                      thunder_values* out) noexcept {
  if (!compiled) return handle(null_argument_status(__func__, "compiled"));
  if (!in) return handle(null_argument_status(__func__, "in"));
  if (!out) return handle(null_argument_status(__func__, "out"));
  return handle(core(compiled)->call(*core(in), *core(out), native_stream(stream)));
}

thunder_status* thunder_compiled_call_tensors(thunder_compiled* compiled, thunder_tensor* const* in, size_t n_in,
                                              thunder_tensor** out, size_t n_out) noexcept {
  if (!compiled) return handle(null_argument_status(__func__, "compiled"));
  if (!in && n_in) return handle(null_argument_status(__func__, "in"));
  if (!out && n_out) return handle(null_argument_status(__func__, "out"));
  return handle(core(compiled)->call_tensors(reinterpret_cast<Tensor* const*>(in), n_in,
                                                      reinterpret_cast<Tensor**>(out), n_out));
}

thunder_status* thunder_compiled_prepare(thunder_compiled* compiled, const thunder_values* in) noexcept {
  if (!compiled) return handle(null_argument_status(__func__, "compiled"));
  if (!in) return handle(null_argument_status(__func__, "in"));
  return handle(core(compiled)->prepare(*core(in)));
}

const char* thunder_compiled_function_name(const thunder_compiled* compiled) noexcept {
  return compiled ? core(compiled)->function().name().c_str() : "";
}

const char* thunder_compiled_last_miss(thunder_compiled* compiled) noexcept {
  return text_of(compiled, &CompiledHandle::last_miss_text, [](const Compiled& f) { return f.last_miss(); });
}

const char* thunder_compiled_memory_report(thunder_compiled* compiled) noexcept {
  return report_of(compiled, &CompiledHandle::memory_text, "memory");
}

const char* thunder_compiled_fusion_report(thunder_compiled* compiled) noexcept {
  return report_of(compiled, &CompiledHandle::fusion_text, "fusion");
}

const char* thunder_compiled_loops_report(thunder_compiled* compiled) noexcept {
  return report_of(compiled, &CompiledHandle::loops_text, "loops");
}

thunder_status* thunder_compiled_explain(thunder_compiled* compiled, const char* what, const char** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(compiled, "compiled"), need(what, "what"), need(out, "out");
    CompiledHandle& h = *core(compiled);
    h.explained_text = explain(h, what);
    *out = h.explained_text.c_str();
  }));
}

thunder_status* thunder_compiled_statistics(const thunder_compiled* compiled, thunder_statistics* filled) noexcept {
  return handle(guarded(__func__, [&] {
    need(compiled, "compiled"), need(filled, "filled");
    check(filled->size >= sizeof filled->size, "the size of the structure is not set");
    const CallStatistics s = core(compiled)->statistics();
    const thunder_statistics ours{filled->size, s.calls,        s.hits,       s.misses,    s.entries,
                                  s.trace_ns,   s.passes_ns,    s.compile_ns, s.peak_bytes,
                                  s.eager_calls, s.segments, s.graph_breaks, s.plan_ns};
    std::memcpy(filled, &ours, std::min(filled->size, sizeof ours));
  }));
}

size_t thunder_compiled_trace_count(const thunder_compiled* compiled) noexcept {
  return compiled ? value_or<size_t>(0, [&] { return core(compiled)->traces().size(); }) : 0;
}

thunder_status* thunder_compiled_trace(const thunder_compiled* compiled, size_t stage, thunder_trace** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    const auto program = core(compiled)->latest();
    check(program != nullptr, "nothing is compiled before the first call");
    *out = stage_of(compiled, *program, stage);
  }));
}

size_t thunder_compiled_backward_trace_count(const thunder_compiled* compiled) noexcept {
  if (!compiled) return 0;
  return value_or<size_t>(0, [&] {
    const auto program = core(compiled)->latest_backward();
    return program ? program->traces.size() : 0;
  });
}

thunder_status* thunder_compiled_backward_trace(const thunder_compiled* compiled, size_t stage,
                                                thunder_trace** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    const auto program = core(compiled)->latest_backward();
    check(program != nullptr, "no backward of it has run in a taped scope");
    *out = stage_of(compiled, *program, stage);
  }));
}

thunder_values* thunder_compiled_apply(thunder_scope* scope, thunder_compiled* compiled,
                                       const thunder_values* in) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    need(compiled, "compiled");
    const auto held = hold_values(require_usable(core(in), "in"));
    return core(compiled)->apply(*core(scope), *core(in));
  }));
}

}  // extern "C"
