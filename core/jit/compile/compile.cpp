#include "jit/compile/compile.h"

#include <algorithm>
#include <atomic>

#include "base/text.h"
#include "compile/claim.h"
#include "compile/run_stages.h"
#include "executors/engines.h"
#include "ir/symbols.h"
#include "jit/compile/callers_hooks.h"
#include "jit/run/donations.h"
#include "jit/record/record.h"
#include "jit/watches/ranges.h"
#include "loops/kernels.h"
#include "ops/world_collectives.h"
#include "tracer/replay.h"

namespace thunder {
namespace {

// Called before the program is made, so that a write meanwhile is noticed.
void freeze_captured_inputs(Trace& trace, Entry& entry) {
  for (size_t i = entry.leaves; i < trace.inputs.size(); i++) {
    const bool written =
        std::any_of(trace.writes.begin(), trace.writes.end(), [i](const Write& w) { return w.input == i; });
    if (written) continue;
    const Ref<Tensor>& t = entry.bindings[i].captured;
    trace.inputs[i].frozen = true;
    if (!t->read_only()) entry.frozen.push_back({t, t->storage()->version()});  // else nobody writes it
  }
}

InputLayouts collect_input_layouts(const Trace& trace, const Entry& entry, const Values& in) {
  InputLayouts out{{}, donated_inputs(entry)};
  for (size_t i = 0; i < trace.inputs.size(); i++) {
    const Binding& b = entry.bindings[i];
    const Tensor* t = b.captured ? b.captured.get() : in[b.leaf].tensor.get();
    out.strides.push_back(t && t->concrete() ? t->strides() : Sizes());
  }
  return out;
}

// The addresses of captured tensors, which are the same at every call.
std::vector<void*> captured_addresses(const Entry& entry) {
  std::vector<void*> out;
  for (size_t i = entry.leaves; i < entry.bindings.size(); i++) out.push_back(entry.bindings[i].captured->data());
  return out;
}

void add_backend(const Backend& backend, const Context& context, Executors& out) {
  out.insert(out.end(), backend.own.begin(), backend.own.end());
  for (const std::string& name : backend.executors) {
    Ref<Executor> found = context.find_executor(name);
    if (!found) fail(Code::not_found, "backend '", backend.name, "': executor '", name, "' is not available here");
    out.push_back(std::move(found));
  }
}

}  // namespace

void add_integer_conditions(const Entry& recorded, const Values& in, Entry& entry) {
  if (recorded.integers.empty()) return;
  std::vector<const TensorType*> types(recorded.traces.front().inputs.size(), nullptr);
  for (size_t i = 0; i < recorded.leaves; i++) types[i] = &in.tensor(recorded.bindings[i].leaf)->type();
  std::vector<IntegerValue> integers;
  for (const IntegerSymbol& s : recorded.integers) integers.push_back({s.symbol, in[s.leaf].i});
  entry.symbols = symbol_values(recorded.traces.front(), types, integers);
  const auto is_any = [&](const Symbol& s) {
    return std::any_of(entry.integers.begin(), entry.integers.end(), [&](auto& i) { return i.symbol == s.number; });
  };
  for (const DimCondition& c : recorded.conditions) {
    std::vector<Symbol> of = used_symbols(c.a);
    for (const Symbol& s : used_symbols(c.b)) of.push_back(s);
    if (std::any_of(of.begin(), of.end(), is_any)) entry.conditions.push_back(c);
  }
}

Executors executors_for(Context& context, const CompileOptions& options) {
  Executors first = options.executors();
  const Backend* backend = options.backend();
  if (backend) add_backend(*backend, context, first);
  Executors all = context.executors(options.settings().executors, first);
  for (const Ref<Executor>& e : all) {
    const EngineRow* engine = find_engine(e->name());
    if (std::string found; engine && !engine->open(options.settings().engine_library, found))
      fail(Code::not_found, "executors: ", e->name(), " is not available here: ", found);
  }
  if (backend && !backend->fuses)
    std::erase_if(all, [&](auto& e) {
      return e->desc().claim_region != nullptr && std::find(first.begin(), first.end(), e) == first.end();
    });
  return all;
}

namespace {

Compilation compilation_with(const CompileSetup& setup, const Executors& executors, InterruptCheck& check) {
  Context& context = *setup.context;
  return {{.registry = context.registry(), .allocator = context.allocator(), .settings = setup.options->settings()},
          executors,
          context.scope_environment(),
          check};
}

void take_program(Compilation& compilation, const CompileSettings& settings, Entry& entry) {
  entry.program = std::move(compilation.program);
  entry.plan_ms = entry.program->plan_ms();
  entry.held = entry.program->plan().may_fail || !settings.debug_checks.empty() || ranges_are_wanted();
  for (const Write& w : compilation.trace().writes) entry.written.push_back(w.input);
  entry.writes = !entry.written.empty();
}

// Runs the table of stages with these executors.
void run_table(const Executors& executors, const CompileRequest& r, Entry& entry) {
  Context& context = r.context();
  Compilation compilation = compilation_with(r.setup, executors, r.check);
  compilation.custom = context.passes_with(r.options().passes());
  compilation.is_transformed = r.setup.is_transformed;
  compilation.devices = &context.devices(), compilation.threads = &context.threads();
  compilation.inputs = collect_input_layouts(entry.traces.made().front(), entry, r.in);
  compilation.fixed = captured_addresses(entry);
  compilation.rows = r.rows, compilation.of_class = r.of_class, compilation.earlier = entry.traces.before();
  compilation.traces = entry.traces.made();
  run_stages(compilation);
  for (const StageTime& t : compilation.times)
    (t.makes_kernels ? entry.compile_ms : entry.passes_ms) += t.milliseconds;
  entry.stages.insert(entry.stages.end(), compilation.times.begin(), compilation.times.end());
  if (r.rows != StageRows::lines) take_program(compilation, r.options().settings(), entry);
  entry.traces = compilation.of_class.shares_plan
                     ? StageTraces({}, compilation.of_class.traces)
                     : StageTraces(std::move(compilation.traces), entry.traces.before());
}

// Backends tagged as inference-only refuse traces with gradients.
void refuse_gradients(const Backend& backend, const Trace& trace) {
  if (std::find(backend.tags.begin(), backend.tags.end(), "inference") == backend.tags.end()) return;
  for (const Node* n : trace.nodes)
    if (n->op->name() == "grad")
      fail(Code::unimplemented, "compile: backend '", backend.name, "' is for inference, and '", trace.function,
           "' takes gradients", n->where ? cat(" [at ", n->where, "]") : "", "; backend = 'openxla' takes them");
}

void remove_fusion_executors(Executors& executors) {
  std::erase_if(executors, [](auto& e) { return e->desc().claim_region != nullptr; });
}

// Whether it makes or writes a tensor of the host: a number there, such as the random state, takes no time.
bool produces_host_tensors(const Trace& trace) {
  const auto is_host = [&](ValueId v) { return trace.type(v).device == Device::cpu; };
  return std::any_of(trace.outputs.begin(), trace.outputs.end(), is_host) ||
         std::any_of(trace.writes.begin(), trace.writes.end(),
                     [&](const Write& w) { return is_host(w.value) && random_input(trace) != w.input; });
}

// Warns once a process that nothing is fused: results are the same, but slow.
void warn_without_compiler(Context& context, const Executors& executors, const Trace& trace) {
  static std::atomic<bool> said = false;
  std::string why;
  const bool fuses = std::any_of(executors.begin(), executors.end(), [](auto& e) { return e->desc().claim_region; });
  if (!fuses || loops::can_run(&why) || !produces_host_tensors(trace) || said.exchange(true)) return;
  context.log(LogLevel::warning, LogName::fusion,
              cat("nothing is fused or compiled to machine code, which makes element-wise work some hundred times "
                  "slower: ", why, "; `thunder doctor` says what this installation has"));
}

// A program of what was recorded.
void add_program(const CompileRequest& r, Executors executors, Entry& entry) {
  const CompileProgress told(r.context(), r.options(), r.check);
  Trace& trace = entry.traces.made().front();
  if (const Backend* backend = r.options().backend()) refuse_gradients(*backend, trace);
  if (r.effort == Effort::least) remove_fusion_executors(executors);
  warn_without_compiler(r.context(), executors, trace);
  note_donations(r.options(), r.in, entry);
  if (r.options().settings().freezing) freeze_captured_inputs(trace, entry);
  // Kernels that another process compiled may be all that there are: what needs others goes line by line.
  const bool only_given = loops::can_run() && !loops::can_compile();
  if (!only_given) return run_table(executors, r, entry);
  try {
    run_table(executors, r, entry);
  } catch (const Error& e) {
    if (e.code() == kCancelled) throw;
    r.context().log(LogLevel::warning, LogName::fusion, cat("compiled without fusion: ", e.message()));
    remove_fusion_executors(executors);
    run_table(executors, r, entry);
  }
}

}  // namespace

RecordEntry recording_of(Context& context, Function& function, const Values& in, const SymbolicInputs* symbolic) {
  return [&context, &function, &in, symbolic] {
    std::unique_ptr<Entry> entry = record(context, function, in, symbolic);
    if (symbolic) add_integer_conditions(*symbolic->recorded, in, *entry);
    return entry;
  };
}

Values values_of(const Segment& segment) {
  Values in;
  for (const Ref<Tensor>& t : segment.inputs) in.push(t);
  return in;
}

RecordEntry recording_of(const Segment& segment, const Values& in) {
  return [&segment, &in] {
    auto entry = std::make_unique<Entry>();
    entry->traces.made().push_back(segment.trace);
    for (uint32_t i = 0; i < segment.inputs.size(); i++) {
      entry->bindings.push_back({i, nullptr});
      entry->numbers |= segment.inputs[i]->kind() == Tensor::Kind::number;
      Input& input = entry->traces.made()[0].inputs[i];
      input.source = Source::argument, input.index = i;
    }
    entry->leaves = entry->bindings.size();
    entry->inputs = describe_inputs(in);
    for (uint32_t i = 0; i < segment.trace.outputs.size(); i++) entry->results.push_back({i, {}});
    return entry;
  };
}

std::unique_ptr<Entry> compile(const CompileRequest& r) {
  Executors executors = executors_for(r.context(), r.options());  // what it refuses is said before the function runs
  const CompilingRank not_late(r.context().registry());
  const double start = now_ms();
  {
    const CompileProgress told(r.context(), r.options(), r.check);
    r.check.at("trace", 0, 1);
  }
  std::unique_ptr<Entry> entry = r.record();
  if (!entry) return nullptr;
  entry->trace_ms = now_ms() - start;
  if (r.rows != StageRows::kernels) entry->traces.made()[0].milliseconds = entry->trace_ms;
  add_program(r, std::move(executors), *entry);
  return entry;
}

Partition partition_joint(const CompileSetup& setup, JointTrace joint) {
  const Executors executors = executors_for(*setup.context, *setup.options);
  InterruptCheck check(setup.context->interrupts());
  Compilation compilation = compilation_with(setup, executors, check);
  compilation.traces.push_back(joint.trace);
  compilation.joint = std::move(joint);
  run_stages(compilation);
  return std::move(*compilation.partition);
}

}  // namespace thunder
