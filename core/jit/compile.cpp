#include "jit/compile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/text.h"
#include "executors/prepare.h"
#include "ir/dim_reads.h"
#include "ir/symbols.h"
#include "jit/pipeline.h"
#include "tracer/tracing.h"

namespace thunder {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Notes which floats the function reads as numbers: those are guarded by value.
struct FloatReads : LeafReads {
  explicit FloatReads(const Values& in) : in(in) {}
  void read_as_number(size_t leaf) override {
    if (leaf < in.size() && in[leaf].kind == ArgKind::real) guards.emplace_back(leaf, in[leaf].f);
  }
  const Values& in;
  std::vector<std::pair<size_t, double>> guards;
};

// The type with a symbol for each size that the mask names, one for all that are equal.
TensorType with_symbols(TracingScope& scope, TensorType type, const std::vector<bool>& mask, std::map<int64_t, Dim>& symbols) {
  for (size_t dim = 0; dim < mask.size(); dim++) {
    if (!mask[dim]) continue;
    auto [it, fresh] = symbols.try_emplace(type.shape[dim].value());
    if (fresh) it->second = scope.symbol(it->first);
    type.shape[dim] = it->second;
  }
  return type;
}

// A proxy for each tensor and each float; other leaves stay what they are.
void make_proxies(TracingScope& scope, Values& proxies, const Values& in, FloatReads& reads, Entry& entry, const DimMask* mask) {
  auto paths = in.paths();
  std::map<int64_t, Dim> symbols;
  for (uint32_t leaf = 0; leaf < in.size(); leaf++) {
    const Leaf& l = in[leaf];
    if (l.kind == ArgKind::value && l.tensor->concrete())
      proxies[leaf].tensor = Ref<Tensor>(scope.argument_proxy(mask ? with_symbols(scope, l.tensor->type(), (*mask)[leaf], symbols) : l.tensor->type(),
                                                              paths[leaf], l.tensor));
    else if (l.kind == ArgKind::real) {
      proxies[leaf].tensor = Ref<Tensor>(scope.float_proxy(l.f, paths[leaf], leaf, reads));
      entry.numbers = true;
    } else if (l.kind == ArgKind::value) {
      TensorType number;
      number.dtype = l.tensor->type().dtype;
      number.weak = true;
      proxies[leaf].tensor = Ref<Tensor>(scope.argument_proxy(number, paths[leaf], nullptr));
      entry.numbers = true;
    } else
      continue;
    entry.bindings.push_back({leaf, nullptr});
  }
}

EntryInputs inputs_of(const Values& in) {
  EntryInputs inputs{in.structure(), std::vector<Leaf>(in.size()), std::vector<Sizes>(in.size())};
  for (size_t i = 0; i < in.size(); i++) {
    const Leaf& l = in[i];
    if (l.kind == ArgKind::value && l.tensor->concrete() && !l.tensor->contiguous()) inputs.strides[i] = l.tensor->strides();
    if (l.kind != ArgKind::value && l.kind != ArgKind::real) inputs.leaves[i] = l;
  }
  return inputs;
}

// What the function gave: by leaf a constant, or an output of the program. Gives the outputs.
std::vector<Tensor*> note_results(const Values& out, Entry& entry) {
  std::vector<Tensor*> outputs;
  for (size_t i = 0; i < out.size(); i++) {
    const Leaf& l = out[i];
    if (l.tensor && l.tensor->kind() == Tensor::Kind::failed) throw Error(l.tensor->failure());
    if (l.tensor && l.tensor->kind() != Tensor::Kind::number) {
      entry.results.push_back({static_cast<uint32_t>(outputs.size()), {}});
      outputs.push_back(l.tensor.get());
    } else {
      entry.results.push_back({ResultLeaf::kConstant, l});
    }
  }
  entry.result_structure = out.structure();
  return outputs;
}

Trace finish_trace(TracingScope& scope, const Values& out, FloatReads& reads, Entry& entry) {
  Trace trace = scope.finish(note_results(out, entry));
  entry.float_guards = std::move(reads.guards);
  entry.guards = scope.take_guards();
  for (size_t i = entry.leaves; i < trace.inputs.size(); i++) entry.bindings.push_back({Binding::kCaptured, scope.captured()[i]});
  return trace;
}

// The function called on proxies. Throws what it reports.
Values* call_on_proxies(TracingScope& scope, Function& function, const Values& in, Values& proxies, FloatReads& reads, Entry& entry, const DimMask* mask) {
  make_proxies(scope, proxies, in, reads, entry, mask);
  entry.inputs = inputs_of(in);
  entry.leaves = entry.bindings.size();
  proxies.reads = &reads;
  return apply(scope, function, proxies);
}

// `writes`, with a mask: whether a tensor was written in place.
Trace trace_function(Context& context, Function& function, const Values& in, Entry& entry, const DimMask* mask = nullptr, bool* writes = nullptr) {
  TracingScope scope(context.scope_environment(), function.name());
  Values proxies(in);
  FloatReads reads(in);
  Values* out = call_on_proxies(scope, function, in, proxies, reads, entry, mask);
  if (scope.status()) throw Error(scope.status());
  Trace trace = finish_trace(scope, *out, reads, entry);
  if (writes) *writes = scope.wrote();
  return trace;
}

// Before the program is made, so that a write meanwhile is seen.
void freeze(Trace& trace, Entry& entry) {
  for (size_t i = entry.leaves; i < trace.inputs.size(); i++) {
    const bool written = std::any_of(trace.writes.begin(), trace.writes.end(), [i](const Write& w) { return w.input == i; });
    if (written) continue;
    const Ref<Tensor>& t = entry.bindings[i].captured;
    trace.inputs[i].frozen = true;
    entry.frozen.push_back({t, t->storage()->version()});
  }
}

std::vector<Sizes> layouts(const Trace& trace, const Entry& entry, const Values& in) {
  std::vector<Sizes> out;
  for (size_t i = 0; i < trace.inputs.size(); i++) {
    const Binding& b = entry.bindings[i];
    const Tensor* t = b.captured ? b.captured.get() : in[b.leaf].tensor.get();
    out.push_back(t && t->concrete() ? t->strides() : Sizes());
  }
  return out;
}

// A captured tensor's memory is the same at every call.
std::vector<void*> fixed_addresses(const Entry& entry) {
  std::vector<void*> out;
  for (size_t i = entry.leaves; i < entry.bindings.size(); i++) out.push_back(entry.bindings[i].captured->data());
  return out;
}

// What float32_matmul_precision and max_autotune ask for comes before the built-in executors, not among those that are named one by one.
Executors executors_for(Context& context, const CompileOptions& options) {
  const std::vector<std::string> names = split_list(options.text("executors", ""));
  Executors first = options.executors();
  const Ref<Executor> products = context.products(options.text("float32_matmul_precision", "highest"), options.flag("max_autotune", false));
  if (products && names.empty()) first.push_back(products);
  return context.executors(names, first);
}

// Takes the sizes out of the mask that were looked at; whether there were any.
bool specialise(const DimReads& reads, const Values& in, DimMask& mask) {
  std::set<int64_t> sizes;
  for (const DimExpr* e : reads.noted())
    for (const Symbol& s : used_symbols(Dim(e))) sizes.insert(s.hint);
  for (size_t leaf = 0; leaf < mask.size(); leaf++)
    for (size_t dim = 0; dim < mask[leaf].size(); dim++)
      if (mask[leaf][dim] && sizes.count(in[leaf].tensor->sizes()[dim])) mask[leaf][dim] = false;
  return !sizes.empty();
}

bool is_empty(const DimMask& mask) {
  return std::none_of(mask.begin(), mask.end(), [](auto& dims) { return std::find(dims.begin(), dims.end(), true) != dims.end(); });
}

}  // namespace

std::unique_ptr<Entry> record(Context& context, Function& function, const Values& in) {
  auto entry = std::make_unique<Entry>();
  entry->traces.push_back(trace_function(context, function, in, *entry));
  return entry;
}

std::unique_ptr<Entry> record_symbolic(Context& context, Function& function, const Values& in, DimMask& mask) {
  while (!is_empty(mask)) {
    auto entry = std::make_unique<Entry>();
    DimReads reads;
    bool writes = false;
    entry->traces.push_back(trace_function(context, function, in, *entry, &mask, &writes));
    if (writes) return nullptr;
    if (specialise(reads, in, mask)) continue;
    entry->conditions = reads.conditions();
    return entry;
  }
  return nullptr;
}

void compile_recorded(Context& context, const CompileOptions& options, const Values& in, Effort effort, InterruptCheck& check, Entry& entry) {
  Executors executors = executors_for(context, options);
  if (effort == Effort::least) std::erase_if(executors, [](auto& e) { return e->desc().claim_region != nullptr; });
  if (options.flag("freezing", false)) freeze(entry.traces[0], entry);
  const double traced = now_ms();
  PipelineContext pipeline{{context.registry(), context.allocator()}, executors, context.scope_environment(), check,
                           context.passes(options.passes()), split_list(options.text("disable_passes", "")), options.flag("verify", false)};
  run_pipeline(entry.traces, pipeline);
  const double transformed = now_ms();
  entry.transform_ms = transformed - traced;

  PreparedTrace prepared = prepare(entry.traces.back(), executors, context.registry().get("region"), check);
  if (prepared.trace) {
    prepared.trace->milliseconds = now_ms() - transformed;
    check_stage(*prepared.trace, pipeline);
    entry.traces.push_back(std::move(*prepared.trace));
  }
  const Trace& final = entry.traces.back();
  entry.program = std::make_unique<Program>(final, entry.traces.front(), layouts(final, entry, in), fixed_addresses(entry), std::move(prepared.preparer),
                                            context.devices(), context.threads(), check);
  entry.compile_ms = now_ms() - transformed;
  entry.writes = !final.writes.empty();
  entry.held = entry.program->plan().may_fail;
  for (const Write& w : final.writes) entry.written.push_back(w.input);
}

std::unique_ptr<Entry> compile_entry(Context& context, Function& function, const CompileOptions& options, const Values& in, Effort effort,
                                     InterruptCheck& check) {
  executors_for(context, options);  // what it refuses is said before the function runs
  const double start = now_ms();
  std::unique_ptr<Entry> entry = record(context, function, in);
  entry->traces[0].milliseconds = entry->trace_ms = now_ms() - start;
  compile_recorded(context, options, in, effort, check, *entry);
  return entry;
}

std::unique_ptr<Entry> record_segments(Context& context, Function& function, const Values& in, SegmentRunner& runner, bool broken,
                                       SegmentedResults& results) {
  auto entry = std::make_unique<Entry>();
  const double start = now_ms();
  SegmentScope scope(context.scope_environment(), function.name(), runner, broken);
  Values proxies(in);
  FloatReads reads(in);
  std::vector<Ref<Tensor>> arguments;
  for (size_t i = 0; i < in.size(); i++) {
    if (in[i].kind == ArgKind::value) arguments.push_back(in[i].tensor);
    if (in[i].kind == ArgKind::real) arguments.push_back(Tensor::number(Arg::real(in[i].f)));
  }
  scope.bind_arguments(std::move(arguments));
  Values* out = call_on_proxies(scope, function, in, proxies, reads, *entry, nullptr);
  if (scope.status()) throw Error(scope.status());
  if (!scope.broken()) {
    entry->traces.push_back(finish_trace(scope, *out, reads, *entry));
    entry->traces[0].milliseconds = entry->trace_ms = now_ms() - start;
    return entry;
  }
  const std::vector<Tensor*> tensors = note_results(*out, *entry);
  const std::vector<Ref<Tensor>> made = scope.settle(tensors);
  results.structure = out->structure();
  for (size_t i = 0; i < out->size(); i++) {
    results.leaves.push_back((*out)[i]);
    if (entry->results[i].output != ResultLeaf::kConstant) results.leaves.back().tensor = made[entry->results[i].output];
  }
  return nullptr;
}

std::unique_ptr<Entry> compile_segment(Context& context, const CompileOptions& options, const Segment& segment, Effort effort, InterruptCheck& check) {
  auto entry = std::make_unique<Entry>();
  entry->traces.push_back(segment.trace);
  Values in;
  for (uint32_t i = 0; i < segment.inputs.size(); i++) {
    in.push(segment.inputs[i]);
    entry->bindings.push_back({i, nullptr});
    entry->numbers |= segment.inputs[i]->kind() == Tensor::Kind::number;
    entry->traces[0].inputs[i].source = Source::argument, entry->traces[0].inputs[i].index = i;
  }
  entry->leaves = entry->bindings.size();
  entry->inputs = inputs_of(in);
  for (uint32_t i = 0; i < segment.trace.outputs.size(); i++) entry->results.push_back({i, {}});
  compile_recorded(context, options, in, effort, check, *entry);
  return entry;
}

}  // namespace thunder
