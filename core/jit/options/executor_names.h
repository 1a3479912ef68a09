// Older names of executors: of matrix products while each of their algorithms was an executor of its own.
#pragma once

#include <string_view>

namespace thunder {

// Named among `executors` it is "products", and asks for the options that it stands for.
struct ExecutorName {
  std::string_view name;
  std::string_view precision = {};  // float32_matmul_precision; "": it asks for none
  bool max_autotune = false;
  bool needs_library = false, needs_tiles = false;  // where the machine lacks them, asking for it is an error
};
inline constexpr std::string_view kProducts = "products";
inline constexpr ExecutorName kProductNames[] = {
    {.name = "onednn", .needs_library = true},
    {.name = "onednn_max_autotune", .max_autotune = true, .needs_library = true},
    {.name = "half"},
    {.name = "amx", .needs_tiles = true},
    {.name = "amx_high", .precision = "high", .needs_tiles = true},
    {.name = "amx_medium", .precision = "medium", .needs_tiles = true},
};

// Null for any other name.
constexpr const ExecutorName* find_product_name(std::string_view name) {
  for (const ExecutorName& n : kProductNames)
    if (n.name == name) return &n;
  return nullptr;
}

}  // namespace thunder
