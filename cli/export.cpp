// thunder export: a saved program in another form.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "commands.h"
#include "thunder.h"

namespace {

struct Export {
  const char *folder = nullptr, *program = nullptr;
  thunder_options* options = nullptr;
};

// 2: the words are not understood.
int read_words(int argc, char** argv, Export& wanted) {
  for (int i = 0; i < argc; i++) {
    const char* word = argv[i];
    if (std::strncmp(word, "--", 2) != 0) {
      if (wanted.program) return 2;
      wanted.program = word;
      continue;
    }
    if (++i == argc) return 2;
    if (!std::strcmp(word, "--c")) wanted.folder = argv[i];
    else if (!std::strcmp(word, "--program")) thunder_options_set_i64(wanted.options, "program", std::atoll(argv[i]));
    else if (!std::strcmp(word, "--name") || !std::strcmp(word, "--cpu"))
      thunder_options_set_str(wanted.options, word + 2, argv[i]);
    else return 2;
  }
  return wanted.folder && wanted.program ? 0 : 2;
}

int report(thunder_status* failed) {
  if (!failed) return 0;
  std::fprintf(stderr, "thunder: %s\n", thunder_status_message(failed));
  thunder_status_release(failed);
  return 1;
}

}  // namespace

int export_program(int argc, char** argv) {
  thunder_context* context = nullptr;
  Export wanted;
  int code = report(thunder_context_create(nullptr, &context));
  if (!code) code = report(thunder_options_create(context, &wanted.options));
  if (!code) code = read_words(argc, argv, wanted);
  if (!code) code = report(thunder_program_export_c(context, wanted.program, wanted.folder, wanted.options));
  thunder_options_release(wanted.options);
  thunder_context_release(context);
  return code;
}
