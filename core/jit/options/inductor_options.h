// The options of PyTorch's Inductor, and how each is treated here.
#pragma once

#include <span>
#include <string_view>

namespace thunder {

enum class InductorState : uint8_t {
  option,  // another name of the option `ours`, with the same values
  sets,    // true is `ours`, an option=value, where that option is not given; false is what happens without it
  words,   // `ours` is option:words: true adds these to its list, false takes them away
  passes,  // false leaves the passes `ours` out, true is what happens without it
  always,  // what it asks for with the value `ours` is always so; another value is refused
  refused  // `ours`, if any, is the option that comes nearest
};

// A name that torch._inductor.list_options() of a PyTorch 2.x gives.
struct InductorOption {
  std::string_view name;
  InductorState state;
  std::string_view ours;
  std::string_view why;
};

std::span<const InductorOption> inductor_options();  // by name
const InductorOption* find_inductor_option(std::string_view name);  // null: it has no option of that name
std::string_view name(InductorState);

}  // namespace thunder
