#include "jit/options/modes.h"

namespace thunder {
namespace {

constexpr ModeRow kModes[] = {
    {.name = "default"},
    {.name = "reduce-overhead", .use_cudagraphs = true},
    {.name = "max-autotune-no-cudagraphs", .max_autotune = true},
    {.name = "max-autotune", .max_autotune = true, .use_cudagraphs = true},
    {.name = "lite", .backend = "eager"},
};

}  // namespace

std::span<const ModeRow> modes() { return kModes; }

}  // namespace thunder
