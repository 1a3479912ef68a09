// A place in one line of text, and the words of the grammar of traces and rules read from there. Errors say line and
// column.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"

namespace thunder {

// An error whose message already begins with its place.
struct PlacedError : Error {
  using Error::Error;
};

class Cursor {
 public:
  // `what` is static text: the kind of thing being read.
  Cursor(std::string_view line, size_t number, const char* what = "trace") : text_(line), line_(number), what_(what) {}

  size_t line() const { return line_; }
  bool done();                                 // nothing but spaces is left
  bool at(std::string_view token);             // what comes next, after spaces
  bool accept(std::string_view token);         // punctuation: the next characters
  bool accept_word(std::string_view word);     // the next whole word
  void expect(std::string_view token);
  bool at_word() const;
  std::string_view word();                     // letters, digits and '_', not beginning with a digit
  std::string quoted();                        // "text" with Lua's escapes \" \\ \n \ddd
  int64_t integer();                           // -12, or 0x8000000000000000, which wraps as in Lua
  uint32_t count(uint32_t most);               // 0 ... most
  // Reads a number, inf or nan. Returns true with `i` set for an integer, false with `f` set otherwise.
  bool number(int64_t& i, double& f);
  std::string_view left() const { return text_.substr(at_); }  // spaces included
  void advance(size_t characters) { at_ += characters; }

  template <class... T>
  [[noreturn]] void bad(const T&... parts) const {
    throw PlacedError(Code::invalid_argument, cat(what_, ":", line_, ":", at_ + 1, ": ", parts...));
  }
  template <class... T>
  [[noreturn]] void expected(const T&... parts) const {
    bad("expected ", parts..., ", got ", shown());
  }

 private:
  void skip();
  std::string shown() const;
  std::string_view number_token();
  unsigned char decimal_escape();

  std::string_view text_;
  size_t line_, at_ = 0;
  const char* what_;
};

// Reads a comment that append_comment wrote.
std::string unescape_comment(std::string_view text);

}  // namespace thunder
