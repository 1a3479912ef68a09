#include "jit/context/recompile_limits.h"

#include "base/text.h"

namespace thunder {

bool RecompileLimits::is_below_limit(Of which, int64_t done, const std::string& why, std::string_view then,
                                     bool& warned) const {
  const bool all = which == Of::all;
  const int64_t limit = all ? settings_.accumulated_recompile_limit : settings_.recompile_limit;
  if (done < limit) return true;
  if (warned && !settings_.fail_on_recompile_limit) return false;
  const std::string text = cat(function_.name(), ": compiled ", done, " times, which is the ",
                               all ? "accumulated_recompile_limit" : "recompile_limit", "; last miss: ", why);
  require(!settings_.fail_on_recompile_limit, text);
  context_.log(LogLevel::warning, LogName::recompiles,
               cat(text, "; from now on what fits none of these programs ", then));
  warned = true;
  return false;
}

}  // namespace thunder
