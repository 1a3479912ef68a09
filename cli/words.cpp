#include "words.h"

#include <algorithm>
#include <cstdio>

#include "files.h"
#include "help.h"

const char* Words::value(const char* word) const {
  const auto found = std::find_if(options.rbegin(), options.rend(), [&](const Given& g) { return std::string_view(g.option->word) == word; });
  return found == options.rend() ? nullptr : found->value.c_str();
}

namespace {

// What is wrong, and where the help is.
template <class... T>
bool refuse(const Command& command, const char* format, T... what) {
  std::fprintf(stderr, "thunder: %s ", command.name);
  std::fprintf(stderr, format, what...);
  std::fprintf(stderr, "\nsee `thunder help %s`\n", command.name);
  return false;
}

bool refuse_option(const Command& command, const char* word) {
  if (command.options.empty()) return refuse(command, "has no options, got '%s'", word);
  std::vector<const char*> known;
  for (const Option& o : command.options) known.push_back(o.word);
  return refuse(command, "has no option '%s'%s", word, suggestion(word, known).c_str());
}

bool check_places(const Command& command, const Words& words) {
  if (words.places.size() >= command.least && words.places.size() <= command.most) return true;
  if (words.places.size() > command.most)
    std::fprintf(stderr, "thunder: %s takes no '%s' here\n", command.name, words.places[command.most].c_str());
  else
    std::fprintf(stderr, "thunder: %s needs %s\n", command.name, command.arguments);
  print_usage(stderr, command);
  return false;
}

}  // namespace

bool read_words(const Command& command, std::span<char* const> argv, Words& words) {
  bool ended = false, in_script = false;  // by "--"; behind a script's name
  for (size_t i = 0; i < argv.size(); i++) {
    const std::string word = argv[i];
    const bool known_form = word.starts_with("--") && !ended && !(in_script && command.script == ScriptWords::verbatim);
    if (known_form && word == "--") {
      ended = true;
      continue;
    }
    const size_t equals = std::min(word.find('='), word.size());
    const auto option = std::find_if(command.options.begin(), command.options.end(),
                                     [&](const Option& o) { return known_form && word.compare(0, equals, o.word) == 0; });
    if (option == command.options.end()) {
      if (known_form && !in_script) return refuse_option(command, word.c_str());
      words.places.push_back(word);
      if (words.places.size() == 1 && command.script != ScriptWords::none) in_script = kind_of(word.c_str()) == FileKind::script;
      continue;
    }
    std::string value;
    if (!option->value && equals < word.size()) return refuse(command, "%s takes no value, got '%s'", option->word, word.c_str());
    if (option->value) {
      if (equals == word.size() && ++i == argv.size()) return refuse(command, "%s needs a value, %s", option->word, option->value);
      value = equals < word.size() ? word.substr(equals + 1) : argv[i];
    }
    words.options.push_back({&*option, value});
  }
  return check_places(command, words);
}

std::string suggestion(const char* name, std::span<const char* const> known) {
  thunder_context* context = nullptr;
  thunder_values* out = nullptr;
  std::string text;
  thunder_status* failed = thunder_context_create(nullptr, &context);
  if (!failed) failed = thunder_values_create(context, &out);
  if (!failed) failed = thunder_suggest(name, known.data(), known.size(), out);
  if (!failed) text = thunder_values_str(out, 0, nullptr);
  thunder_status_release(failed);
  thunder_values_release(out);
  thunder_context_release(context);
  return text;
}

int report(thunder_status* failed) {
  if (!failed) return 0;
  std::fprintf(stderr, "thunder: %s\n", thunder_status_message(failed));
  thunder_status_release(failed);
  return 1;
}
