// Commands that are scripts over the Lua layer.
#include "commands.h"

#include <cstdio>
#include <cstring>

#include "files.h"
#include "inspect.h"
#include "models.h"
#include "repl.h"
#include "seeing.h"
#include "state.h"

namespace {

constexpr const char* kListOps = R"lua(
local _, text = ...
print((require "thunder").help(text or ""))
)lua";

// Options of `run` are of models and programs; those that the kind of file does not have are refused.
bool check_options(const Words& words, const char* file, const char* what, std::initializer_list<const char*> known) {
  for (const Words::Given& given : words.options) {
    bool found = false;
    for (const char* word : known) found = found || !std::strcmp(word, given.option->word);
    if (found) continue;
    std::fprintf(stderr, "thunder: run: %s is not for %s, which '%s' is\nsee `thunder help run`\n", given.option->word, what, file);
    return false;
  }
  return true;
}

}  // namespace

int run_file(const Command& command, const Words& words) {
  const char* const file = words.places[0].c_str();
  switch (kind_of(file)) {
    case FileKind::script: return check_options(words, file, "scripts", {}) ? run_script_file(words) : 2;
    case FileKind::program:
      if (!check_options(words, file, "saved programs", {"--backend", "--program", "--run-saved-kernels"})) return 2;
      return run_tool_script(kRunProgram, &command, words);
    case FileKind::model: {
      if (!check_options(words, file, "ONNX models", {"--input", "--dim", "--backend", "--check", "--save"})) return 2;
      const std::string text = std::string(kModelInputs) + kRunModel;
      return run_tool_script(text.c_str(), &command, words);
    }
    default:
      std::fprintf(stderr, "thunder: '%s' is %s; `run` takes a Lua script, a saved program or an ONNX model\nsee `thunder inspect %s`\n", file,
                   kind_of(file) == FileKind::safetensors ? "a file of tensors (safetensors)" : description_of(file), file);
      return 1;
  }
}

int convert_file(const Command& command, const Words& words) {
  if (kind_of(words.places[0].c_str()) != FileKind::model) return convert_program(command, words);
  const std::string text = std::string(kModelInputs) + kConvertModel;
  return run_tool_script(text.c_str(), &command, words);
}

int inspect_file(const Command& command, const Words& words) { return run_tool_script(kInspect, &command, words); }
int see_calls(const Command& command, const Words& words) { return run_tool_script(kSee, &command, words); }
int list_ops(const Command& command, const Words& words) { return run_tool_script(kListOps, &command, words); }

int read_and_run() { return run_tool_script(kReadAndRun, nullptr, {}); }
int run_code(const char* code, std::span<char* const> arguments) {
  Words words;
  words.places = {code};
  words.places.insert(words.places.end(), arguments.begin(), arguments.end());
  return run_tool_script(kRunCode, nullptr, words);
}
