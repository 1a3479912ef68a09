#include "jit/programs/signature.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "cache/cache.h"
#include "ir/spelling.h"
#include "jit/programs/saved_function.h"
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

std::string program_signature_json(const SavedProgram& p) {
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
  return cat("{\"format\":\"thunder\",\"inputs\":[", inputs, "],\"outputs\":[", outputs, "]}");
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
    return program_signature_json(saved->programs()[0]);
  const std::shared_ptr<const Entry> last = compiled.latest();
  if (!last) return "";
  return program_signature_json(saved_program(last->of ? *last->of : *last, *compiled.context()));
}

}  // namespace thunder
