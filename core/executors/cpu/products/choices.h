// Which algorithm was measured to be the fastest for each product, by all contexts of this process or by another
// process that exported its choices.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace thunder {

// By key of Autotuner, the name of the algorithm. Any thread.
// What another process measured on this kind of machine. None: it was not given.
std::optional<std::string> given_choice(const std::string& key);
void give_choice(const std::string& key, std::string algorithm);
// What a context of this process uses.
void note_choice(const std::string& key, std::string algorithm);
// All of them, given or used, in the order of their keys.
std::vector<std::pair<std::string, std::string>> known_choices();

}  // namespace thunder
