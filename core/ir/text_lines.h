// The lines of a text that is parsed, one after the other.
#pragma once

#include "ir/cursor.h"

namespace thunder {

class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}

  size_t bytes() const { return text_.size(); }
  bool ended() const { return at_ >= text_.size(); }
  // The line to be read, without its end.
  std::string_view text() const {
    std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }
  Cursor current() const { return Cursor(text(), line_); }
  void skip() {
    const size_t end = text_.find('\n', at_);
    at_ = end == text_.npos ? text_.size() : end + 1;
    line_++;
  }

  // Moves to the next line that is neither empty nor only a comment; false at the end.
  bool more() {
    for (; !ended(); skip()) {
      Cursor c = current();
      if (!c.done() && !c.at("--")) return true;
    }
    return false;
  }
  // Takes that line; throws if there is none.
  Cursor next() {
    if (!more()) Cursor({}, line_).bad("the text ends too early");
    Cursor c = current();
    skip();
    return c;
  }

 private:
  std::string_view text_;
  size_t at_ = 0, line_ = 1;
};

}  // namespace thunder
