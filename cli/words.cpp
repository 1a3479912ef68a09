#include "words.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

void set(thunder_options* options, const WordOption& option, const char* value) {
  std::string name = option.word + 2;
  std::replace(name.begin(), name.end(), '-', '_');
  if (option.to)
    *option.to = value;
  else if (option.kind == WordOption::Kind::flag)
    thunder_options_set_bool(options, name.c_str(), 1);
  else if (option.kind == WordOption::Kind::integer)
    thunder_options_set_i64(options, name.c_str(), std::atoll(value));
  else
    thunder_options_set_str(options, name.c_str(), value);
}

}  // namespace

bool read_words(std::span<char* const> words, std::span<const char** const> places, std::span<const WordOption> known,
                thunder_options* options) {
  size_t filled = 0;
  for (size_t i = 0; i < words.size(); i++) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) {
      if (filled == places.size()) return false;
      *places[filled++] = words[i];
      continue;
    }
    const auto option = std::find_if(known.begin(), known.end(), [&](auto& o) { return word == o.word; });
    if (option == known.end()) return false;
    const bool takes_value = option->kind != WordOption::Kind::flag;
    if (takes_value && ++i == words.size()) return false;
    set(options, *option, takes_value ? words[i] : nullptr);
  }
  return filled == places.size();
}

int report(thunder_status* failed) {
  if (!failed) return 0;
  std::fprintf(stderr, "thunder: %s\n", thunder_status_message(failed));
  thunder_status_release(failed);
  return 1;
}
