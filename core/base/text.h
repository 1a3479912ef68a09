// Text for messages: concatenation, and the nearest of several names. Never a format string.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thunder {

inline void append(std::string& out, std::string_view s) { out += s; }
inline void append(std::string& out, const char* s) { out += s ? s : "(null)"; }
inline void append(std::string& out, const std::string& s) { out += s; }
inline void append(std::string& out, char c) { out += c; }
inline void append(std::string& out, bool b) { out += b ? "true" : "false"; }
template <std::integral T>
void append(std::string& out, T v) {
  std::array<char, 24> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
  out.append(buffer.data(), end);
}
// The shortest decimal text that reads back as the same double.
void append(std::string& out, double v);

// Text that is only made when a message is: what checks on hot paths hand over costs nothing while they hold.
// Borrows what it shows for the length of the expression.
template <class T>
class Lazy {
 public:
  explicit Lazy(T value) : value_(value) {}
  operator std::string() const {
    std::string out;
    append(out, value_);
    return out;
  }
  friend void append(std::string& out, const Lazy& lazy) { append(out, lazy.value_); }
  friend bool operator==(const Lazy& a, std::string_view b) { return std::string(a) == b; }
  template <class Stream>
  friend Stream& operator<<(Stream& out, const Lazy& lazy) {
    out << std::string(lazy);
    return out;
  }

 private:
  T value_;
};

template <class... T>
std::string cat(const T&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

// "item, item, item" of anything `append` takes, each through `f`.
template <class Range, class F>
std::string join(const Range& range, std::string_view separator, F&& f) {
  std::string out;
  bool first = true;
  for (const auto& item : range) {
    if (!first) out += separator;
    first = false;
    append(out, f(item));
  }
  return out;
}

// The candidate nearest to `name` by edit distance, or "" when none is near enough to be meant.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

// " (did you mean 'x'?)" or "".
std::string suggest(std::string_view name, std::span<const std::string_view> candidates);

template <class... T>
[[noreturn]] void fail(Code code, const T&... parts) {
  throw Error(code, cat(parts...));
}
// The caller's mistake.
template <class... T>
void require(bool holds, const T&... parts) {
  if (!holds) [[unlikely]]
    fail(Code::invalid_argument, parts...);
}
// Ours.
template <class... T>
void ensure(bool holds, const T&... parts) {
  if (!holds) [[unlikely]]
    fail(Code::internal, "internal error, please report it: ", parts...);
}

}  // namespace thunder
