// Which algorithm was measured to be the fastest for each product, by all contexts of this process or by another
// process that exported its choices.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace thunder {

// The choices of algorithms, by key of Autotuner. Any thread. find_given_choice(): the choice that another process
// measured on this kind of machine; nullopt: there is none.
std::optional<std::string> find_given_choice(const std::string& key);
void set_choice(const std::string& key, std::string algorithm);
// The choices that contexts of this process measured or used.
void record_choice(const std::string& key, std::string algorithm);
// All choices, given or used, in the order of their keys.
std::vector<std::pair<std::string, std::string>> known_choices();

}  // namespace thunder
