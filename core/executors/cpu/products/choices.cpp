#include "executors/cpu/products/choices.h"

#include <map>
#include <mutex>

namespace thunder {
namespace {

// Never freed, as the kernels of a process are not.
struct Choice {
  std::string algorithm;
  bool given = false;
};
struct Known {
  std::mutex mutex;
  std::map<std::string, Choice> by_key;
};
Known& choice_table() {
  static Known* all = new Known;
  return *all;
}

}  // namespace

std::optional<std::string> find_given_choice(const std::string& key) {
  std::lock_guard lock(choice_table().mutex);
  const auto found = choice_table().by_key.find(key);
  return found == choice_table().by_key.end() || !found->second.given ? std::nullopt
                                                                      : std::optional(found->second.algorithm);
}

void set_choice(const std::string& key, std::string algorithm) {
  std::lock_guard lock(choice_table().mutex);
  choice_table().by_key[key] = {std::move(algorithm), true};
}

void record_choice(const std::string& key, std::string algorithm) {
  std::lock_guard lock(choice_table().mutex);
  choice_table().by_key[key].algorithm = std::move(algorithm);
}

std::vector<std::pair<std::string, std::string>> known_choices() {
  std::lock_guard lock(choice_table().mutex);
  std::vector<std::pair<std::string, std::string>> all;
  for (auto& [key, choice] : choice_table().by_key) all.emplace_back(key, choice.algorithm);
  return all;
}

}  // namespace thunder
