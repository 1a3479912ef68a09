// How a function is partitioned: traced, differentiated by everything real, lowered to what executors take, and cut.
#include <algorithm>

#include "base/text.h"
#include "compile/execution_transforms.h"
#include "jit/backward/split.h"
#include "ops/grad.h"
#include "passes/inside.h"
#include "tracer/needed.h"
#include "tracer/recorder.h"
#include "tracer/trace_inputs.h"
#include "transforms/inner.h"

namespace thunder {
namespace {

// Every tensor among the leaves; plain numbers stay those of the scope around.
std::vector<InnerArgument> tensor_leaves(const Values& in) {
  std::vector<InnerArgument> out;
  for (size_t i = 0; i < in.size(); i++)
    if (in[i].kind == ArgKind::value && in[i].tensor && in[i].tensor->kind() != Tensor::Kind::number &&
        !in[i].tensor->type().weak)
      out.push_back({i, in[i].tensor->type()});
  return out;
}

std::vector<SplitInput> find_input_sources(const Inner& inner, std::span<const InnerArgument> arguments,
                                           const Values& in) {
  const std::optional<size_t> random = random_input(inner.trace);
  std::vector<SplitInput> out;
  for (size_t i = 0; i < inner.trace.inputs.size(); i++) {
    SplitInput place;
    const Ref<Tensor>& captured = inner.captured[i];
    if (i < arguments.size()) {
      place.leaf = static_cast<uint32_t>(arguments[i].leaf);
    } else if (random != i && captured->concrete()) {
      place.captured = captured;
    } else if (random != i) {
      for (uint32_t leaf = 0; leaf < in.size(); leaf++)
        if (in[leaf].tensor == captured) place.leaf = leaf;
      if (place.leaf == SplitInput::kCaptured)
        fail(Code::unimplemented, inner.trace.function, ": it reads a value of a function around it");
      place.number = true;
    }
    out.push_back(std::move(place));
  }
  return out;
}

// The inputs by which the function is differentiated.
std::vector<size_t> find_differentiable_inputs(const Trace& trace, std::span<const SplitInput> places) {
  std::vector<size_t> out;
  for (size_t i = 0; i < places.size(); i++)
    if (is_real(trace.type(trace.inputs[i].value).dtype) && !places[i].number) out.push_back(i);
  return out;
}

// What has no gradient here may be asked for none: then it runs op by op, and a backward that asks says so.
std::vector<ValueId> gradients_of(Recorder& recorder, const Trace& trace, const std::vector<Seed>& seeds,
                                  const std::vector<ValueId>& values) {
  try {
    return Backward(recorder, trace.nodes, true).run(seeds, values);
  } catch (const Error& e) {
    if (!is_callers_mistake(e.code())) throw;
    fail(Code::unimplemented, e.message());
  }
}

// The trace with a cotangent for each real output as further inputs, and the gradients by them as further outputs.
JointTrace build_joint_trace(Trace trace, const Registry& registry, std::span<const size_t> wrt,
                             std::vector<size_t>& cotangents) {
  JointTrace out;
  out.results = trace.outputs.size();
  Recorder recorder(registry, trace.store);
  recorder.nodes() = trace.nodes;
  std::vector<Seed> seeds;
  for (size_t i = 0; i < out.results; i++) {
    TensorType type = trace.type(trace.outputs[i]);
    if (!is_real(type.dtype)) continue;
    const ValueId seed = trace.store->add(type);
    const auto index = static_cast<uint32_t>(trace.inputs.size());
    trace.inputs.push_back({seed, Source::argument, index, cat("cotangents.", cotangents.size())});
    seeds.push_back({trace.outputs[i], recorder.var(seed)});
    cotangents.push_back(i);
  }
  std::vector<ValueId> values;
  for (size_t i : wrt) values.push_back(trace.inputs[i].value);
  const std::vector<ValueId> gradients = gradients_of(recorder, trace, seeds, values);
  trace.outputs.insert(trace.outputs.end(), gradients.begin(), gradients.end());
  trace.nodes = std::move(recorder.nodes());
  out.cotangents = cotangents.size();
  out.trace = std::move(trace);
  return out;
}

// Makes what is written outputs, and tells the inputs that it is written to. On a tape such an input stands for its new
// value from then on, by which results that are made of that would have to be differentiated.
std::vector<size_t> turn_writes_into_outputs(Trace& trace) {
  const std::optional<size_t> random = random_input(trace);
  std::vector<size_t> out;
  std::vector<ValueId> values;
  for (const Write& w : trace.writes) {
    if (random == w.input) continue;  // the scope counts the call
    out.push_back(w.input);
    values.push_back(w.value);
  }
  const std::vector<bool> of_written = dependents(trace, values);
  for (ValueId v : trace.outputs)
    if (of_written[v]) fail(Code::unimplemented, "its results depend on what it writes in place");
  trace.outputs.insert(trace.outputs.end(), values.begin(), values.end());
  trace.writes.clear();
  return out;
}

// For each output the inputs to which gradients flow from it.
std::vector<std::vector<bool>> find_reached_inputs(const Trace& trace) {
  std::vector<std::vector<bool>> out;
  for (ValueId v : trace.outputs) {
    ValueSet needed(trace.store->size());
    add_needed(trace.nodes, v, needed);
    std::vector<bool>& reached = out.emplace_back();
    for (const Input& input : trace.inputs) reached.push_back(needed.has(input.value));
  }
  return out;
}

Split::Parts build_split_parts(const CompileSetup& setup, const Inner& inner, std::span<const InnerArgument> arguments,
                               const Values& in) {
  Context& context = *setup.context;
  const CompileOptions& options = *setup.options;
  Split::Parts parts;
  Trace trace = inner.trace;
  if (auto with = apply_execution_transforms(trace, executors_for(context, options), context.scope_environment(),
                                             options.settings()))
    trace = std::move(*with);
  parts.inputs = find_input_sources(inner, arguments, in);
  parts.wrt = find_differentiable_inputs(trace, parts.inputs);
  parts.outputs.results = inner.outputs;
  parts.outputs.written = turn_writes_into_outputs(trace);
  parts.reaches = find_reached_inputs(trace);
  note_symbols(trace.nodes);
  parts.partition = partition_joint(
      setup, build_joint_trace(std::move(trace), context.registry(), parts.wrt, parts.cotangents));
  parts.outputs.saved = parts.partition.forward.outputs.size() - parts.outputs.differentiable();
  parts.leaves = inner.results->size();
  parts.structure = inner.results->structure();
  return parts;
}

}  // namespace

ForwardFunction::ForwardFunction(CompileSetup setup, Ref<Function> f)
    : Function(f->name()), setup_(std::move(setup)), f_(std::move(f)) {}

Ref<Status> ForwardFunction::call(Scope& scope, const Values& in, Values& out) {
  const std::vector<InnerArgument> arguments = tensor_leaves(in);
  std::vector<Tensor*> given;
  for (const InnerArgument& a : arguments) given.push_back(in[a.leaf].tensor.get());
  const Inner inner = trace_inside(scope, *f_, in, arguments);
  const auto split = make<Split>(setup_, latest_, build_split_parts(setup_, inner, arguments, in));
  const std::vector<Tensor*> made = replay_inside(scope, inner, split->parts().partition.forward, given);
  const std::vector<size_t>& results = split->parts().outputs.results;
  for (size_t i = 0; i < results.size(); i++) inner.results->set_tensor(results[i], Ref<Tensor>(made[i]));
  out.assign(*inner.results);
  out.open(false, {});
  for (size_t i = results.size(); i < made.size(); i++) out.push(Ref<Tensor>(made[i]));
  out.close();
  out.push(Any());
  out[out.size() - 1].auxiliary = Ref<Auxiliary>(split.get());
  return {};
}

Ref<TapedFunction> ForwardFunction::latest_backward() const {
  const std::lock_guard lock(latest_->mutex);
  return latest_->function;
}

}  // namespace thunder
