// Models of files and of bytes.
#include "base/text.h"
#include "onnx/program.h"

namespace thunder::onnx {
namespace {

std::string_view text_of(const Mapping& m) {
  return {reinterpret_cast<const char*>(m.bytes().data()), m.bytes().size()};
}

// Printable, since every line of a trace says it.
std::string file_name(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  for (char& c : name)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return name;
}

Ref<Program> build_program(std::string name, Ref<Mapping> bytes, const std::string& path,
                           const ModuleEnvironment& environment, std::vector<std::string> outputs) {
  const std::string& shown = path.empty() ? name : path;
  Model model = read_model(text_of(*bytes), shown);
  try {
    TensorReader reader(std::move(bytes), path, environment.scope.allocator);
    return Ref<Program>::adopt(new Program(name, std::move(model), std::move(reader), environment, std::move(outputs)));
  } catch (const Error& e) {
    if (e.code() == Code::out_of_memory) throw;
    // An error in a file's contents is not an invalid argument of the caller.
    fail(is_callers_mistake(e.code()) ? Code::data_lost : e.code(), "'", shown, "': ", e.message());
  }
}

}  // namespace

Ref<Program> load(const std::string& path, const ModuleEnvironment& environment, std::vector<std::string> outputs) {
  return build_program(file_name(path), Mapping::map_file(path), path, environment, std::move(outputs));
}

Ref<Program> load(std::span<const std::byte> bytes, const ModuleEnvironment& environment,
                  std::vector<std::string> outputs) {
  return build_program("model", Mapping::copy_of(bytes), "", environment, std::move(outputs));
}

}  // namespace thunder::onnx
