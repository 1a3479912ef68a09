#include "jit/saved/saved_function.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/symbols.h"
#include "jit/context/context.h"
#include "tracer/structure.h"
#include "tracer/tracing.h"

namespace thunder {
std::string format_constant(const Leaf& l) {
  switch (l.kind) {
    case ArgKind::none: return "None";
    case ArgKind::value: return l.tensor ? std::string(name(l.tensor->type())) : "a tensor";
    case ArgKind::real: return cat(l.f);
    case ArgKind::integer: return cat(l.i);
    case ArgKind::boolean: return l.i ? "true" : "false";
    case ArgKind::string: return cat("'", l.text.substr(0, 40), "'");
    default: return "another value";
  }
}

namespace {

bool same_float(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

bool same_constant(const Leaf& a, const Leaf& b) {
  return a.kind == b.kind && a.i == b.i && same_float(a.f, b.f) && a.text == b.text && a.ints == b.ints &&
         a.reals == b.reals;
}

// The strides of a tensor; of a proxy those that were recorded.
Sizes strides_of(Scope* scope, const Tensor& t) {
  if (t.concrete()) return t.contiguous() ? Sizes() : t.strides();
  auto* recorder = scope ? dynamic_cast<TracingRecorder*>(&scope->builder()) : nullptr;
  if (t.kind() != Tensor::Kind::proxy || !recorder) return {};
  Sizes sizes;
  for (Dim d : t.type().shape) sizes.push_back(hint(d));
  const Sizes strides = recorder->strides(t.value());
  return is_dense(sizes, strides) ? Sizes() : strides;
}

// How a call fits a program: not at all, and why; or as far as its strides are those of the first call, too.
struct Fit {
  std::string why_not;
  bool strides = true;
};

// The first comparison of sizes and integers whose result differs from that of the trace; "": none does.
std::string find_failed_condition(const SavedProgram& p, const Values& in, const std::vector<int64_t>& symbols) {
  for (const SizeRange& r : p.ranges)
    if (const int64_t size = hint(in.tensor(r.leaf)->type().shape[r.dim]); size < r.min || size > r.max)
      return cat("dim ", r.dim, " of input ", in.paths()[r.leaf], " is ", size, ", it was made for ", r.min, " to ",
                 r.max);
  try {
    for (const DimCondition& c : p.conditions)
      if (!c.holds_for(symbols)) return cat("it was made for ", c.formula(), ", which does not hold");
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument) throw;
    return e.message();
  }
  return "";
}

Fit match_inputs(const SavedProgram& p, Scope* scope, const Values& in) {
  if (in.structure() != p.structure)
    return {cat("the inputs' structure is ", in.structure(), ", it was made for ", p.structure)};
  Fit fit;
  std::vector<const TensorType*> types(p.trace.inputs.size(), nullptr);
  for (size_t leaf = 0; leaf < p.inputs.size(); leaf++) {
    const SavedInput& wanted = p.inputs[leaf];
    if (wanted.symbol) {
      if (in[leaf].kind != ArgKind::integer)
        return {cat("input ", in.paths()[leaf], " is ", format_constant(in[leaf]), ", it was made for an integer")};
      continue;
    }
    if (wanted.argument == SavedInput::kConstant) {
      if (in[leaf].word) in.note_read(leaf);
      if (!same_constant(in[leaf], wanted.constant))
        return {cat("input ", in.paths()[leaf], " is ", format_constant(in[leaf]), ", it was made for ",
                    format_constant(wanted.constant))};
      continue;
    }
    if (in[leaf].kind != ArgKind::value && in[leaf].kind != ArgKind::real)
      return {cat("input ", in.paths()[leaf], " is ", format_constant(in[leaf]), ", it was made for a tensor")};
    if (wanted.value && !(in[leaf].kind == ArgKind::real && same_float(in[leaf].f, *wanted.value)))
      return {cat("input ", in.paths()[leaf], " is ", format_constant(in[leaf]), ", it was made for ", *wanted.value,
                  ", which the function read as a number")};
    const Tensor* t = in.tensor(leaf);
    if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
    types[wanted.argument] = &t->type();
    fit.strides &= strides_of(scope, *t) == wanted.strides;
  }
  const std::vector<IntegerValue> integers = integer_symbols(p, in);
  std::vector<int64_t> symbols;
  try {
    symbols = symbol_values(p.trace, types, integers);
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument) throw;
    return {e.message()};
  }
  if (fit.why_not = find_failed_condition(p, in, symbols); !fit.why_not.empty()) return fit;
  // Values recorded for sizes that vary are replaced by those of the call.
  for (auto [symbol, value] : integers) symbols[static_cast<size_t>(symbol)] = std::max<int64_t>(2, value);  // no size
  for (const Symbol& s : used_symbols(p.trace)) {
    const int64_t size = symbols[static_cast<size_t>(s.number)];
    if (size < 2) return {cat("a size that varies is ", size, ", it was made for 2 and more")};
  }
  return fit;
}

void check_results(const SavedProgram& p) {
  uint32_t outputs = 0;
  for (const ResultLeaf& r : p.results) outputs += r.output != ResultLeaf::kConstant;
  require(structure_leaves(p.result_structure) == p.results.size(), "the structure of its results is not one of ",
          p.results.size(), " leaves");
  require(outputs == p.trace.outputs.size(), "its results name ", outputs, " outputs, the trace has ",
          p.trace.outputs.size());
}

void check_symbols(const SavedProgram& p) {
  const auto known = static_cast<int64_t>(p.trace.store->dims().symbols());
  std::vector<int64_t> integers;
  for (const SavedInput& in : p.inputs) {
    if (!in.symbol) continue;
    require(*in.symbol >= 0 && *in.symbol < known && in.constant.kind == ArgKind::integer, "an integer stands for s",
            *in.symbol, ", which the trace does not have");
    integers.push_back(*in.symbol);
  }
  require_bound_symbols(p.trace, integers);
  for (const DimCondition& c : p.conditions)
    for (Dim side : {c.a, c.b})
      for (const Symbol& s : used_symbols(side))
        require(s.number < known, "a condition is about s", s.number, ", which the trace does not have");
  for (const SizeRange& r : p.ranges) {
    const bool is_size = r.leaf < p.inputs.size() && p.inputs[r.leaf].argument != SavedInput::kConstant &&
                         r.dim < p.trace.type(p.trace.inputs[p.inputs[r.leaf].argument].value).rank();
    require(is_size, "a range is for dim ", r.dim, " of input ", r.leaf, ", which is no size");
  }
  require(p.roots.empty() || p.roots.size() == p.trace.store->size(), "it says in which memory ", p.roots.size(),
          " values lie, there are ", p.trace.store->size());
}

void check_inputs(const SavedProgram& p) {
  require(structure_leaves(p.structure) == p.inputs.size(), "the structure of its inputs is not one of ",
          p.inputs.size(), " leaves");
  std::vector<bool> given(p.trace.inputs.size(), false);
  for (const SavedInput& in : p.inputs) {
    if (in.argument == SavedInput::kConstant) continue;
    require(in.argument < given.size() && p.trace.inputs[in.argument].source == Source::argument && !given[in.argument],
            "an input is argument ", in.argument + 1, ", which the trace does not have, or another one is");
    given[in.argument] = true;
    const TensorType& type = p.trace.type(p.trace.inputs[in.argument].value);
    require(in.strides.empty() || in.strides.size() == type.rank(), "argument ", in.argument + 1, " has ",
            in.strides.size(), " strides and ", type.rank(), " dims");
    require(!in.value || type.weak, "argument ", in.argument + 1, " has a value and is no number");
  }
  const auto random = random_input(p.trace);
  for (size_t i = 0; i < given.size(); i++) {
    const Input& in = p.trace.inputs[i];
    const TensorType& type = p.trace.type(in.value);
    if (in.source == Source::argument) require(given[i], "no input is argument ", in.index + 1, " of the trace");
    else if (random != i)
      require(p.captured[i] && p.captured[i]->type() == type, "the tensor of its input ", i + 1, " is not ",
              name(type));
    else require(!p.captured[i], "its random state is not the context's");
  }
  check_symbols(p);
}

}  // namespace

SavedProgram saved_program(const Entry& entry, const Context& context) {
  SavedProgram out;
  out.trace = entry.traces.front();
  out.trace.milliseconds = 0;  // equal programs make equal files
  out.structure = entry.inputs.structure;
  out.result_structure = entry.result_structure;
  out.results = entry.results;
  for (const ResultLeaf& r : out.results)
    require(r.constant.kind != ArgKind::value, "one of its results is a tensor that nothing computes");
  out.inputs.resize(entry.inputs.leaves.size());
  for (size_t leaf = 0; leaf < out.inputs.size(); leaf++) out.inputs[leaf].constant = entry.inputs.leaves[leaf];
  for (uint32_t i = 0; i < entry.bindings.size(); i++) {
    const Binding& b = entry.bindings[i];
    out.captured.push_back(b.captured && b.captured.get() != context.random().get() ? b.captured : nullptr);
    if (b.captured) continue;
    if (!b.formula) out.inputs[b.leaf] = {i, entry.inputs.strides[b.leaf], {}, {}, {}};
  }
  for (const IntegerSymbol& s : entry.integers) out.inputs[s.leaf].symbol = s.symbol;
  out.formulas = collect_integer_formulas(out);
  out.roots = entry.roots, out.conditions = entry.conditions, out.ranges = entry.ranges;
  for (auto& [leaf, value] : entry.float_guards) out.inputs[leaf].value = value;
  return out;
}

SavedFunction::SavedFunction(std::string name, std::vector<SavedProgram> programs)
    : Function(std::move(name)), programs_(std::move(programs)) {
  require(!programs_.empty(), "it holds no program");
  for (const SavedProgram& p : programs_) {
    check_inputs(p);
    check_results(p);
  }
}

bool SavedFunction::fits(const Values& in) const {
  const Fit f = match_inputs(programs_[0], nullptr, in);
  return f.why_not.empty() && f.strides;
}

const SavedProgram& SavedFunction::choose(Scope& scope, const Values& in) const {
  std::optional<DimReads::Pause> fits;  // whoever keeps lines has looked, and looks again at each call
  if (DimReads::current() && DimReads::current()->keeps_lines()) fits.emplace();
  const SavedProgram* found = nullptr;
  std::string why_not;
  for (const SavedProgram& p : programs_) {
    const Fit f = match_inputs(p, &scope, in);
    if (!f.why_not.empty()) why_not = why_not.empty() ? f.why_not : why_not;
    else if (f.strides) return p;
    else if (!found) found = &p;
  }
  if (found) return *found;
  const std::string which =
      programs_.size() == 1 ? "the saved program" : cat("none of the ", programs_.size(), " saved programs");
  fail(Code::invalid_argument, name(), ": ", which,
       programs_.size() == 1 ? " does not fit: " : " fits; the first one: ", why_not);
}

Ref<Status> SavedFunction::call(Scope& scope, const Values& in, Values& out) {
  const SavedProgram& p = choose(scope, in);
  std::vector<Tensor*> inputs(p.trace.inputs.size(), nullptr);
  for (size_t leaf = 0; leaf < p.inputs.size(); leaf++) {
    const SavedInput& wanted = p.inputs[leaf];
    if (wanted.argument == SavedInput::kConstant) continue;
    if (wanted.value) in.note_read(leaf);
    inputs[wanted.argument] = in.tensor(leaf);
  }
  for (size_t i = 0; i < inputs.size(); i++)
    if (Tensor* t = p.captured[i].get())
      inputs[i] = p.trace.inputs[i].source == Source::parameter ? scope.parameter(t, p.trace.inputs[i].name) : t;
  ReplayCall call{
      integer_symbols(p, in), p.formulas, in.reads ? in.reads->numbers() : std::vector<Tensor*>(), p.roots, {}};
  auto* tracing = dynamic_cast<TracingScope*>(&scope);
  for (size_t leaf = 0; leaf < p.inputs.size(); leaf++)
    if (p.inputs[leaf].symbol && in[leaf].word && tracing)
      call.symbols.emplace_back(*p.inputs[leaf].symbol, tracing->integer_of(in[leaf].word));
  const std::vector<Tensor*> outputs = replay(scope, p.trace, inputs, &call);
  for (size_t leaf = 0; leaf < p.inputs.size(); leaf++)
    if (const auto& symbol = p.inputs[leaf].symbol;
        symbol && std::find(call.read.begin(), call.read.end(), *symbol) != call.read.end())
      in.note_read(leaf);
  std::vector<Leaf> leaves;
  size_t next = 0;
  for (const ResultLeaf& r : p.results) {
    leaves.push_back(r.constant);
    if (r.output == ResultLeaf::kConstant) continue;
    leaves.back().kind = ArgKind::value;
    leaves.back().tensor = Ref<Tensor>(outputs[next++]);
  }
  out.assign(std::move(leaves), p.result_structure);
  return {};
}

}  // namespace thunder
