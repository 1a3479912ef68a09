// thunder_trace_*: one stage of a program as text, and back.
#include "capi/trace.h"

#include "capi/function.h"
#include "tracer/replay.h"
#include "tracer/trace_reader.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// The tensors captured by the trace, by input: `given` has one leaf for each, in the order of the trace's header.
std::vector<Ref<Tensor>> match_captured(const Trace& trace, const Values& given) {
  std::vector<Ref<Tensor>> captured(trace.inputs.size());
  const auto random = random_input(trace);
  size_t leaf = 0;
  for (size_t i = 0; i < captured.size(); i++) {
    if (trace.inputs[i].source == Source::argument || random == i) continue;
    if (leaf < given.size()) captured[i] = given[leaf].tensor;
    leaf++;
  }
  check(leaf == given.size(), "the trace captured ", leaf, " tensors, ", given.size(), " are given");
  return captured;
}

}  // namespace

extern "C" {

const char* thunder_trace_name(const thunder_trace* trace) noexcept {
  const auto* const object = core(trace);
  return object ? object->trace.pass.c_str() : "";
}
double thunder_trace_milliseconds(const thunder_trace* trace) noexcept {
  const auto* const object = core(trace);
  return object ? object->trace.milliseconds : 0;
}
const char* thunder_trace_text(const thunder_trace* trace) noexcept {
  const auto* const object = core(trace);
  return object ? object->text.c_str() : "";
}

thunder_status* thunder_trace_parse(thunder_context* context, const char* text, size_t bytes,
                                    thunder_trace** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(text, "text"), need(out, "out");
    Ref<Context> owner(core(context));
    auto trace = read_trace({text, bytes}, owner->registry());
    *out = given(make<TraceHandle>(std::move(owner), std::move(trace)));
  }));
}

thunder_status* thunder_function_from_trace(thunder_trace* trace, const thunder_values* captured,
                                            thunder_function** out) noexcept {
  return given(guarded(__func__, [&] {
    need(trace, "trace"), need(out, "out");
    const TraceHandle& t = *core(trace);
    std::vector<Ref<Tensor>> tensors =
        captured ? match_captured(t.trace, require_usable(captured, "captured")) : t.captured;
    tensors.resize(t.trace.inputs.size());
    *out = given(make<FunctionHandle>(t.context, function_of_trace(t.trace, std::move(tensors))));
  }));
}

void thunder_trace_release(thunder_trace* trace) noexcept {
  released(trace);
}

}  // extern "C"
