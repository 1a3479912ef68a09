// Recording a function: with symbols, with the numbers of a replayed trace, or a segment at a time.
#include "jit/record/record.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "compile/run_stages.h"
#include "ir/dim_reads.h"
#include "ir/symbols.h"
#include "jit/record/input_symbols.h"
#include "tracer/replay.h"

namespace thunder {
namespace {

// Notes which numbers the function reads: then floats are guarded by value, and integers are not symbolic.
struct NumberReads : LeafReads {
  NumberReads(const Values& in, Entry& entry) : in(in), entry(entry) {}
  void read_as_number(size_t leaf) override {
    if (leaf < in.size() && in[leaf].kind == ArgKind::real) entry.float_guards.emplace_back(leaf, in[leaf].f);
    // Where lines are kept, they have the integer as a symbol; the program of a call is for its value.
    const bool kept = DimReads::current() && DimReads::current()->keeps_lines();
    if (const auto it = symbols.find(leaf); it != symbols.end() && !kept) hint(it->second);
    std::erase_if(entry.integers, [&](const IntegerSymbol& s) { return (kept || symbols.empty()) && s.leaf == leaf; });
  }
  std::vector<Tensor*> numbers() override { return live; }
  const Values& in;
  Entry& entry;
  std::map<size_t, Dim> symbols;  // of a trace with symbols, by leaf
  std::vector<Tensor*> live;      // of one that is replayed, by formula
};

TensorType live_integer() {
  TensorType number;
  number.dtype = DType::i64;
  number.weak = true;
  return number;
}

// Makes a proxy for each tensor, float and symbolic integer; other leaves stay what they are.
void make_proxies(TracingScope& scope, Values& proxies, const Values& in, NumberReads& reads, Entry& entry,
                  InputSymbols& symbols) {
  auto paths = in.paths();
  for (uint32_t leaf = 0; leaf < in.size(); leaf++) {
    const Leaf& l = in[leaf];
    if (l.kind == ArgKind::integer) {
      const Dim symbol = symbols.make_integer_symbol(leaf, l.i);
      if (symbol.constant()) continue;
      proxies[leaf].word = scope.word(symbol);
      reads.symbols[leaf] = symbol;
      entry.integers.push_back({symbol.expr()->a.value(), leaf});
      continue;
    }
    if (l.kind == ArgKind::value && l.tensor->concrete())
      proxies[leaf].tensor =
          Ref<Tensor>(scope.argument_proxy(symbols.make_symbolic_type(leaf, l.tensor->type()), paths[leaf], l.tensor));
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

// Makes a live number for each formula of integers that lines of the trace read.
void make_numbers(TracingScope& scope, const SymbolicInputs& symbolic, NumberReads& reads, Entry& entry) {
  entry.integers = symbolic.recorded->integers;
  for (Dim formula : symbolic.formulas) {
    const int64_t first = used_symbols(formula).front().number;
    const auto it =
        std::find_if(entry.integers.begin(), entry.integers.end(), [&](auto& s) { return s.symbol == first; });
    reads.live.push_back(scope.argument_proxy(live_integer(), cat(name(formula)), nullptr));
    entry.bindings.push_back({it->leaf, nullptr, formula.expr()});
    entry.numbers = true;
  }
}

// Notes for each leaf of the results whether it is a constant or an output of the program. Returns the outputs.
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

Trace finish_trace(TracingScope& scope, Values& out, Entry& entry, const Tracing& how) {
  scope.take_results(out);
  Trace trace = scope.finish(note_results(out, entry));
  if (how.mask && scope.wrote()) entry.roots = scope.roots(trace);
  if (how.kept && how.kept->writes) scope.keep_views();
  entry.guards = scope.take_guards();
  for (size_t i = entry.leaves; i < trace.inputs.size(); i++)
    entry.bindings.push_back({Binding::kCaptured, scope.captured()[i]});
  return trace;
}

// Calls the function on proxies. Throws the error that it reports.
Values* call_on_proxies(TracingScope& scope, Function& function, const Values& in, Values& proxies, NumberReads& reads,
                        Entry& entry, Tracing& how) {
  InputSymbols symbols(scope, how, in);
  make_proxies(scope, proxies, in, reads, entry, symbols);
  if (how.symbolic) make_numbers(scope, *how.symbolic, reads, entry);
  how.places = std::move(symbols.places);
  entry.inputs = describe_inputs(in);
  entry.leaves = entry.bindings.size();
  proxies.reads = &reads;
  return apply(scope, function, proxies);
}

Trace trace_function(Context& context, Function& function, const Values& in, Entry& entry, Tracing& how) {
  TracingScope scope(context.scope_environment(), function.name());
  Values proxies(in);
  NumberReads reads(in, entry);
  Values* out = call_on_proxies(scope, function, in, proxies, reads, entry, how);
  if (scope.status()) throw Error(scope.status());
  return finish_trace(scope, *out, entry, how);
}

// Removes sizes that were read as numbers from the mask; returns whether there were any.
bool clear_dims_read_as_numbers(const DimReads& reads, const SymbolPlaces& places, DimMask& mask) {
  for (const DimExpr* e : reads.noted())
    for (const Symbol& s : used_symbols(Dim(e)))
      for (auto [leaf, dim] : places[static_cast<size_t>(s.number)]) mask[leaf][dim] = false;
  return !reads.noted().empty();
}

bool is_empty(const DimMask& mask) {
  return std::none_of(mask.begin(), mask.end(),
                      [](auto& dims) { return std::find(dims.begin(), dims.end(), true) != dims.end(); });
}

}  // namespace

EntryInputs describe_inputs(const Values& in) {
  EntryInputs inputs{in.structure(), std::vector<Leaf>(in.size()), std::vector<Sizes>(in.size())};
  for (size_t i = 0; i < in.size(); i++) {
    const Leaf& l = in[i];
    if (l.kind == ArgKind::value && l.tensor->concrete() && !l.tensor->contiguous())
      inputs.strides[i] = l.tensor->strides();
    if (l.kind != ArgKind::value && l.kind != ArgKind::real) inputs.leaves[i] = l;
  }
  return inputs;
}

std::unique_ptr<Entry> record(Context& context, Function& function, const Values& in, const SymbolicInputs* symbolic) {
  auto entry = std::make_unique<Entry>();
  Tracing how{nullptr, {}, symbolic, nullptr, nullptr};
  entry->traces.made().push_back(trace_function(context, function, in, *entry, how));
  return entry;
}

std::unique_ptr<Entry> record_symbolic(Context& context, Function& function, const Values& in,
                                       const DynamicShapes& shapes, DimMask& mask,
                                       DimReads::Of of) {
  while (!is_empty(mask)) {
    auto entry = std::make_unique<Entry>();
    DimReads reads(of);
    Tracing with_symbols{&mask, {}, nullptr, &shapes, nullptr};
    entry->traces.made().push_back(trace_function(context, function, in, *entry, with_symbols));
    if (clear_dims_read_as_numbers(reads, with_symbols.places, mask)) continue;
    entry->conditions = reads.conditions();
    return entry;
  }
  return nullptr;
}

std::unique_ptr<Entry> record_kept(Context& context, Function& function, const Values& in,
                                   const SymbolicInputs& symbolic, const KeptSymbols& symbols) {
  auto entry = std::make_unique<Entry>();
  Tracing how{nullptr, {}, &symbolic, nullptr, &symbols};
  entry->traces.made().push_back(trace_function(context, function, in, *entry, how));
  return entry;
}

std::unique_ptr<Entry> record_segments(Context& context, Function& function, const Values& in, SegmentRunner& runner,
                                       bool broken, SegmentedResults& results) {
  auto entry = std::make_unique<Entry>();
  const double start = now_ms();
  SegmentScope scope(context.scope_environment(), function.name(), runner, broken);
  Values proxies(in);
  NumberReads reads(in, *entry);
  Tracing plain;
  std::vector<Ref<Tensor>> arguments;
  for (size_t i = 0; i < in.size(); i++) {
    if (in[i].kind == ArgKind::value) arguments.push_back(in[i].tensor);
    if (in[i].kind == ArgKind::real) arguments.push_back(Tensor::number(Arg::real(in[i].f)));
  }
  scope.bind_arguments(std::move(arguments));
  Values* const out = call_on_proxies(scope, function, in, proxies, reads, *entry, plain);
  if (scope.status()) throw Error(scope.status());
  if (!scope.broken()) {
    entry->traces.made().push_back(finish_trace(scope, *out, *entry, plain));
    entry->traces.made()[0].milliseconds = entry->trace_ms = now_ms() - start;
    return entry;
  }
  const std::vector<Tensor*> tensors = note_results(*out, *entry);
  const std::vector<Ref<Tensor>> made = scope.materialize_results(tensors);
  results.structure = out->structure();
  for (size_t i = 0; i < out->size(); i++) {
    results.leaves.push_back((*out)[i]);
    if (entry->results[i].output != ResultLeaf::kConstant)
      results.leaves.back().tensor = made[entry->results[i].output];
  }
  return nullptr;
}

}  // namespace thunder
