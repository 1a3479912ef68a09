// The values of the option `mode`.
#pragma once

#include <span>
#include <string_view>

namespace thunder {

// A name for several options, as in PyTorch.
struct ModeRow {
  std::string_view name;
  bool max_autotune = false, use_cudagraphs = false;
  std::string_view backend{};  // empty: it asks for none
};
std::span<const ModeRow> modes();

}  // namespace thunder
