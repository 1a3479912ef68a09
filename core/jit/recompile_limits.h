// How often one function may be compiled.
#pragma once

#include <string_view>

#include "jit/context.h"

namespace thunder {

class RecompileLimits {
 public:
  // All must live as long.
  RecompileLimits(const Context& context, const Function& function, const CompileSettings& settings)
      : context_(context), function_(function), settings_(settings) {}

  enum class Of : uint8_t { programs, all };  // recompile_limit, accumulated_recompile_limit
  // Whether `done` programs are fewer; else warns, once for each `warned`, or throws. `then`: what becomes of a call.
  bool below(Of which, int64_t done, const std::string& why, std::string_view then, bool& warned) const;

 private:
  const Context& context_;
  const Function& function_;
  const CompileSettings& settings_;
};

}  // namespace thunder
