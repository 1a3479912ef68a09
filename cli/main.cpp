// The `thunder` tool: finds the command.
#include <cstdio>
#include <cstring>

#include "commands.h"
#include "help.h"
#include "output.h"
#include "words.h"

namespace {

int refuse_command(const char* name) {
  std::vector<const char*> known;
  for (const Command& c : commands()) known.push_back(c.name);
  std::fprintf(stderr, "thunder: there is no command '%s'%s\nsee `thunder help`\n", name, suggestion(name, known).c_str());
  return 2;
}

bool is_help(const char* word) { return !std::strcmp(word, "--help") || !std::strcmp(word, "-h"); }

int run_command(const Command& command, std::span<char* const> rest) {
  if (!rest.empty() && is_help(rest[0])) return print_help(stdout, command), 0;
  Words words;
  return read_words(command, rest, words) ? command.run(command, words) : 2;
}

}  // namespace

int explain_command(const Command&, const Words& words) {
  if (words.places.empty()) return print_help(stdout), 0;
  const Command* const command = find_command(words.places[0]);
  if (!command) return refuse_command(words.places[0].c_str());
  return print_help(stdout, *command), 0;
}

int say_version(const Command&, const Words&) { return print_version(), 0; }

int main(int argc, char** argv) {
  guard_output();
  if (argc < 2) return read_and_run();
  const char* const name = argv[1];
  const std::span<char* const> rest(argv + 2, static_cast<size_t>(argc - 2));
  if (is_help(name)) return print_help(stdout), 0;
  if (!std::strcmp(name, "--version")) return print_version(), 0;
  if (!std::strcmp(name, "-e")) {
    if (!rest.empty()) return run_code(rest[0], rest.subspan(1));
    std::fputs("thunder: -e needs a value, CODE\nsee `thunder help`\n", stderr);
    return 2;
  }
  if (const Command* const command = find_command(name)) return run_command(*command, rest);
  return refuse_command(name);
}
