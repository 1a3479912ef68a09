#include "jit/programs/export_onnx.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "ir/print.h"
#include "jit/programs/compiled_programs.h"
#include "jit/saved/saved_function.h"
#include "onnx/export/export.h"
#include "onnx/export/model.h"
#include "passes/dce.h"
#include "passes/grad.h"
#include "tracer/trace_reader.h"

namespace thunder {
namespace {

constexpr int64_t kLeastOpset = 17, kGreatestOpset = 25;
constexpr std::array kRows = {
    OptionRow{"opset", ArgKind::integer, "18", "The version of ONNX's ops, 17 to 25."},
    OptionRow{"external_data", ArgKind::boolean, "false",
              "Weights lie in a file beside the model, PATH.data; past 1 GiB they always do."},
    OptionRow{"program", ArgKind::integer, "1", "Which of the function's programs, where it has several."},
};

SavedProgram choose_program(const Compiled& compiled, const Options& options) {
  std::vector<SavedProgram> all = saved_programs(compiled);
  const std::string& name = compiled.function().name();
  require(!all.empty(), "export_onnx: ", name, " has no program yet; call it, or prepare it, first");
  const int64_t number = options.integer("program", 1);
  require(options.find("program") || all.size() == 1, "export_onnx: ", name, " has ", all.size(),
          " programs; the option 'program' says which");
  require(number >= 1 && static_cast<size_t>(number) <= all.size(), "export_onnx: there is no program ", number, "; ",
          name, " has ", all.size());
  return std::move(all[static_cast<size_t>(number) - 1]);
}

// Gradients as lines, and without lines that nothing reads. Of a copy: the store of a program is read while it runs.
Trace expand_for_export(const Trace& written, const Registry& registry) {
  Trace trace = read_trace(print(written), registry);
  if (std::optional<Trace> made = expand_gradients(trace, registry)) trace = std::move(*made);
  PassContext pass{.registry = registry};
  if (std::optional<Trace> made = dce(trace, pass)) trace = std::move(*made);
  return trace;
}

// The name of a leaf by its place: what languages call it where they do, else `otherwise` and its number.
std::string leaf_name(const std::vector<std::string>& paths, size_t leaf, std::string_view otherwise) {
  const std::string& path = paths[leaf];
  const bool counted = std::all_of(path.begin(), path.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  if (!counted) return path;
  return paths.size() == 1 ? std::string(otherwise) : cat(otherwise, "_", path);
}

std::vector<std::string> paths_of(size_t leaves, const std::string& structure) {
  const auto values = make<Values>();
  values->assign(std::vector<Leaf>(leaves), structure);
  return values->paths();
}

class Request {
 public:
  Request(const Compiled& compiled, const SavedProgram& program)
      : program_(program),
        trace_(expand_for_export(program.trace, compiled.context()->registry())),
        made_{trace_, {}, {}, {}} {
    add_inputs(compiled.context()->random());
    make_names_unique();
    add_outputs();
    made_.symbol_names = program.symbol_names;
  }
  onnx_export::ExportRequest& operator*() { return made_; }

 private:
  void add_inputs(const Ref<Tensor>& random) {
    const std::vector<std::string> paths = paths_of(program_.inputs.size(), program_.structure);
    made_.inputs.resize(trace_.inputs.size());
    for (size_t leaf = 0; leaf < program_.inputs.size(); leaf++) {
      const SavedInput& in = program_.inputs[leaf];
      if (in.symbol)
        made_.integers.push_back({leaf_name(paths, leaf, "input"), *in.symbol});
      else if (in.argument != SavedInput::kConstant)
        made_.inputs[in.argument].name = leaf_name(paths, leaf, "input");
    }
    for (size_t i = 0; i < trace_.inputs.size(); i++) {
      const Input& in = trace_.inputs[i];
      onnx_export::ExportInput& to = made_.inputs[i];
      to.written =
          std::any_of(trace_.writes.begin(), trace_.writes.end(), [i](const Write& w) { return w.input == i; });
      if (in.source == Source::argument) continue;
      to.tensor = program_.captured[i] ? program_.captured[i] : random;
      to.name = in.name.empty() ? "constant" : in.name;
    }
  }
  // Tensors of several modules may have one name. What replaces one is told by it, so each gets its own here.
  void make_names_unique() {
    std::set<std::string> taken;
    const auto tell_apart = [&](std::string& name) {
      const std::string base = name;
      for (int n = 2; !taken.insert(name).second; n++) name = cat(base, "_", n);
    };
    for (onnx_export::ExportInput& in : made_.inputs) tell_apart(in.name);
    for (onnx_export::ExportInteger& in : made_.integers) tell_apart(in.name);
  }
  void add_outputs() {
    const std::vector<std::string> paths = paths_of(program_.results.size(), program_.result_structure);
    for (size_t leaf = 0; leaf < program_.results.size(); leaf++) {
      const ResultLeaf& r = program_.results[leaf];
      if (r.output != ResultLeaf::kConstant)
        made_.outputs.push_back({leaf_name(paths, leaf, "output"), trace_.outputs[r.output]});
    }
    for (const Write& w : trace_.writes) made_.outputs.push_back({made_.inputs[w.input].name + ".new", w.value});
  }

  const SavedProgram& program_;
  Trace trace_;
  onnx_export::ExportRequest made_;
};

}  // namespace

std::span<const OptionRow> export_onnx_options() {
  return kRows;
}

void export_onnx(const Compiled& compiled, const std::string& path, const Options* given) {
  const Options none, &options = given ? *given : none;
  options.check(kRows, "export_onnx");
  const int64_t opset = options.integer("opset", 18);
  require(opset >= kLeastOpset && opset <= kGreatestOpset, "export_onnx: opset must be ", kLeastOpset, " to ",
          kGreatestOpset, ", got ", opset);
  const SavedProgram program = choose_program(compiled, options);
  Request request(compiled, program);
  (*request).opset = opset;
  const onnx_export::Graph graph = onnx_export::export_graph(*request);
  onnx_export::write_model(graph, compiled.function().name(), path, options.flag("external_data", false));
}

}  // namespace thunder
