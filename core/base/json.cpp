#include "base/json.h"

#include <cstdint>

namespace thunder {
namespace {

constexpr int kDeepest = 500;
constexpr size_t kLongestNumber = 60;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  size_t error() { return value(0) && (space(), at_ == text_.size()) ? std::string_view::npos : at_; }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) { return next() == c && at_ < text_.size() && (at_++, true); }
  void space() {
    while (next() == ' ' || next() == '\t' || next() == '\n' || next() == '\r') at_++;
  }
  bool word(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  bool digits() {
    const size_t begin = at_;
    while (next() >= '0' && next() <= '9') at_++;
    return at_ > begin;
  }

  bool number() {
    const size_t begin = at_;
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return at_ - begin <= kLongestNumber;
  }

  // Four digits after "\u", else -1.
  int32_t unit() {
    int32_t made = 0;
    for (int i = 0; i < 4; i++, at_++) {
      const char c = next();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return -1;
      made = made * 16 + digit;
    }
    return made;
  }
  // A character beyond 16 bits is a pair of surrogates, the high one first.
  bool escape() {
    if (!take('u'))
      return at_ < text_.size() && std::string_view("\"\\/bfnrt").find(text_[at_++]) != std::string_view::npos;
    const int32_t first = unit();
    if (first < 0 || (first >= 0xDC00 && first < 0xE000)) return false;
    if (first < 0xD800 || first >= 0xE000) return true;
    if (!word("\\u")) return false;
    const int32_t second = unit();
    return second >= 0xDC00 && second < 0xE000;
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size() && next() != '"') {
      if (static_cast<unsigned char>(next()) < 0x20) return false;
      if (take('\\') ? !escape() : (at_++, false)) return false;
    }
    return take('"');
  }

  // The text between `open`, which was consumed, and `close`.
  bool list(bool named, char close, int depth) {
    for (bool first = true;; first = false) {
      space();
      if (first && take(close)) return true;
      if (named && (!string() || (space(), !take(':')))) return false;
      if (!value(depth + 1)) return false;
      space();
      if (take(close)) return true;
      if (!take(',')) return false;
    }
  }
  bool value(int depth) {
    if (depth > kDeepest) return false;
    space();
    if (take('{')) return list(true, '}', depth);
    if (take('[')) return list(false, ']', depth);
    if (next() == '"') return string();
    return word("true") || word("false") || word("null") || number();
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

size_t json_zero(std::string_view text) {
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\0') return i;
    if (text[i] != '\\') continue;
    if (text.substr(i, 6) == "\\u0000") return i;
    i++;  // what a backslash escapes is not itself an escape
  }
  return text.npos;
}

size_t json_error(std::string_view text) { return Reader(text).error(); }

}  // namespace thunder
