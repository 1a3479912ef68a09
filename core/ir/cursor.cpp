#include "ir/cursor.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace thunder {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool alphanumeric(char c) { return letter(c) || digit(c); }

}  // namespace

void Cursor::skip() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) at_++;
}

// The next few characters, for a message.
std::string Cursor::shown() const {
  if (at_ >= text_.size()) return "the end of the line";
  size_t n = 1;
  if (alphanumeric(text_[at_]))
    while (n < 20 && at_ + n < text_.size() && alphanumeric(text_[at_ + n])) n++;
  std::string out = "'";
  for (char c : text_.substr(at_, n)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + "'";
}

bool Cursor::done() {
  skip();
  return at_ == text_.size();
}

bool Cursor::at(std::string_view token) {
  skip();
  return text_.substr(at_, token.size()) == token;
}

bool Cursor::accept(std::string_view token) {
  if (!at(token)) return false;
  at_ += token.size();
  return true;
}

bool Cursor::accept_word(std::string_view word) {
  if (!at(word)) return false;
  const size_t end = at_ + word.size();
  if (end < text_.size() && alphanumeric(text_[end])) return false;
  at_ = end;
  return true;
}

void Cursor::expect(std::string_view token) {
  if (!accept(token)) expected("'", token, "'");
}

bool Cursor::at_word() const { return at_ < text_.size() && letter(text_[at_]); }

std::string_view Cursor::word() {
  skip();
  if (!at_word()) expected("a name");
  const size_t from = at_;
  while (at_ < text_.size() && alphanumeric(text_[at_])) at_++;
  return text_.substr(from, at_ - from);
}

unsigned char Cursor::decimal_escape() {
  int value = 0;
  for (size_t n = 0; n < 3; n++, at_++) {
    if (at_ >= text_.size() || !digit(text_[at_])) bad("expected three digits after '\\'");
    value = value * 10 + (text_[at_] - '0');
  }
  if (value > 255) bad("'\\", value, "' is no byte");
  return static_cast<unsigned char>(value);
}

std::string Cursor::quoted() {
  expect("\"");
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    char c = text_[at_++];
    if (c != '\\') {
      out += c;
      continue;
    }
    const char escape = at_ < text_.size() ? text_[at_] : 0;
    if (digit(escape)) {
      out += static_cast<char>(decimal_escape());
      continue;
    }
    if (escape != '"' && escape != '\\' && escape != 'n') bad("unknown escape in a string");
    out += escape == 'n' ? '\n' : escape;
    at_++;
  }
  if (at_ >= text_.size()) bad("expected a closing '\"'");
  at_++;
  return out;
}

// Digits, letters, '.', and a sign after an exponent's letter.
std::string_view Cursor::number_token() {
  const size_t from = at_;
  const bool hex = text_.substr(at_, 2) == "0x";
  while (at_ < text_.size()) {
    const char c = text_[at_], before = at_ > from ? text_[at_ - 1] : ' ';
    const bool exponent = hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
    if (!alphanumeric(c) && c != '.' && !((c == '+' || c == '-') && exponent)) break;
    at_++;
  }
  return text_.substr(from, at_ - from);
}

bool Cursor::number(int64_t& i, double& f) {
  skip();
  const size_t from = at_;
  const bool minus = accept("-");
  if (accept_word("inf")) return f = (minus ? -1 : 1) * std::numeric_limits<double>::infinity(), false;
  if (accept_word("nan")) return f = std::numeric_limits<double>::quiet_NaN(), false;
  if (at_ >= text_.size() || !digit(text_[at_])) expected("a number");
  std::string_view token = number_token();
  const bool hex = token.substr(0, 2) == "0x";
  if (hex) token.remove_prefix(2);
  const char *begin = token.data(), *end = begin + token.size();
  uint64_t whole = 0;
  auto as_integer = std::from_chars(begin, end, whole, hex ? 16 : 10);
  if (as_integer.ptr == end && as_integer.ec == std::errc()) {
    const uint64_t most = hex ? UINT64_MAX : minus ? uint64_t{1} << 63 : INT64_MAX;
    if (whole <= most) return i = static_cast<int64_t>(minus ? 0 - whole : whole), true;
  }
  auto as_real = std::from_chars(begin, end, f, hex ? std::chars_format::hex : std::chars_format::general);
  // An integer that does not fit is refused rather than rounded.
  if (as_integer.ptr == end || as_real.ptr != end || as_real.ec != std::errc()) {
    at_ = from;
    bad("this number cannot be read: ", token.substr(0, 40));
  }
  if (minus) f = -f;
  return false;
}

int64_t Cursor::integer() {
  int64_t i = 0;
  double f = 0;
  const size_t from = at_;
  if (!number(i, f)) {
    at_ = from;
    expected("an integer");
  }
  return i;
}

uint32_t Cursor::count(uint32_t most) {
  const size_t from = at_;
  const int64_t i = integer();
  if (i < 0 || i > most) {
    at_ = from;
    bad("expected a number from 0 to ", most, ", got ", i);
  }
  return static_cast<uint32_t>(i);
}

std::string unescape_comment(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    const bool escape =
        text[i] == '\\' && i + 3 < text.size() && digit(text[i + 1]) && digit(text[i + 2]) && digit(text[i + 3]);
    if (!escape) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((text[i + 1] - '0') * 100 + (text[i + 2] - '0') * 10 + (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

}  // namespace thunder
