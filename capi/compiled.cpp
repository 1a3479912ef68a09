// thunder_compile and thunder_compiled_*.
#include "capi/compiled.h"

#include <cstring>

#include "capi/options.h"
#include "capi/stream.h"
#include "capi/trace.h"
#include "jit/backward/apply.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// The call itself refuses proxies and failed tensors in the bindings of `out`; this refuses what is not a handle.
[[gnu::noinline, gnu::cold]] thunder_status* refuse_handles(const char* function, const thunder_compiled* compiled,
                                                            const thunder_stream* stream, const thunder_values* in,
                                                            const thunder_values* out) noexcept {
  return given(guarded(function, [&] {
    need(compiled, "compiled"), need_if_given(stream, "stream"), need(in, "in"), need(out, "out");
  }));
}

// Handles as tensors, for a call; those that are NULL are the call's to refuse.
struct GivenTensors {
  SmallVector<Tensor*, 16> at;
  GivenTensors(thunder_tensor* const* handles, size_t n) {
    at.reserve(n);
    for (size_t i = 0; i < n; i++) {
      HandleTable::Place* const place = find_place(handles[i], HandleKind::tensor);
      if (!place && handles[i]) [[unlikely]]
        need(handles[i], cat("in[", i, "]").c_str());
      at.push_back(place ? static_cast<Tensor*>(place->object()) : nullptr);
    }
  }
};

// Turns owned tensors into handles where they are. Throws std::bad_alloc, and has released all of them then.
void give_all(thunder_tensor** out, size_t n) {
  auto* const made = reinterpret_cast<Tensor**>(out);
  for (size_t i = 0; i < n; i++) {
    try {
      out[i] = capi::given(Ref<Tensor>::adopt(made[i]));
    } catch (...) {  // which released this one
      for (size_t k = 0; k < i; k++) released(out[k]);
      for (size_t k = i + 1; k < n; k++) made[k]->release();
      throw;
    }
  }
}

thunder_trace* stage_of(const thunder_compiled* compiled, const Entry& program, size_t stage) {
  const std::vector<Trace> traces = program.traces.all();
  check(stage < traces.size(), "there is no stage ", stage, ", there are ", traces.size());
  std::vector<Ref<Tensor>> captured;
  for (const Binding& b : program.bindings) captured.push_back(b.captured);
  return given(make<TraceHandle>(core(compiled)->context(), traces[stage], std::move(captured)));
}

}  // namespace

extern "C" {

thunder_status* thunder_compile(thunder_function* function, const thunder_options* options,
                                thunder_compiled** out) noexcept {
  return given(guarded(__func__, [&] {
    need(function, "function"), need(out, "out");
    *out = given(make<CompiledHandle>(core(function)->context, core(function)->function, usable_options(options)));
  }));
}

thunder_status* thunder_compiled_function(const thunder_compiled* compiled, thunder_function** out) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    const Compiled& c = *core(compiled);
    *out = given(make<FunctionHandle>(c.context(), c.shared_function()));
  }));
}

thunder_compiled* thunder_compiled_retain(thunder_compiled* compiled) noexcept {
  return retained(compiled);
}
void thunder_compiled_release(thunder_compiled* compiled) noexcept {
  released(compiled);
}

thunder_status* thunder_compiled_call(thunder_compiled* compiled, thunder_stream* stream, const thunder_values* in,
                                      thunder_values* out) noexcept {
  CompiledHandle* const c = core(compiled);
  const Values* const given_in = core(in);
  Values* const made = core(out);
  if (!c || !given_in || !made || (stream && !is_live(stream))) [[unlikely]]
    return refuse_handles(__func__, compiled, stream, in, out);
  return given(c->call(*given_in, *made, stream ? native_stream(stream) : nullptr));
}

thunder_status* thunder_compiled_call_tensors(thunder_compiled* compiled, thunder_tensor* const* in, size_t n_in,
                                              thunder_tensor** out, size_t n_out) noexcept {
  return given(guarded(__func__, [&] {
    CompiledHandle* const c = core(compiled);
    if (!c) [[unlikely]]
      need(compiled, "compiled");
    if (n_in) need(static_cast<const void*>(in), "in");
    if (n_out) need(static_cast<const void*>(out), "out");
    const GivenTensors inputs(in, n_in);
    if (Status* failed = c->call_tensors(inputs.at.data(), n_in, reinterpret_cast<Tensor**>(out), n_out))
      throw Error(Ref<Status>::adopt(failed));
    give_all(out, n_out);
  }));
}

thunder_status* thunder_compiled_prepare(thunder_compiled* compiled, const thunder_values* in) noexcept {
  CompiledHandle* const c = core(compiled);
  const Values* const given_in = core(in);
  if (!c || !given_in) return refuse_handles(__func__, compiled, nullptr, in, in);
  return given(c->prepare(*given_in));
}

const char* thunder_compiled_function_name(const thunder_compiled* compiled) noexcept {
  const auto* const object = core(compiled);
  return object ? object->function().name().c_str() : "";
}

const char* thunder_compiled_last_miss(thunder_compiled* compiled) noexcept {
  return text_of(compiled, &CompiledHandle::last_miss_text, [](const Compiled& f) { return f.reports().last_miss(); });
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
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(what, "what"), need(out, "out");
    CompiledHandle& h = *core(compiled);
    h.explained_text = explain(h, what);
    *out = h.explained_text.c_str();
  }));
}

thunder_status* thunder_compiled_statistics(const thunder_compiled* compiled, thunder_statistics* filled) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(filled, "filled");
    check(filled->size >= sizeof filled->size, "the size of the structure is not set");
    const CallStatistics s = core(compiled)->reports().statistics();
    const thunder_statistics ours{filled->size, s.calls,        s.hits,       s.misses,     s.entries,
                                  s.trace_ns,   s.passes_ns,    s.compile_ns, s.peak_bytes, s.eager_calls,
                                  s.segments,   s.graph_breaks, s.plan_ns};
    std::memcpy(filled, &ours, std::min(filled->size, sizeof ours));
  }));
}

size_t thunder_compiled_trace_count(const thunder_compiled* compiled) noexcept {
  const CompiledHandle* const c = core(compiled);
  return c ? value_or<size_t>(0, [&] { return c->reports().traces().size(); }) : 0;
}

thunder_status* thunder_compiled_trace(const thunder_compiled* compiled, size_t stage, thunder_trace** out) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    const auto program = core(compiled)->reports().latest();
    check(program != nullptr, "nothing is compiled before the first call");
    *out = stage_of(compiled, *program, stage);
  }));
}

size_t thunder_compiled_backward_trace_count(const thunder_compiled* compiled) noexcept {
  const CompiledHandle* const c = core(compiled);
  if (!c) return 0;
  return value_or<size_t>(0, [&] {
    const auto program = c->reports().latest_backward();
    return program ? program->traces.all().size() : 0;
  });
}

thunder_status* thunder_compiled_backward_trace(const thunder_compiled* compiled, size_t stage,
                                                thunder_trace** out) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    const auto program = core(compiled)->reports().latest_backward();
    check(program != nullptr, "no backward of it has run in a taped scope");
    *out = stage_of(compiled, *program, stage);
  }));
}

thunder_values* thunder_compiled_apply(thunder_scope* scope, thunder_compiled* compiled,
                                       const thunder_values* in) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    need(compiled, "compiled");
    const auto held = hold_values(require_usable(in, "in"));
    return apply(*core(scope), *core(compiled), *core(in));
  }));
}

}  // extern "C"
