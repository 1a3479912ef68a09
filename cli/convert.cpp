// thunder convert and thunder export: a saved program in another form.
#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "words.h"

namespace {

using Kind = WordOption::Kind;

// `write` has the words by then. 2: they are not understood.
template <class Write>
int with_words(int argc, char** argv, std::initializer_list<const char**> places,
               std::initializer_list<WordOption> known, Write&& write) {
  thunder_context* context = nullptr;
  thunder_options* options = nullptr;
  int code = report(thunder_context_create(nullptr, &context));
  if (!code) code = report(thunder_options_create(context, &options));
  if (!code && !read_words({argv, static_cast<size_t>(argc)}, places, known, options)) code = 2;
  if (!code) code = write(context, options);
  thunder_options_release(options);
  thunder_context_release(context);
  return code;
}

}  // namespace

int convert_program(int argc, char** argv) {
  const char *from = nullptr, *to = nullptr;
  return with_words(argc, argv, {&from, &to},
                    {{"--external-data", Kind::flag}, {"--opset", Kind::integer}, {"--program", Kind::integer}},
                    [&](thunder_context* context, thunder_options* options) {
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

int export_program(int argc, char** argv) {
  const char *program = nullptr, *folder = nullptr;
  return with_words(
      argc, argv, {&program},
      {{"--c", Kind::text, &folder}, {"--program", Kind::integer}, {"--name", Kind::text}, {"--cpu", Kind::text}},
      [&](thunder_context* context, thunder_options* options) {
        return folder ? report(thunder_program_export_c(context, program, folder, options)) : 2;
      });
}
