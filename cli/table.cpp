// The commands of the tool, their options and what the help says of them.
#include "commands.h"

namespace {

constexpr Option kInput = {"--input", "NAME=FILE.npy", "the input NAME of a model from a file; may be given for each", true};
constexpr Option kDim = {"--dim", "NAME=SIZE", "the size of a dim that a model leaves open, for inputs that are made", true};
constexpr Option kJson = {"--json", nullptr, "print one JSON document; what a script prints goes to standard error"};
constexpr Option kProgram = {"--program", "N", "the number of one program of a file with several, as `inspect` counts"};

constexpr Option kRun[] = {
    kInput, kDim,
    {"--backend", "BACKEND", "what a model or a program is compiled by"},
    {"--check", "BACKEND", "compare a model with another backend; where they differ the exit status is 1"},
    {"--save", "FOLDER", "write a model's outputs into FOLDER, which is made, as .npy files"},
    kProgram,
    {"--run-saved-kernels", nullptr, "of a program: run the machine code that compile_ahead wrote; for files that you trust"},
};
constexpr Option kInspect[] = {kJson};
constexpr Option kExport[] = {
    {"--c", "FOLDER", "where the C goes: NAME.h, NAME.c, objects and data"},
    {"--name", "NAME", "of the function and its files; without it that of FILE"},
    {"--cpu", "CPU", "which the objects are for, as LLVM names it (x86-64-v3; native: this one)"},
    kProgram,
};
constexpr Option kConvert[] = {
    {"--opset", "N", "of a model that is written: the version of ONNX's ops, 17 to 25 (18)"},
    {"--external-data", nullptr, "of a model that is written: weights go into a file beside it"},
    kProgram, kInput,
    {"--dim", "NAME=SIZE", "of a model that is read: the dim NAME has this size in the program, and no other", true},
};
constexpr Option kExamine[] = {{"--html", "PAGE", "write traces, times and memory, too, as a page; of several functions an index and a page each"}, kJson};
constexpr Option kProfile[] = {{"--chrome", "FILE", "write the times for chrome://tracing; of several functions FILE-2 and so on, which is said"}, kJson};
constexpr Option kRepro[] = {{"--step", "N", "which step, as `profile` counts (1)"}, {"--output", "FILE", "write it there"}};
constexpr Option kDoctor[] = {kJson, {"--engine", "ENGINE", "what moves bytes between the processes of a launcher: mpi, or nccl between GPUs"}};

constexpr const char* kFiles =
    "A file is known by how it begins: a Lua script, whose further words are its own (behind `--` all of them), a saved program\n"
    "or an ONNX model, which are called with inputs that are made.";

constexpr Command kCommands[] = {
    {"run", "FILE [ARGUMENT...]", "run a Lua script, a saved program or an ONNX model",
     "A script finds its arguments in `arg`; `-` reads it from standard input. A saved program takes numbers, words and FILE.npy;\n"
     "without arguments it says what it wants. Of a model, inputs that are not given are made. Options stand before a script's name.",
     kRun, "thunder run model.onnx --dim batch=3 --check eager", 1, kAnyNumber, ScriptWords::verbatim, run_file},
    {"inspect", "FILE", "say what a file takes, gives and consists of",
     "Of saved programs each with its sizes, weights and ops; of an ONNX model also what is not imported, where the exit status is 1;\n"
     "of safetensors and .npy files names, dtypes and shapes. Of any other file it says what it is.",
     kInspect, "thunder inspect model.onnx", 1, 1, ScriptWords::none, inspect_file},
    {"export", "--c FOLDER FILE.thunder", "write a saved program as C and objects that need no libthunder", "", kExport,
     "thunder export --c generated model.thunder", 1, 1, ScriptWords::none, export_program},
    {"convert", "FROM TO", "write a saved program as an ONNX model, or a model as a saved program",
     "A program that is made of a model takes any size of the dims that it names, but of those that --dim says.", kConvert,
     "thunder convert model.onnx model.thunder --dim batch=5", 2, 2, ScriptWords::none, convert_file},
    {"examine", "FILE [ARGUMENT...]", "examine compiled functions: who runs their ops, and what is unsupported, NaN or wrong",
     kFiles, kExamine, "thunder examine train.lua --html report.html", 1, kAnyNumber, ScriptWords::unknown, see_calls},
    {"profile", "FILE [ARGUMENT...]", "time each step of compiled functions, and say its share of what the machine does at most",
     kFiles, kProfile, "thunder profile train.lua --chrome trace.json", 1, kAnyNumber, ScriptWords::unknown, see_calls},
    {"trace", "FILE [REPORT]", "print what compiled functions became after each pass, or a report as `explain` does", kFiles, {},
     "thunder trace train.lua", 1, kAnyNumber, ScriptWords::unknown, see_calls},
    {"explain", "FILE [REPORT]", "print a report about compiled functions: fusion, loops, guards, memory ...; without one, list them",
     kFiles, {}, "thunder explain train.lua memory", 1, kAnyNumber, ScriptWords::unknown, see_calls},
    {"repro", "FILE [ARGUMENT...]", "print a step of the first compiled function as a script that compares it with the reference",
     kFiles, kRepro, "thunder repro train.lua --step 3 --output step.lua", 1, kAnyNumber, ScriptWords::unknown, see_calls},
    {"ops", "[TEXT]", "list the ops, layers, optimisers, schedules and options whose name holds TEXT", "", {}, "thunder ops softmax", 0, 1,
     ScriptWords::none, list_ops},
    {"doctor", "", "say what this installation has, what is missing and why, and what the machine does",
     "Compiles and runs a kernel; where that fails the exit status is 1. In processes that mpirun, srun or torchrun started, also where each is,\n"
     "and how fast values pass between them.", kDoctor, "thunder doctor", 0, 0, ScriptWords::none,
     examine_installation},
    {"completion", "bash|zsh|fish", "print what a shell completes commands, options, reports, backends, ops and files by", "", {},
     "eval \"$(thunder completion bash)\"", 1, 2, ScriptWords::none, print_completion},
    {"help", "[COMMAND]", "explain the tool, or a command with its options", "", {}, "thunder help run", 0, 1, ScriptWords::none, explain_command},
    {"version", "", "say which version this is", "", {}, "thunder version", 0, 0, ScriptWords::none, say_version},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(const std::string& name) {
  for (const Command& c : kCommands)
    if (name == c.name) return &c;
  return nullptr;
}
