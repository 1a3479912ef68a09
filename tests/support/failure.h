// What a call that must fail says: the message of the Error it throws, or "no error".
#pragma once

#include <string>

#include "base/status.h"

namespace thunder {

template <class F>
std::string failure_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

template <class F>
Code code_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::ok;
}

// Text with a part in it, for EXPECT_PRED2: shows both when it does not hold.
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace thunder
