// Limits on the number of compiles of one function.
#pragma once

#include <string_view>

#include "jit/context/context.h"

namespace thunder {

class RecompileLimits {
 public:
  // All of these must outlive this object.
  RecompileLimits(const Context& context, const Function& function, const CompileSettings& settings)
      : context_(context), function_(function), settings_(settings) {}

  enum class Of : uint8_t { programs, all };  // recompile_limit, accumulated_recompile_limit
  // Whether `done` is below the limit; else warns, once for each `warned`, or throws. `then`: how the call goes on.
  bool is_below_limit(Of which, int64_t done, const std::string& why, std::string_view then, bool& warned) const;

 private:
  const Context& context_;
  const Function& function_;
  const CompileSettings& settings_;
};

}  // namespace thunder
