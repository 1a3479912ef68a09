// The `thunder` tool: finds the command, and answers --help and --version.
#include <cstdio>
#include <cstring>

#include "commands.h"
#include "thunder.h"

namespace {

int print_completion(int argc, char** argv);

struct Command {
  const char* name;
  const char* usage;
  const char* doc;
  int (*run)(int argc, char** argv);
};

constexpr Command kCommands[] = {
    {"run", "run FILE [ARGUMENT...]", "run a Lua script, its arguments in `arg`; or FILE.thunder, a saved program, its\n"
     "                               arguments numbers and FILE.npy: with --run-saved-kernels before FILE by the machine code that compile_ahead wrote;\n"
     "                               or MODEL.onnx; options: --input NAME=FILE.npy, --dim NAME=SIZE for inputs that are made, --backend BACKEND,\n"
     "                               --check BACKEND to compare with another one, --save FOLDER", run_script},
    {"inspect", "inspect FILE", "what an ONNX model or a saved program takes, gives and consists of, and what of it is not imported", inspect_model},
    {"export", "export --c DIR FILE.thunder", "write a saved program as C and objects that need no libthunder; options: --name NAME,\n"
     "                               --cpu CPU (x86-64-v3; native: this one), --program N of a file with several", export_program},
    {"convert", "convert FILE FILE", "write a saved program as an ONNX model; options: --opset N (18), --external-data (weights\n"
     "                               beside the model), --program N of a file with several; or an ONNX model as a saved program, for any\n"
     "                               size of the dims that it names; options: --input and --dim as of `run`", convert_file},
    {"examine", "examine FILE [ARGUMENT...]", "run a Lua script and examine each compiled function that it calls, or a saved program or a model: ops and who\n"
     "                               runs them, what is unsupported, NaN, or wrong beside the reference; --html PAGE writes all of it as a page;\n"
     "                               --json; the exit status is 1 where something is wrong", examine_script},
    {"profile", "profile FILE [ARGUMENT...]", "the same with the time of each step, and its share of what the machine does at most; --chrome FILE for\n"
     "                               chrome://tracing; --json", profile_script},
    {"trace", "trace FILE [REPORT]", "print what these functions became after each pass, or one of the reports of th.reports()", trace_script},
    {"repro", "repro FILE [--step N]", "print step N of the first such function as a script of its own, which compares it with the reference;\n"
     "                               --output FILE", write_repro},
    {"ops", "ops [TEXT]", "list the ops, layers, optimisers, schedules and options whose name holds TEXT", list_ops},
    {"doctor", "doctor [--json]", "say what this installation has, and what is missing and why; compile and run a kernel, and measure the machine", examine_installation},
    {"completion", "completion bash|zsh|fish", "print what a shell completes these commands by: eval \"$(thunder completion bash)\"", print_completion},
};

int print_completion(int argc, char** argv) {
  const char* const shell = argc == 1 ? argv[0] : "";
  const bool fish = !std::strcmp(shell, "fish"), zsh = !std::strcmp(shell, "zsh");
  if (!fish && !zsh && std::strcmp(shell, "bash")) return 2;
  if (fish) {
    for (const Command& c : kCommands) std::printf("complete -c thunder -n __fish_use_subcommand -f -a %s\n", c.name);
    return 0;
  }
  if (zsh) std::printf("autoload -U +X bashcompinit && bashcompinit\n");
  std::printf("_thunder() {\n  local word=\"${COMP_WORDS[COMP_CWORD]}\"\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
  for (const Command& c : kCommands) std::printf("%s ", c.name);
  std::printf("--help --version\" -- \"$word\"))\n  else\n    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}\ncomplete -o filenames -F _thunder thunder\n");
  return 0;
}

void print_help(std::FILE* to) {
  std::fputs("usage: thunder [COMMAND [ARGUMENT...]]\n\n"
             "Compiles functions of tensors that Lua scripts write. Without a command it reads lines of Lua, runs them and prints\n"
             "what they give. Commands:\n\n", to);
  for (const Command& c : kCommands) std::fprintf(to, "  %-28s %s\n", c.usage, c.doc);
  std::fprintf(to, "  %-28s %s\n", "--help, --version", "print this, or the version");
  std::fputs("\nA first script, FILE.lua:\n\n"
             "  local th = require \"thunder\"\n"
             "  local f = th.compile(function(x) return (x * x):sum() end)\n"
             "  print(f(th.tensor { 1.0, 2.0, 3.0 }):item(), th.last_traces(f)[1])\n", to);
}

bool is_help(const char* word) { return !std::strcmp(word, "--help") || !std::strcmp(word, "-h"); }

int run_command(const Command& command, int argc, char** argv) {
  const bool help = argc > 0 && is_help(argv[0]);
  const int code = help ? 0 : command.run(argc, argv);
  if (help || code == 2) std::fprintf(help ? stdout : stderr, "usage: thunder %s\n\n%s\n", command.usage, command.doc);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return read_and_run(0, nullptr);
  const char* name = argv[1];
  if (is_help(name)) return print_help(stdout), 0;
  if (!std::strcmp(name, "--version")) {
    const uint32_t v = thunder_version();
    std::printf("thunder %u.%u.%u\n", v / 10000, v / 100 % 100, v % 100);
    return 0;
  }
  for (const Command& c : kCommands)
    if (!std::strcmp(name, c.name)) return run_command(c, argc - 2, argv + 2);
  std::fprintf(stderr, "thunder: there is no command '%s'\n", name);
  print_help(stderr);
  return 2;
}
