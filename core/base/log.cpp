#include "base/log.h"

namespace thunder {

void Log::send(LogLevel level, const char* component, const std::string& text) const {
  fn(static_cast<int32_t>(level), component, text.c_str(), text.size(), user);
}

}  // namespace thunder
