#include "jit/dynamic/size_class.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "executors/fusion/choices.h"
#include "ir/substitution.h"
#include "ir/symbols.h"
#include "jit/context.h"
#include "jit/dynamic/dim_masks.h"
#include "regions/regions.h"
#include "tracer/trace_inputs.h"

namespace thunder {
namespace {

// The dims of arguments that are symbols of the trace.
DimMask symbolic_dims(const SavedProgram& recorded, const Values& in) {
  DimMask mask = make_empty_mask(in);
  for (size_t leaf = 0; leaf < recorded.inputs.size(); leaf++) {
    const uint32_t argument = recorded.inputs[leaf].argument;
    if (argument == SavedInput::kConstant) continue;
    const TensorType& was = recorded.trace.type(recorded.trace.inputs[argument].value);
    for (size_t dim = 0; dim < was.rank(); dim++) mask[leaf][dim] = !was.shape[dim].constant();
  }
  return mask;
}

// Takes the dims whose symbols are among those in the formulas out of the mask.
void remove_dims(const Entry& entry, std::span<const DimExpr* const> formulas, DimMask& mask) {
  const Trace& trace = entry.traces[0];
  for (const DimExpr* read : formulas)
    for (const Symbol& s : used_symbols(Dim(read)))
      for (size_t i = 0; i < entry.leaves; i++) {
        const TensorType& type = trace.type(trace.inputs[i].value);
        for (size_t dim = 0; dim < type.rank(); dim++)
          if (const DimExpr* e = type.shape[dim].expr(); e && e->op == DimOp::symbol && e->a == Dim(s.number))
            mask[entry.bindings[i].leaf][dim] = false;
      }
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

const char* find_obstacle(const Wanted& wanted, const SavedProgram& recorded) {
  const auto is_symbol = [](const SavedInput& in) { return in.symbol.has_value(); };
  if (std::any_of(recorded.inputs.begin(), recorded.inputs.end(), is_symbol)) return "integers among the arguments";
  const auto writes = [&](const Write& w) { return random_input(recorded.trace) != w.input; };
  if (std::any_of(recorded.trace.writes.begin(), recorded.trace.writes.end(), writes))
    return "it writes tensors in place";  // which views see that may depend on sizes
  if (!wanted.context.passes_with(wanted.options.passes()).empty()) return "passes of the caller's";
  const Executors executors = executors_for(wanted.context, wanted.options);
  const auto is_callers = [](auto& e) { return (e->desc().flags & kMayFail) != 0; };
  return std::any_of(executors.begin(), executors.end(), is_callers) ? "executors of the caller's" : nullptr;
}

}  // namespace

std::unique_ptr<SizeClass> SizeClass::derive(const Wanted& wanted, const SymbolicProgram& of, InterruptCheck& check,
                                             std::string& why) {
  const SavedProgram& recorded = of.function->programs()[0];
  if (const char* obstacle = find_obstacle(wanted, recorded)) return why = obstacle, nullptr;
  for (DimMask mask = symbolic_dims(recorded, wanted.in); any_dim(mask);) {
    DimReads reads(DimReads::Of::lines);
    const RecordEntry recording = [&] { return record_with_mask(wanted.context, *of.function, wanted.in, mask); };
    auto lines = compile(
        {wanted.context, wanted.options, wanted.in, check, recording, Effort::full, StageRows::lines});
    if (reads.noted().empty()) {
      if (!lines->guards.empty()) return why = "its lines read state of the host", nullptr;
      keep_equal_sizes(lines->traces.back());
      note_region_choices(lines->traces.back(), wanted.context);
      lines->conditions = reads.conditions();
      return std::unique_ptr<SizeClass>(new SizeClass(std::move(lines)));
    }
    why = cat("a size is looked at as a number: ", name(Dim(reads.noted()[0])));
    remove_dims(*lines, reads.noted(), mask);
  }
  return nullptr;
}

std::string SizeClass::text() const {
  return lines_->conditions.empty() ? "nothing is asked of them"
                                    : join(lines_->conditions, ", ", [](const DimCondition& c) { return c.formula(); });
}

std::unique_ptr<Entry> SizeClass::make_entry(const Values& in, std::span<const int64_t> symbols) const {
  auto entry = std::make_unique<Entry>();
  entry->float_guards = lines_->float_guards;
  entry->bindings = lines_->bindings, entry->leaves = lines_->leaves;
  entry->results = lines_->results, entry->result_structure = lines_->result_structure;
  entry->numbers = lines_->numbers;
  entry->inputs = describe_inputs(in);
  entry->size_class = text();
  Substitution sizes(std::vector<Dim>(symbols.begin(), symbols.end()));
  Specialisation specialise(lines_->traces[0].store, sizes);
  entry->traces.push_back(specialise(lines_->traces.front()));
  entry->traces.push_back(specialise(lines_->traces.back()));
  for (const StageTime& t : lines_->stages) entry->stages.push_back({t.name, 0, false, false});
  const auto last = std::find_if(entry->stages.begin(), entry->stages.end(),
                                 [&](const StageTime& t) { return t.name == lines_->traces.back().pass; });
  if (last != entry->stages.end()) last->changed = true;
  return entry;
}

std::unique_ptr<Entry> SizeClass::program_for(const Wanted& wanted, InterruptCheck& check) const {
  const Trace& trace = lines_->traces[0];
  std::vector<const TensorType*> types(trace.inputs.size(), nullptr);
  for (size_t i = 0; i < lines_->leaves; i++) types[i] = &wanted.in.tensor(lines_->bindings[i].leaf)->type();
  try {
    const std::vector<int64_t> symbols = symbol_values(trace, types);
    const std::vector<DimCondition>& conditions = lines_->conditions;
    const auto holds = [&](const DimCondition& c) { return c.holds_for(symbols); };
    if (!std::all_of(conditions.begin(), conditions.end(), holds)) return nullptr;
    const RecordEntry recording = [&] { return make_entry(wanted.in, symbols); };
    return compile({wanted.context, wanted.options, wanted.in, check, recording, Effort::full, StageRows::kernels});
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument && e.code() != Code::declined) throw;
    return nullptr;
  }
}

}  // namespace thunder
