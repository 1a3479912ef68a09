// thunder convert: a program in one format of files as one in another.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "commands.h"
#include "thunder.h"

namespace {

struct Convert {
  const char *from = nullptr, *to = nullptr;
  thunder_options* options = nullptr;
};

// 2: the words are not understood.
int read_words(int argc, char** argv, Convert& wanted) {
  for (int i = 0; i < argc; i++) {
    const char* word = argv[i];
    if (std::strncmp(word, "--", 2) != 0) {
      if (wanted.to) return 2;
      (wanted.from ? wanted.to : wanted.from) = word;
    } else if (!std::strcmp(word, "--external-data")) {
      thunder_options_set_bool(wanted.options, "external_data", 1);
    } else if (!std::strcmp(word, "--opset") || !std::strcmp(word, "--program")) {
      if (++i == argc) return 2;
      thunder_options_set_i64(wanted.options, word + 2, std::atoll(argv[i]));
    } else {
      return 2;
    }
  }
  return wanted.to ? 0 : 2;
}

int report(thunder_status* failed) {
  if (!failed) return 0;
  std::fprintf(stderr, "thunder: %s\n", thunder_status_message(failed));
  thunder_status_release(failed);
  return 1;
}

}  // namespace

int convert_program(int argc, char** argv) {
  thunder_context* context = nullptr;
  thunder_compiled* program = nullptr;
  Convert wanted;
  int code = report(thunder_context_create(nullptr, &context));
  if (!code) code = report(thunder_options_create(context, &wanted.options));
  if (!code) code = read_words(argc, argv, wanted);
  if (!code) code = report(thunder_program_load(context, wanted.from, nullptr, &program));
  if (!code) code = report(thunder_program_export_onnx(program, wanted.to, wanted.options));
  thunder_compiled_release(program);
  thunder_options_release(wanted.options);
  thunder_context_release(context);
  return code;
}
