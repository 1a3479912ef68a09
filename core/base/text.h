// Text for messages: concatenation, and the nearest of several names. Never a format string.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/status.h"

namespace thunder {

// Out of line, as are the next: each message is a handful of calls where it is made.
void append(std::string& out, std::string_view s);
void append(std::string& out, const char* s);  // null reads as (null)
inline void append(std::string& out, const std::string& s) { append(out, std::string_view(s)); }
void append(std::string& out, char c);
inline void append(std::string& out, bool b) { append(out, std::string_view(b ? "true" : "false")); }
void append_decimal(std::string& out, int64_t v);
void append_decimal(std::string& out, uint64_t v);
template <std::integral T>
void append(std::string& out, T v) {
  append_decimal(out, static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(v));
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
