#include "help.h"

#include "revision.h"
#include "thunder.h"

namespace {

constexpr const char* kUsage =
    "usage: thunder [COMMAND [ARGUMENT...]]\n"
    "       thunder -e CODE [ARGUMENT...]\n\n"
    "Compiles functions of tensors that Lua scripts write. Without a command it reads lines of Lua, runs them and prints\n"
    "what they give; with -e it runs CODE like such a line. Commands:\n\n";

constexpr const char* kScript =
    "\nA first script, FILE.lua:\n\n"
    "  local th = require \"thunder\"\n"
    "  local f = th.compile(function(x) return (x * x):sum() end)\n"
    "  print(f(th.tensor { 1.0, 2.0, 3.0 }):item(), th.last_traces(f)[1])\n";

}  // namespace

void print_help(std::FILE* to) {
  std::fputs(kUsage, to);
  for (const Command& c : commands()) std::fprintf(to, "  %-12s %s\n", c.name, c.summary);
  std::fputs("\n`thunder help COMMAND` explains one with its options, `thunder --version` says which this is.\n"
             "Exit status: 0, 1: something failed, 2: the command line was not understood.\n", to);
  std::fputs(kScript, to);
}

void print_usage(std::FILE* to, const Command& command) {
  std::fprintf(to, "usage: thunder %s%s%s\n", command.name, *command.arguments ? " " : "", command.arguments);
}

void print_help(std::FILE* to, const Command& command) {
  print_usage(to, command);
  std::fprintf(to, "\n%s\n", command.summary);
  if (*command.doc) std::fprintf(to, "%s\n", command.doc);
  if (!command.options.empty()) std::fputs("\nOptions:\n", to);
  for (const Option& o : command.options) {
    const std::string word = std::string(o.word) + (o.value ? " " : "") + (o.value ? o.value : "");
    std::fprintf(to, "  %-24s %s\n", word.c_str(), o.doc);
  }
  std::fprintf(to, "\nExample:\n\n  %s\n", command.example);
}

void print_version() {
  const uint32_t v = thunder_version();
  const std::string revision = THUNDER_REVISION;
  std::printf("thunder %u.%u.%u%s\n", v / 10000, v / 100 % 100, v % 100, revision.empty() ? "" : (" (" + revision + ")").c_str());
}
