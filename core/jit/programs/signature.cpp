#include "jit/programs/signature.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/utf8.h"
#include "cache/entry.h"
#include "ir/spelling.h"
#include "jit/saved/saved_function.h"
#include "onnx/program.h"

namespace thunder {
namespace {

std::string value_json(std::string_view name, const TensorType& type, const SavedProgram& p) {
  const auto dim_json = [&](Dim d) {
    std::string text;
    spelling::append_dim(text, d, p.symbol_names);
    return d.constant() ? text : json_quote(text);
  };
  return cat("{\"name\":", json_quote(name), ",\"dtype\":", json_quote(thunder::name(type.dtype)), ",\"dims\":[",
             join(type.shape, ",", dim_json), "]}");
}

// Paths of leaves: "0", "1.mask".
std::vector<std::string> leaf_paths(std::string_view structure, size_t leaves) {
  Values values;
  values.assign(std::vector<Leaf>(leaves), structure);
  return values.paths();
}

// "inputs" and "outputs".
std::string arguments_json(const SavedProgram& p) {
  const std::vector<std::string> in = leaf_paths(p.structure, p.inputs.size());
  const std::vector<std::string> out = leaf_paths(p.result_structure, p.results.size());
  std::string inputs, outputs;
  for (size_t leaf = 0; leaf < in.size(); leaf++) {
    if (p.inputs[leaf].argument == SavedInput::kConstant) continue;
    const TensorType& type = p.trace.type(p.trace.inputs[p.inputs[leaf].argument].value);
    inputs += cat(inputs.empty() ? "" : ",", value_json(in[leaf], type, p));
  }
  for (size_t leaf = 0, next = 0; leaf < out.size(); leaf++) {
    if (p.results[leaf].output == ResultLeaf::kConstant) continue;
    outputs += cat(outputs.empty() ? "" : ",", value_json(out[leaf], p.trace.type(p.trace.outputs[next++]), p));
  }
  return cat("\"inputs\":[", inputs, "],\"outputs\":[", outputs, "]");
}

std::string program_signature_json(const SavedProgram& p) {
  return cat("{\"format\":\"thunder\",", arguments_json(p), "}");
}

// What is no tensor among the inputs: what a call must give there.
std::string constants_json(const SavedProgram& p) {
  const std::vector<std::string> in = leaf_paths(p.structure, p.inputs.size());
  std::string constants;
  for (size_t leaf = 0; leaf < in.size(); leaf++) {
    const SavedInput& input = p.inputs[leaf];
    if (input.argument != SavedInput::kConstant) continue;
    constants += cat(constants.empty() ? "" : ",", "{\"name\":", json_quote(in[leaf]), ",\"value\":",
                     json_quote(input.symbol ? "any integer" : format_constant(input.constant)), "}");
  }
  return constants;
}

// A program of a file: also what it captured, and how often it has each op, as it was written.
std::string file_program_json(const SavedProgram& p) {
  std::string weights;
  size_t bytes = 0;
  for (size_t i = 0; i < p.captured.size(); i++) {
    if (!p.captured[i]) continue;
    weights += cat(weights.empty() ? "" : ",", value_json(p.trace.inputs[i].name, p.captured[i]->type(), p));
    bytes += p.captured[i]->bytes();
  }
  std::map<std::string_view, size_t> counts;
  for (const Node* n : p.trace.nodes) counts[n->op->schema.name]++;
  const std::string operators = join(counts, ",", [](auto& row) {
    return cat("{\"op\":", json_quote(row.first), ",\"count\":", row.second, "}");
  });
  return cat("{", arguments_json(p), ",\"constants\":[", constants_json(p), "],\"weights\":[", weights,
             "],\"weight_bytes\":", bytes, ",\"operators\":[", operators, "]}");
}

std::string file_signature_json(const SavedFunction& file) {
  return cat("{\"format\":\"thunder\",\"function\":", json_quote(file.name()), ",", arguments_json(file.programs()[0]),
             ",\"programs\":[", join(file.programs(), ",", file_program_json), "]}");
}

// Names such as "s2" are those of unnamed symbols.
bool looks_like_symbol(std::string_view name) {
  const std::string_view digits = name.substr(std::min<size_t>(name.size(), 1));
  return name.starts_with('s') && digits.find_first_not_of("0123456789") == digits.npos;
}

}  // namespace

void name_symbols(const Function& function, SavedProgram& p) {
  const auto* model = dynamic_cast<const onnx::Program*>(&function);
  if (!model) return;
  const std::vector<std::string> in = leaf_paths(p.structure, p.inputs.size());
  for (size_t leaf = 0; leaf < in.size(); leaf++) {
    if (p.inputs[leaf].argument == SavedInput::kConstant) continue;
    const Shape& shape = p.trace.type(p.trace.inputs[p.inputs[leaf].argument].value).shape;
    const onnx::ValueInfo& known = model->input(in[leaf]);
    for (size_t i = 0; known.dims && i < std::min(shape.size(), known.dims->size()); i++) {
      const std::string_view name = (*known.dims)[i].param;
      if (shape[i].constant() || shape[i].expr()->op != DimOp::symbol || looks_like_symbol(name)) continue;
      const auto number = static_cast<size_t>(shape[i].expr()->a.value());
      if (!valid_utf8(name) || std::count(p.symbol_names.begin(), p.symbol_names.end(), name)) continue;
      p.symbol_names.resize(std::max(p.symbol_names.size(), number + 1));
      if (p.symbol_names[number].empty()) p.symbol_names[number] = name;
    }
  }
}

std::string signature_json(const Compiled& compiled) {
  if (const auto* model = dynamic_cast<const onnx::Program*>(&compiled.function())) return model->signature();
  if (const auto* saved = dynamic_cast<const SavedFunction*>(&compiled.function()))
    return file_signature_json(*saved);
  const std::shared_ptr<const Entry> last = compiled.reports().latest();
  if (!last) return "";
  return program_signature_json(saved_program(last->of ? *last->of : *last, *compiled.context()));
}

}  // namespace thunder
