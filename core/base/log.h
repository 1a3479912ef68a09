// Where messages go that are not errors: a sink of the caller's, passed explicitly. Without one they are dropped.
#pragma once

#include <string_view>

#include "base/text.h"

namespace thunder {

enum class LogLevel : int32_t { debug = 0, info = 1, warning = 2, error = 3 };

struct Log {
  // May be called from any thread. The text is borrowed, and also terminated by a zero.
  void (*fn)(int32_t level, const char* component, const char* text, size_t bytes, void* user) = nullptr;
  void* user = nullptr;

  // `component` names the part of the library that speaks: "cache". The parts are joined as by `cat`.
  template <class... T>
  void write(LogLevel level, const char* component, const T&... parts) const {
    if (fn) send(level, component, cat(parts...));
  }

 private:
  void send(LogLevel level, const char* component, const std::string& text) const;
};

}  // namespace thunder
