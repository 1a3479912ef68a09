// thunder completion: what shells complete the commands by, written from their table.
#include <cstdio>
#include <cstring>
#include <string>

#include "commands.h"
#include "state.h"

namespace {

// What there is to complete that only the library knows; `completion words KIND` is for the shells' functions.
constexpr const char* kWords = R"lua(
local _, _, kind = ...
local th = require "thunder"
if kind == "reports" then for _, report in ipairs(th.reports()) do print(report.name) end
elseif kind == "backends" then for name in th.describe("backends"):gmatch '"name":"([^"]+)"' do print(name) end
elseif kind == "ops" then for _, op in ipairs(th.ops()) do print(op.name) end
else
  io.stderr:write("thunder: completion words takes reports, backends or ops, got '", kind, "'\nsee `thunder help completion`\n")
  os.exit(2, true)
end
)lua";

bool is(const char* a, const char* b) { return a && !std::strcmp(a, b); }

// The words that may follow a command that takes no file.
std::string places_of(const Command& c) {
  std::string words;
  if (is(c.name, "completion")) return "bash zsh fish";
  if (is(c.name, "help"))
    for (const Command& other : commands()) words += (words.empty() ? "" : " ") + std::string(other.name);
  return words;
}
bool takes_file(const Command& c) { return std::strstr(c.arguments, "FILE") || std::strstr(c.arguments, "FROM"); }
bool takes_report(const Command& c) { return std::strstr(c.arguments, "REPORT"); }
bool takes_op(const Command& c) { return is(c.name, "ops"); }
bool value_is_file(const Option& o) { return is(o.value, "FILE") || is(o.value, "PAGE") || is(o.value, "FOLDER"); }

std::string options_of(const Command& c) {
  std::string words = "--help";
  for (const Option& o : c.options) words += std::string(" ") + o.word;
  return words;
}

// A function of bash, which zsh takes, too.
void print_bash() {
  std::string names;
  for (const Command& c : commands()) names += std::string(c.name) + " ";
  std::printf("_thunder() {\n"
              "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" words= files=\n"
              "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words=\"%s-e --help --version\"\n  else\n    case \"$before\" in\n"
              "      --backend|--check) words=\"$(thunder completion words backends 2>/dev/null)\" ;;\n      ", names.c_str());
  const char* bar = "";
  for (const Command& c : commands())
    for (const Option& o : c.options)
      if (value_is_file(o)) std::printf("%s%s", bar, o.word), bar = "|";
  std::printf(") files=1 ;;\n      *) case \"${COMP_WORDS[1]}\" in\n");
  for (const Command& c : commands()) {
    std::printf("        %s) case \"$word\" in -*) words=\"%s\" ;; *) ", c.name, options_of(c).c_str());
    if (takes_file(c)) std::printf("files=1; ");
    if (takes_report(c)) std::printf("[ \"$COMP_CWORD\" -eq 3 ] && words=\"$(thunder completion words reports 2>/dev/null)\"; ");
    if (takes_op(c)) std::printf("words=\"$(thunder completion words ops 2>/dev/null)\"; ");
    std::printf("words=\"$words %s\" ;; esac ;;\n", places_of(c).c_str());
  }
  std::printf("        -e) files=1 ;;\n      esac ;;\n    esac\n  fi\n"
              "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
              "  if [ -n \"$files\" ]; then COMPREPLY+=($(compgen -f -- \"$word\")); fi\n"
              "}\ncomplete -o filenames -F _thunder thunder\n");
}

std::string quoted(const char* text) {
  std::string out = "'";
  for (; *text; text++) out += *text == '\'' ? "\\'" : std::string(1, *text);
  return out + "'";
}

void print_fish() {
  std::printf("complete -c thunder -f\n");
  for (const Command& c : commands()) {
    const std::string seen = std::string("'__fish_seen_subcommand_from ") + c.name + "'";
    std::printf("complete -c thunder -n __fish_use_subcommand -a %s -d %s\n", c.name, quoted(c.summary).c_str());
    if (takes_file(c)) std::printf("complete -c thunder -n %s -F\n", seen.c_str());
    if (takes_report(c)) std::printf("complete -c thunder -n %s -a '(thunder completion words reports)'\n", seen.c_str());
    if (takes_op(c)) std::printf("complete -c thunder -n %s -a '(thunder completion words ops)'\n", seen.c_str());
    if (const std::string places = places_of(c); !places.empty())
      std::printf("complete -c thunder -n %s -a '%s'\n", seen.c_str(), places.c_str());
    for (const Option& o : c.options) {
      const char* value = !o.value ? "" : is(o.value, "BACKEND") ? " -x -a '(thunder completion words backends)'" : value_is_file(o) ? " -r -F" : " -x";
      std::printf("complete -c thunder -n %s -l %s%s -d %s\n", seen.c_str(), o.word + 2, value, quoted(o.doc).c_str());
    }
  }
}

}  // namespace

int print_completion(const Command& command, const Words& words) {
  const std::string& shell = words.places[0];
  if (shell == "words" && words.places.size() == 2) return run_tool_script(kWords, &command, words);
  if (words.places.size() == 1 && shell == "fish") return print_fish(), 0;
  if (words.places.size() == 1 && (shell == "bash" || shell == "zsh")) {
    if (shell == "zsh") std::printf("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n");
    return print_bash(), 0;
  }
  std::fprintf(stderr, "thunder: completion takes bash, zsh or fish, got '%s'\nsee `thunder help completion`\n", shell.c_str());
  return 2;
}
