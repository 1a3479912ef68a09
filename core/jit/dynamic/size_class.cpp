#include "jit/dynamic/size_class.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "executors/fusion/choices.h"
#include "ir/symbolic/substitution.h"
#include "ir/symbols.h"
#include "jit/context/context.h"
#include "regions/regions.h"
#include "tracer/trace_inputs.h"

namespace thunder {
namespace {

// The values of the trace's symbols in a call. Throws where the inputs are not those of the trace.
std::vector<int64_t> values_of_symbols(const SavedProgram& recorded, const Values& in) {
  std::vector<const TensorType*> types(recorded.trace.inputs.size(), nullptr);
  for (size_t leaf = 0; leaf < recorded.inputs.size(); leaf++)
    if (const uint32_t argument = recorded.inputs[leaf].argument; argument != SavedInput::kConstant)
      types[argument] = &in.tensor(leaf)->type();
  return symbol_values(recorded.trace, types, integer_symbols(recorded, in));
}

// All symbols that arguments have, with these values.
KeptSymbols symbols_of(const SavedProgram& recorded, std::vector<int64_t> values) {
  KeptSymbols out;
  out.values = std::move(values), out.writes = !recorded.roots.empty();
  out.sizes.resize(out.values.size()), out.kept.resize(out.values.size());
  for (const SavedInput& leaf : recorded.inputs) {
    out.integers.push_back(leaf.symbol);
    out.formulas.emplace_back();
    if (leaf.symbol) out.kept[static_cast<size_t>(*leaf.symbol)] = true;
    if (leaf.argument == SavedInput::kConstant) continue;
    out.formulas.back() = recorded.trace.type(recorded.trace.inputs[leaf.argument].value).shape;
    for (Dim d : out.formulas.back())
      for (const Symbol& s : used_symbols(d)) {
        const auto number = static_cast<size_t>(s.number);
        out.kept[number] = true;
        if (d.expr()->op == DimOp::symbol) out.sizes[number] = true;
      }
  }
  return out;
}

// The symbols of the trace that are symbols of the lines, which count them.
std::vector<size_t> numbers_of_kept(const KeptSymbols& symbols) {
  std::vector<size_t> out;
  for (size_t i = 0; i < symbols.kept.size(); i++)
    if (symbols.kept[i]) out.push_back(i);
  return out;
}

// What the choice of regions depends on is the same for all sizes of the class, so that sums are made in one order.
void note_region_choices(const Trace& claimed, const Context& context) {
  for (const Node* line : claimed.nodes)
    for (const Node* node : nodes_of(*line)) has_large_values(*node, *claimed.store);
  fusion::note_choices(claimed, context.targets());
}

// Sizes that are written differently and were equal by chance are so for all of the class: regions may rely on it.
void keep_equal_sizes(const Trace& trace) {
  std::vector<Dim> sizes;
  for (ValueId v = 0; v < trace.store->size(); v++)
    for (Dim d : trace.type(v).shape)
      if (std::find(sizes.begin(), sizes.end(), d) == sizes.end()) sizes.push_back(d);
  for (size_t i = 0; i < sizes.size(); i++)
    for (size_t k = 0; k < i; k++)
      if (unnoted_hint(sizes[i]) == unnoted_hint(sizes[k])) compare(sizes[i], DimCondition::Is::equal, sizes[k]);
}

// The sizes that the class has for one value alone.
std::vector<const DimExpr*> equal_to_numbers(const std::vector<DimCondition>& conditions) {
  std::vector<const DimExpr*> out;
  for (const DimCondition& c : conditions)
    if (c.is == DimCondition::Is::equal && c.holds && c.a.constant() != c.b.constant())
      out.push_back(c.a.constant() ? c.b.expr() : c.a.expr());
  return out;
}

// The traces with these values in the place of their symbols.
std::vector<Trace> with_sizes(std::span<const Trace> traces, const std::vector<int64_t>& symbols) {
  Substitution sizes(std::vector<Dim>(symbols.begin(), symbols.end()));
  Specialisation specialise(traces[0].store, sizes);
  std::vector<Trace> out;
  for (const Trace& t : traces) out.push_back(specialise(t));
  return out;
}

// Whether an executor may take this node, or a composite in its body, at other sizes than those at hand, at which it
// was decomposed. `taken`: results of what it took. The recursion follows how deep ops are nested in their definitions.
bool may_take(const Executor& e, const Node& node, const std::set<ValueId>& taken) {
  if (node.op->prim || node.results.empty() || taken.count(node.results[0])) return false;
  return e.may_claim(node.op->name()) || std::any_of(node.body.begin(), node.body.end(), [&](const Node* inner) {
           return may_take(e, *inner, taken);
         });
}

// A class has what executors left of composites: nobody is asked again about a composite that was decomposed.
const char* find_declined_composite(const Wanted& wanted, const Entry& lines) {
  const std::vector<Trace>& all = lines.traces.made();
  const auto descended = std::find_if(all.begin(), all.end(), [](const Trace& t) { return t.pass == "descend"; });
  if (descended == all.begin() || descended == all.end()) return nullptr;
  for (const Ref<Executor>& e : executors_for(wanted.context(), wanted.options())) {
    if (!(e->desc().flags & kMayFail) || !e->desc().claim) continue;
    std::set<ValueId> taken;
    for (const Node* n : all.back().nodes)
      if (n->executor && n->executor == e->name()) taken.insert(n->results.begin(), n->results.end());
    for (const Node* n : std::prev(descended)->nodes)
      if (may_take(*e, *n, taken)) return "an executor of the caller's may take an op at other sizes";
  }
  return nullptr;
}

const char* find_obstacle(const Wanted& wanted) {
  if (!wanted.context().passes_with(wanted.options().passes()).empty()) return "passes of the caller's";
  const Executors executors = executors_for(wanted.context(), wanted.options());
  // Lines are offered to executors again for each size, regions are not: ours find out when they prepare them.
  const auto fuses = [](auto& e) { return (e->desc().flags & kMayFail) != 0 && e->desc().claim_region; };
  return std::any_of(executors.begin(), executors.end(), fuses) ? "regions of an executor of the caller's" : nullptr;
}

}  // namespace

std::unique_ptr<SizeClass> SizeClass::derive(const Wanted& wanted, const SymbolicProgram& of, InterruptCheck& check,
                                             Alone& alone) {
  const SavedProgram& recorded = of.function->programs()[0];
  if (const char* obstacle = find_obstacle(wanted)) return alone.why = obstacle, nullptr;
  const SymbolicInputs symbolic{of.recorded, recorded.formulas};
  KeptSymbols symbols = symbols_of(recorded, values_of_symbols(recorded, wanted.in));
  for (std::vector<size_t> kept; !(kept = numbers_of_kept(symbols)).empty();) {
    DimReads reads(DimReads::Of::lines);
    const RecordEntry recording = [&] {
      return record_kept(wanted.context(), *of.function, wanted.in, symbolic, symbols);
    };
    auto lines = compile(
        {wanted.setup, wanted.in, check, recording, Effort::full, StageRows::lines});
    std::vector<const DimExpr*> numbers = reads.noted();
    if ((alone.by_chance = numbers.empty())) {
      keep_equal_sizes(lines->traces.back());
      note_region_choices(lines->traces.back(), wanted.context());
      numbers = equal_to_numbers(reads.conditions());
    }
    if (numbers.empty()) {
      if (!lines->guards.empty()) return alone.why = "its lines read state of the host", nullptr;
      if (const char* why = find_declined_composite(wanted, *lines)) return alone.why = why, nullptr;
      lines->conditions = reads.conditions();
      return std::unique_ptr<SizeClass>(new SizeClass(of, std::move(lines), std::move(symbols)));
    }
    alone.why = cat(name(Dim(numbers[0])), alone.by_chance ? " is equal to a size that does not vary"
                                                           : " is looked at as a number");
    for (const DimExpr* read : numbers)
      for (const Symbol& s : used_symbols(Dim(read))) symbols.kept[kept[static_cast<size_t>(s.number)]] = false;
  }
  return nullptr;
}

bool SizeClass::has_numbers() const {
  const std::vector<bool> all = symbols_of(of_.function->programs()[0], symbols_.values).kept;
  return all != symbols_.kept;
}

std::string SizeClass::list_conditions() const {
  std::vector<std::string> all;
  for (const DimCondition& c : lines_->conditions)
    if (const std::string one = c.formula(); std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  if (has_numbers()) all.push_back("those that are looked at as numbers are the same");
  return all.empty() ? "nothing is asked of them" : join(all, ", ", [](auto& c) { return c; });
}

std::unique_ptr<Entry> SizeClass::make_entry(const Wanted& wanted, const SizesOfClass& of) const {
  auto entry = std::make_unique<Entry>();
  entry->float_guards = lines_->float_guards;
  entry->bindings = lines_->bindings, entry->leaves = lines_->leaves;
  entry->results = lines_->results, entry->result_structure = lines_->result_structure;
  entry->numbers = lines_->numbers;
  entry->integers = lines_->integers;
  add_integer_conditions(*of_.recorded, wanted.in, *entry);
  entry->inputs = describe_inputs(wanted.in);
  entry->size_class = text();
  const auto earlier = std::make_shared<const DeferredTraces>([all = of.traces] {
    std::vector<Trace> some = all->get();
    some.pop_back();
    return some;
  });
  entry->traces = StageTraces({lines_->traces.back()}, earlier);
  for (const StageTime& t : lines_->stages) entry->stages.push_back({t.name, 0, t.changed, false});
  return entry;
}

std::unique_ptr<Entry> SizeClass::program_for(const Wanted& wanted, InterruptCheck& check) {
  try {
    const std::vector<int64_t> values = values_of_symbols(of_.function->programs()[0], wanted.in);
    std::vector<int64_t> symbols;
    for (size_t i = 0; i < values.size(); i++) {
      if (symbols_.kept[i]) symbols.push_back(values[i]);
      else if (values[i] != symbols_.values[i]) return nullptr;
    }
    if (!conditions_.hold_for(symbols)) return nullptr;
    const auto stages = [lines = lines_, symbols] { return with_sizes(lines->traces.made(), symbols); };
    const SizesOfClass of = {.plan = &plan_,
                             .symbols = symbols,
                             .lines = std::make_shared<SizedLines>(lines_->traces.back().store, symbols),
                             .traces = std::make_shared<const DeferredTraces>(stages)};
    const RecordEntry recording = [&] { return make_entry(wanted, of); };
    return compile({wanted.setup, wanted.in, check, recording, Effort::full, StageRows::kernels, of});
  } catch (const Error& e) {
    if (!is_callers_mistake(e.code()) && e.code() != Code::declined) throw;
    return nullptr;
  }
}

}  // namespace thunder
