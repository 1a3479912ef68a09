#include "jit/programs/jit_trace.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "jit/dynamic/dynamic.h"
#include "jit/saved/saved_function.h"
#include "jit/programs/trace_check.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

constexpr std::array kOptions = {
    OptionRow{"check_trace", ArgKind::boolean, "true",
              "Trace again and compare the graphs and what they captured; run trace and function on copies of the "
              "inputs and compare all outputs."},
    OptionRow{"check_tolerance", ArgKind::real, "1e-05",
              "How far outputs may be apart, relative to their size; of bfloat16 0.016 and of float16 0.001 at "
              "least."},
    OptionRow{"strict", ArgKind::boolean, "true",
              "Refuse lists and maps among the results: a trace has as many entries as there were."},
};

// Whether a list or a map without a type's tag is in the structure, which is where a bracket follows no name.
bool has_list_or_map(std::string_view structure) {
  char before = '[';
  bool quoted = false;
  for (size_t i = 0; i < structure.size(); i++) {
    const char c = structure[i];
    if (quoted && c == '\\') i++;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && std::string_view("[{,:").find(before) != std::string_view::npos)
      return true;
    before = c;
  }
  return false;
}

Ref<Values> copy_values(const Context& context, const Values& in) {
  auto out = make<Values>(in);
  for (size_t i = 0; i < out->size(); i++)
    if (Ref<Tensor>& t = (*out)[i].tensor; t && t->concrete()) {
      const Ref<Tensor> from = t;
      t = dense_copy(context.allocator(), *from);
      // The copy keeps the strides, unless elements overlap.
      if (from->type().device == Device::cpu && !from->contiguous() && !repeats_elements(*from)) {
        const Extent e = extent({from->sizes(), from->type().rank()}, from->strides(), size_of(from->type().dtype));
        auto storage = Storage::allocate(context.allocator(), static_cast<size_t>(e.end - e.begin));
        const auto view =
            Tensor::view(std::move(storage), from->type(), from->strides(), static_cast<size_t>(-e.begin));
        copy_strided(t->buffer(), view->buffer());
        t = view;
      }
    }
  return out;
}

// What a run may change beside its inputs, as it was: the random state, and captured tensors that are written.
class State {
 public:
  State(const Context& context, const Entry& entry) {
    keep(context, context.random());
    for (const Write& w : entry.traces.front().writes)
      if (const Ref<Tensor>& t = entry.bindings[w.input].captured; t && t != context.random()) keep(context, t);
  }
  ~State() { restore(); }
  State(const State&) = delete;

  void restore() {
    for (auto& [tensor, was] : kept_) {
      copy_elements(*was, *tensor);
      tensor->bump();
    }
  }

 private:
  void keep(const Context& context, const Ref<Tensor>& t) {
    kept_.emplace_back(t, dense_copy(context.allocator(), *t));
  }
  std::vector<std::pair<Ref<Tensor>, Ref<Tensor>>> kept_;
};

std::unique_ptr<Entry> record_plain(const TraceRequest& r, Function& function, const Values& in) {
  return record(*r.context, function, in);
}

Ref<SavedFunction> make_saved_function(const TraceRequest& r, const Entry& entry) {
  std::vector<SavedProgram> one;
  one.push_back(saved_program(entry, *r.context));
  return Ref<SavedFunction>::adopt(new SavedFunction(r.function->name(), std::move(one)));
}

Ref<Values> run(const TraceRequest& r, const Ref<Function>& function, bool eagerly, const Values& in) {
  CompileOptions options;
  options.set("disable", Any::boolean(eagerly));
  const auto out = make<Values>();
  const auto compiled = make<Compiled>(r.context, function, &options);
  if (Ref<Status> failed = Ref<Status>::adopt(compiled->call(in, *out))) throw Error(failed);
  return out;
}

// The result of checking one call.
class Check {
 public:
  Check(const TraceRequest& request, Ref<Function> traced, const Values& in)
      : request_(request), traced_(std::move(traced)), in_(in) {}

  std::string find() {
    std::unique_ptr<Entry> trace;
    try {
      trace = record_plain(request_, *traced_, *copy_values(*request_.context, in_));
    } catch (const Error& e) {
      return cat("the trace does not take these inputs: ", e.message(), "\n");
    }
    State state(*request_.context, *trace);
    std::string found = compare_graphs(*trace);
    state.restore();
    found += compare_values(state);
    if (found.empty()) return found;
    if (const std::string draws = drawing_lines(trace->traces.front()); !draws.empty())
      found += cat("it draws random numbers, so that two calls may differ; a module in training mode, before eval()?",
                   draws, "\n");
    return found;
  }

 private:
  // Both graphs are recorded from traces, so that only real differences are found.
  std::string compare_graphs(const Entry& trace) {
    const auto copy = copy_values(*request_.context, in_);
    std::unique_ptr<Entry> again;
    try {
      const auto fresh = record_plain(request_, *request_.function, *copy);
      again = record_plain(request_, *make_saved_function(request_, *fresh), *copy);
    } catch (const Error& e) {
      return cat("it could not be traced again: ", e.message(), "\n");
    }
    if (const std::string graphs = graph_difference(trace, *again); !graphs.empty())
      return cat("graphs differ: ", graphs, "\n");
    return constant_difference(trace, *again);
  }

  std::string compare_values(State& state) {
    const auto ours = copy_values(*request_.context, in_), theirs = copy_values(*request_.context, in_);
    Ref<Values> traced, function;
    try {
      traced = run(request_, traced_, false, *ours);
    } catch (const Error& e) {
      return cat("the trace failed where it was run: ", e.message(), "\n");
    }
    state.restore();
    try {
      function = run(request_, request_.function, true, *theirs);
    } catch (const Error& e) {
      return cat("the function failed where it was run op by op: ", e.message(), "\n");
    }
    return value_difference(*traced, *function, request_.tolerance, "output") +
           value_difference(*ours, *theirs, request_.tolerance, "input");
  }

  const TraceRequest& request_;
  const Ref<Function> traced_;
  const Values& in_;
};

}  // namespace

std::span<const OptionRow> trace_options() { return kOptions; }

void read_trace_options(const CompileOptions& options, TraceRequest& request, CompileOptions& compile) {
  Options own;
  for (auto& [name, leaf] : options.all()) {
    const bool ours =
        std::any_of(kOptions.begin(), kOptions.end(), [&](const OptionRow& row) { return row.name == name; });
    (ours ? own : static_cast<Options&>(compile)).set(name, leaf);
  }
  for (auto& e : options.executors()) compile.add_executor(e);
  for (auto& p : options.passes()) compile.add_pass(p);
  own.check(kOptions, "jit.trace");
  request.checks = own.flag("check_trace", true);
  request.tolerance = own.real("check_tolerance", 1e-5);
  request.strict = own.flag("strict", true);
  require(request.tolerance >= 0, "jit.trace: option 'check_tolerance' must not be negative, got ", request.tolerance);
}

Ref<Function> trace_function(const TraceRequest& r) {
  const auto example = copy_values(*r.context, *r.example);
  auto entry = record_any_size(*r.context, *r.function, *example);
  // Which memory a write reaches may depend on sizes; a trace of plain ones says which sizes it is for.
  if (!entry || !entry->roots.empty()) entry = record_plain(r, *r.function, *example);
  require(!r.strict || !has_list_or_map(entry->result_structure), r.function->name(),
          ": jit.trace: its results hold a list or a map, ", entry->result_structure,
          ", and a trace has as many entries in it as there were in this call; strict = false allows that");
  const auto traced = Ref<Function>::adopt(make_saved_function(r, *entry).detach());
  if (!r.checks) return traced;
  std::string found;
  for (size_t i = 0; i < std::max<size_t>(r.check.size(), 1); i++) {
    const Values& in = r.check.empty() ? *r.example : *r.check[i];
    const std::string differs = Check(r, traced, in).find();
    if (!differs.empty()) found += cat(r.check.empty() ? std::string() : cat("check_inputs ", i + 1, ": "), differs);
  }
  if (!found.empty()) found.pop_back();
  if (!found.empty())
    fail(Code::failed_precondition, r.function->name(),
         ": jit.trace: the trace is not what the function does: ", found);
  return traced;
}

}  // namespace thunder
