#include "jit/programs/load_program.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "onnx/program.h"

namespace thunder {
namespace {

bool is_model(const InputFile& file) {
  std::array<char, 16> first{};
  const size_t bytes = std::min<uint64_t>(file.size(), first.size());
  file.read(0, std::as_writable_bytes(std::span(first.data(), bytes)));
  return onnx::looks_like_model({first.data(), bytes});
}

std::vector<std::string> wanted_outputs(const CompileOptions* options) {
  require(!options || !options->find(kProgram), "an ONNX model is one program; the option ", kProgram,
          " is for saved programs");
  return options ? split_list(options->text(kOutputs, "")) : std::vector<std::string>();
}

LoadedProgram load_saved(const Ref<Context>& context, const InputFile& file, const CompileOptions* options) {
  require(!options || !options->find(kOutputs), "'", file.path(),
          "' is a saved program, whose outputs are those that "
          "were saved; the option ",
          kOutputs, " is for ONNX models");
  return load_saved_program(context, file, options);
}

}  // namespace

LoadedProgram load_program(const Ref<Context>& context, const std::string& path, const CompileOptions* options) {
  const InputFile file(path);
  if (!is_model(file)) return load_saved(context, file, options);
  Ref<Function> model(onnx::load(path, context->module_environment(), wanted_outputs(options)).get());
  return {std::move(model), without_file_options(options)};
}

LoadedProgram load_program(const Ref<Context>& context, std::span<const std::byte> bytes,
                           const CompileOptions* options) {
  const InputFile file("the bytes given", bytes);
  if (!is_model(file)) return load_saved(context, file, options);
  Ref<Function> model(onnx::load(bytes, context->module_environment(), wanted_outputs(options)).get());
  return {std::move(model), without_file_options(options)};
}

}  // namespace thunder
