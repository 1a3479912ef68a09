#include "jit/programs/signature.h"

#include "base/text.h"
#include "base/utf8.h"
#include "cache/cache.h"
#include "jit/programs/saved_function.h"
#include "onnx/program.h"

namespace thunder {
namespace {

std::string dim_json(Dim d) {
  return d.constant() ? cat(d.value()) : json_quote(cat(name(d)));
}

std::string value_json(std::string_view name, const TensorType& type) {
  return cat("{\"name\":", json_quote(name), ",\"dtype\":", json_quote(thunder::name(type.dtype)), ",\"dims\":[",
             join(type.shape, ",", dim_json), "]}");
}

// Paths of leaves: "0", "1.mask".
std::vector<std::string> paths(std::string_view structure, size_t leaves) {
  Values values;
  values.assign(std::vector<Leaf>(leaves), structure);
  return values.paths();
}

std::string json(const SavedProgram& p) {
  const std::vector<std::string> in = paths(p.structure, p.inputs.size());
  const std::vector<std::string> out = paths(p.result_structure, p.results.size());
  std::string inputs, outputs;
  for (size_t leaf = 0; leaf < in.size(); leaf++) {
    if (p.inputs[leaf].argument == SavedInput::kConstant) continue;
    const TensorType& type = p.trace.type(p.trace.inputs[p.inputs[leaf].argument].value);
    inputs += cat(inputs.empty() ? "" : ",", value_json(in[leaf], type));
  }
  for (size_t leaf = 0, next = 0; leaf < out.size(); leaf++) {
    if (p.results[leaf].output == ResultLeaf::kConstant) continue;
    outputs += cat(outputs.empty() ? "" : ",", value_json(out[leaf], p.trace.type(p.trace.outputs[next++])));
  }
  return cat("{\"format\":\"thunder\",\"inputs\":[", inputs, "],\"outputs\":[", outputs, "]}");
}

}  // namespace

std::string signature_json(const Compiled& compiled) {
  if (const auto* model = dynamic_cast<const onnx::Program*>(&compiled.function())) return model->signature();
  if (const auto* saved = dynamic_cast<const SavedFunction*>(&compiled.function())) return json(saved->programs()[0]);
  const std::shared_ptr<const Entry> last = compiled.latest();
  if (!last) return "";
  return json(saved_program(last->of ? *last->of : *last, *compiled.context()));
}

}  // namespace thunder
