// A command of the tool, as the help, the completion of shells and the reading of its words take it.
#pragma once

#include <span>
#include <string>
#include <vector>

struct Option {
  const char* word;             // "--external-data"
  const char* value = nullptr;  // what the help calls its value; null: it takes none
  const char* doc;
  bool repeats = false;
};

// The words after a command, read.
struct Words {
  struct Given {
    const Option* option;
    std::string value;
  };
  std::vector<std::string> places;  // the words that are no options
  std::vector<Given> options;

  const char* value(const char* word) const;  // the last one; null: it was not given
};

// How words go to a script that the command runs.
enum class ScriptWords {
  none,      // there is no script
  verbatim,  // what follows the script's name is the script's
  unknown,   // options of the command may follow, too; what is none of them is the script's
};

struct Command {
  const char* name;
  const char* arguments;  // "FILE [ARGUMENT...]"
  const char* summary;    // a line
  const char* doc;        // what the summary leaves out
  std::span<const Option> options;
  const char* example;
  size_t least, most;  // places
  ScriptWords script;
  int (*run)(const Command& command, const Words& words);  // the exit status; 2: the words make no sense, and this was said
};

constexpr size_t kAnyNumber = static_cast<size_t>(-1);

std::span<const Command> commands();
// Null: there is none of this name.
const Command* find_command(const std::string& name);
