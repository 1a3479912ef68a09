// thunder convert and thunder export: a saved program in another form.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "commands.h"
#include "words.h"

namespace {

// The library's options of one command: an integer, a flag or a text by what the command's table says of the word's value.
bool set_option(thunder_options* options, const Command& command, const Words::Given& given) {
  std::string name = given.option->word + 2;
  for (char& c : name) c = c == '-' ? '_' : c;
  if (!given.option->value) return thunder_options_set_bool(options, name.c_str(), 1), true;
  if (std::string_view(given.option->value) != "N") return thunder_options_set_str(options, name.c_str(), given.value.c_str()), true;
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(given.value.c_str(), &end, 10);
  if (errno || given.value.empty() || *end) {
    std::fprintf(stderr, "thunder: %s: %s takes a number, got '%s'\nsee `thunder help %s`\n", command.name, given.option->word,
                 given.value.c_str(), command.name);
    return false;
  }
  return thunder_options_set_i64(options, name.c_str(), number), true;
}

// `write` gets a context and the options but those of `apart`.
template <class Write>
int with_options(const Command& command, const Words& words, std::string_view apart, Write&& write) {
  thunder_context* context = nullptr;
  thunder_options* options = nullptr;
  int code = report(thunder_context_create(nullptr, &context));
  if (!code) code = report(thunder_options_create(context, &options));
  for (const Words::Given& given : words.options)
    if (!code && given.option->word != apart && !set_option(options, command, given)) code = 2;
  if (!code) code = write(context, options);
  thunder_options_release(options);
  thunder_context_release(context);
  return code;
}

}  // namespace

int convert_program(const Command& command, const Words& words) {
  const char *from = words.places[0].c_str(), *to = words.places[1].c_str();
  for (const char* word : {"--input", "--dim"})
    if (words.value(word)) {
      std::fprintf(stderr, "thunder: convert: %s is for ONNX models that are read, and %s is none\nsee `thunder help convert`\n", word, from);
      return 2;
    }
  return with_options(command, words, "", [&](thunder_context* context, thunder_options* options) {
    std::error_code none;
    if (std::filesystem::equivalent(from, to, none)) {
      std::fprintf(stderr, "thunder: convert: %s and %s are the same file, which would be lost\n", from, to);
      return 1;
    }
    thunder_compiled* program = nullptr;
    int code = report(thunder_program_load(context, from, nullptr, &program));
    if (!code) code = report(thunder_program_export_onnx(program, to, options));
    thunder_compiled_release(program);
    return code;
  });
}

int export_program(const Command& command, const Words& words) {
  const char* const folder = words.value("--c");
  if (!folder) {
    std::fputs("thunder: export needs --c FOLDER\nsee `thunder help export`\n", stderr);
    return 2;
  }
  return with_options(command, words, "--c", [&](thunder_context* context, thunder_options* options) {
    return report(thunder_program_export_c(context, words.places[0].c_str(), folder, options));
  });
}
