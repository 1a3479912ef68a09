#include "jit/options/compile_options.h"

#include "base/text.h"

namespace thunder {

DynamicSizes dynamic_sizes(const CompileSettings& s) {
  const bool wants = s.dynamic.value_or(false), symbolic = s.cache == CacheMode::symbolic_values;
  require(!symbolic || s.dynamic.value_or(true),
          "compile: options cache = \"symbolic values\" and dynamic = false say different things about sizes");
  const bool varies = symbolic || s.cache == CacheMode::constant_values;  // the other modes know nothing of sizes
  require(varies || !wants,
          "compile: option 'dynamic' = true needs the option cache = \"constant values\" or \"symbolic values\"");
  if (wants || symbolic) return DynamicSizes::all;
  if (s.dynamic || !varies) return DynamicSizes::no;
  return s.automatic_dynamic_shapes ? DynamicSizes::automatic : DynamicSizes::marked;
}

}  // namespace thunder
