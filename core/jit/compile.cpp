#include "jit/compile.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/text.h"
#include "executors/prepare.h"
#include "ir/dim_reads.h"
#include "ir/symbols.h"
#include "jit/pipeline.h"
#include "tracer/replay.h"
#include "tracer/tracing.h"

namespace thunder {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Notes which numbers the function reads: floats are then guarded by value, and integers stand for no others.
struct NumberReads : LeafReads {
  NumberReads(const Values& in, Entry& entry) : in(in), entry(entry) {}
  void read_as_number(size_t leaf) override {
    if (leaf < in.size() && in[leaf].kind == ArgKind::real) entry.float_guards.emplace_back(leaf, in[leaf].f);
    if (const auto it = symbols.find(leaf); it != symbols.end()) hint(it->second);
    std::erase_if(entry.integers, [&](const IntegerSymbol& s) { return symbols.empty() && s.leaf == leaf; });
  }
  std::vector<Tensor*> numbers() override { return live; }
  const Values& in;
  Entry& entry;
  std::map<size_t, Dim> symbols;  // of a trace with symbols, by leaf
  std::vector<Tensor*> live;      // of one that is replayed, by formula
};

// By symbol, the leaves and dims that have it.
using SymbolPlaces = std::vector<std::vector<std::pair<uint32_t, size_t>>>;

// Puts symbols in the place of what the mask names: one for all sizes that are equal, and one for each integer.
class Symbols {
 public:
  Symbols(TracingScope& scope, const DimMask* mask) : scope_(scope), mask_(mask) {}

  TensorType type(uint32_t leaf, TensorType type) {
    for (size_t dim = 0; mask_ && dim < (*mask_)[leaf].size(); dim++) {
      if (!(*mask_)[leaf][dim]) continue;
      auto [it, fresh] = sizes_.try_emplace(type.shape[dim].value());
      if (fresh) it->second = scope_.symbol(it->first);
      type.shape[dim] = it->second;
      place(it->second, leaf, dim);
    }
    return type;
  }
  // A constant where it stands for itself alone.
  Dim integer(uint32_t leaf, int64_t value) {
    if (!mask_ || (*mask_)[leaf].empty() || !(*mask_)[leaf][0]) return value;
    const Dim symbol = scope_.integer(value);
    place(symbol, leaf, 0);
    return symbol;
  }
  SymbolPlaces places;

 private:
  void place(Dim symbol, uint32_t leaf, size_t dim) {
    const auto number = static_cast<size_t>(symbol.expr()->a.value());
    if (places.size() <= number) places.resize(number + 1);
    places[number].push_back({leaf, dim});
  }
  TracingScope& scope_;
  const DimMask* mask_;
  std::map<int64_t, Dim> sizes_;
};

TensorType live_integer() {
  TensorType number;
  number.dtype = DType::i64;
  number.weak = true;
  return number;
}

// A proxy for each tensor and each float; other leaves stay what they are, but integers that stand for any.
void make_proxies(TracingScope& scope, Values& proxies, const Values& in, NumberReads& reads, Entry& entry, Symbols& symbols) {
  auto paths = in.paths();
  for (uint32_t leaf = 0; leaf < in.size(); leaf++) {
    const Leaf& l = in[leaf];
    if (l.kind == ArgKind::integer) {
      const Dim symbol = symbols.integer(leaf, l.i);
      if (symbol.constant()) continue;
      proxies[leaf].word = scope.word(symbol);
      reads.symbols[leaf] = symbol;
      entry.integers.push_back({symbol.expr()->a.value(), leaf});
      continue;
    }
    if (l.kind == ArgKind::value && l.tensor->concrete())
      proxies[leaf].tensor = Ref<Tensor>(scope.argument_proxy(symbols.type(leaf, l.tensor->type()), paths[leaf], l.tensor));
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

// A live number for each formula of integers that lines of the trace take as numbers.
void make_numbers(TracingScope& scope, const SymbolicInputs& symbolic, NumberReads& reads, Entry& entry) {
  entry.integers = symbolic.recorded->integers;
  for (Dim formula : symbolic.formulas) {
    const int64_t first = used_symbols(formula).front().number;
    const auto it = std::find_if(entry.integers.begin(), entry.integers.end(), [&](auto& s) { return s.symbol == first; });
    reads.live.push_back(scope.argument_proxy(live_integer(), cat(name(formula)), nullptr));
    entry.bindings.push_back({it->leaf, nullptr, formula.expr()});
    entry.numbers = true;
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

// What is not plain about what a function is traced with: symbols where a mask says so, or the numbers of a trace that is replayed.
struct Tracing {
  const DimMask* mask = nullptr;
  SymbolPlaces places;  // filled
  const SymbolicInputs* symbolic = nullptr;
};

Trace trace_function(Context& context, Function& function, const Values& in, Entry& entry, Tracing& how) {
  TracingScope scope(context.scope_environment(), function.name());
  Values proxies(in);
  NumberReads reads(in, entry);
  Symbols symbols(scope, how.mask);
  make_proxies(scope, proxies, in, reads, entry, symbols);
  if (how.symbolic) make_numbers(scope, *how.symbolic, reads, entry);
  how.places = std::move(symbols.places);
  entry.inputs = inputs_of(in);
  entry.leaves = entry.bindings.size();
  proxies.reads = &reads;
  Values* out = apply(scope, function, proxies);
  if (scope.status()) throw Error(scope.status());
  std::vector<Tensor*> outputs;
  for (size_t i = 0; i < out->size(); i++) {
    const Leaf& l = (*out)[i];
    if (l.tensor && l.tensor->kind() == Tensor::Kind::failed) throw Error(l.tensor->failure());
    if (l.tensor && l.tensor->kind() != Tensor::Kind::number) {
      entry.results.push_back({static_cast<uint32_t>(outputs.size()), {}});
      outputs.push_back(l.tensor.get());
    } else {
      entry.results.push_back({ResultLeaf::kConstant, l});
    }
  }
  entry.result_structure = out->structure();
  Trace trace = scope.finish(outputs);
  if (how.mask && scope.wrote()) entry.roots = scope.roots(trace);
  entry.guards = scope.take_guards();
  for (size_t i = entry.leaves; i < trace.inputs.size(); i++) entry.bindings.push_back({Binding::kCaptured, scope.captured()[i]});
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

// What options ask for comes before the built-in executors, not among those that are named one by one.
Executors executors_for(Context& context, const CompileOptions& options) {
  const std::vector<std::string> names = split_list(options.text("executors", ""));
  Executors first = options.executors();
  if (names.empty())
    for (Ref<Executor>& e : context.in_place_of_usual(options.text("float32_matmul_precision", "highest"), options.max_autotune(),
                                                      options.flag("cudnn_allow_tf32", false)))
      first.push_back(std::move(e));
  return context.executors(names, first);
}

// Takes what was looked at out of the mask; whether there was any.
bool specialise(const DimReads& reads, const SymbolPlaces& places, DimMask& mask) {
  for (const DimExpr* e : reads.noted())
    for (const Symbol& s : used_symbols(Dim(e)))
      for (auto [leaf, dim] : places[static_cast<size_t>(s.number)]) mask[leaf][dim] = false;
  return !reads.noted().empty();
}

bool is_empty(const DimMask& mask) {
  return std::none_of(mask.begin(), mask.end(), [](auto& dims) { return std::find(dims.begin(), dims.end(), true) != dims.end(); });
}

// What a program of a trace with symbols checks of those integers for any value of which it is.
void note_integers(const Entry& recorded, const Values& in, Entry& entry) {
  if (recorded.integers.empty()) return;
  std::vector<const TensorType*> types(recorded.traces[0].inputs.size(), nullptr);
  for (size_t i = 0; i < recorded.leaves; i++) types[i] = &in.tensor(recorded.bindings[i].leaf)->type();
  entry.symbols = symbol_values(recorded.traces[0], types);
  for (const IntegerSymbol& s : recorded.integers) entry.symbols[static_cast<size_t>(s.symbol)] = in[s.leaf].i;
  const auto is_any = [&](const Symbol& s) { return std::any_of(entry.integers.begin(), entry.integers.end(), [&](auto& i) { return i.symbol == s.number; }); };
  for (const DimCondition& c : recorded.conditions) {
    std::vector<Symbol> of = used_symbols(c.a);
    for (const Symbol& s : used_symbols(c.b)) of.push_back(s);
    if (std::any_of(of.begin(), of.end(), is_any)) entry.conditions.push_back(c);
  }
}

}  // namespace

std::unique_ptr<Entry> record(Context& context, Function& function, const Values& in) {
  auto entry = std::make_unique<Entry>();
  Tracing plain;
  entry->traces.push_back(trace_function(context, function, in, *entry, plain));
  return entry;
}

std::unique_ptr<Entry> record_symbolic(Context& context, Function& function, const Values& in, DimMask& mask, bool as_numbers) {
  while (!is_empty(mask)) {
    auto entry = std::make_unique<Entry>();
    DimReads reads(as_numbers);
    Tracing with_symbols{&mask, {}, nullptr};
    entry->traces.push_back(trace_function(context, function, in, *entry, with_symbols));
    if (specialise(reads, with_symbols.places, mask)) continue;
    entry->conditions = reads.conditions();
    return entry;
  }
  return nullptr;
}

std::unique_ptr<Entry> compile_entry(Context& context, Function& function, const CompileOptions& options, const Values& in, Effort effort,
                                     InterruptCheck& check, const SymbolicInputs* symbolic) {
  auto entry = std::make_unique<Entry>();
  const double start = now_ms();
  Executors executors = executors_for(context, options);
  if (effort == Effort::least) std::erase_if(executors, [](auto& e) { return e->desc().claim_region != nullptr; });
  Tracing how{nullptr, {}, symbolic};
  entry->traces.push_back(trace_function(context, function, in, *entry, how));
  if (symbolic) note_integers(*symbolic->recorded, in, *entry);
  if (options.flag("freezing", false)) freeze(entry->traces[0], *entry);
  const double traced = now_ms();
  entry->traces[0].milliseconds = entry->trace_ms = traced - start;

  PipelineContext pipeline{{context.registry(), context.allocator()}, executors, context.scope_environment(), check,
                           context.passes(options.passes()), split_list(options.text("disable_passes", "")), options.flag("verify", false)};
  run_pipeline(entry->traces, pipeline);
  const double transformed = now_ms();
  entry->transform_ms = transformed - traced;

  PreparedTrace prepared = prepare(entry->traces.back(), executors, context.registry().get("region"), check);
  if (prepared.trace) {
    prepared.trace->milliseconds = now_ms() - transformed;
    check_stage(*prepared.trace, pipeline);
    entry->traces.push_back(std::move(*prepared.trace));
  }
  const Trace& final = entry->traces.back();
  entry->program = std::make_unique<Program>(final, entry->traces.front(), layouts(final, *entry, in), fixed_addresses(*entry), std::move(prepared.preparer),
                                             context.devices(), context.threads(), check);
  if (options.use_cudagraphs()) entry->program->use_recording();
  entry->compile_ms = now_ms() - transformed;
  entry->writes = !final.writes.empty();
  entry->held = entry->program->plan().may_fail;
  for (const Write& w : final.writes) entry->written.push_back(w.input);
  return entry;
}

}  // namespace thunder
