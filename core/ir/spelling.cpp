#include "ir/spelling.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace thunder::spelling {
namespace {

constexpr std::array<std::string_view, 22> kKeywords = {
    "and", "break", "do",  "else", "elseif", "end",    "false", "for",  "function", "goto",  "if",
    "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};
// Names that have a meaning in the printed chunk itself.
constexpr std::array<std::string_view, 12> kTaken = {"t",  "p",   "c",   "i",      "u",     "op",
                                                     "inf", "nan", "cpu", "device", "table", "copy_"};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

bool identifier(std::string_view s) {
  if (s.empty() || !letter(s[0])) return false;
  if (!std::all_of(s.begin(), s.end(), [](char c) { return letter(c) || digit(c); })) return false;
  return std::find(kKeywords.begin(), kKeywords.end(), s) == kKeywords.end();
}

bool symbol(std::string_view s) { return s.size() > 1 && s[0] == 's' && std::all_of(s.begin() + 1, s.end(), digit); }

bool dtype_name(std::string_view s) {
  return std::any_of(all_dtypes().begin(), all_dtypes().end(), [&](auto& row) { return row.name == s; });
}

void append_escaped(std::string& out, unsigned char c) {
  const char digits[] = {'\\', static_cast<char>('0' + c / 100), static_cast<char>('0' + c / 10 % 10),
                         static_cast<char>('0' + c % 10)};
  out.append(digits, 4);
}

bool control(unsigned char c) { return c < 0x20 || c == 0x7f; }

}  // namespace

bool is_bare(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('.'));
  if (std::find(kTaken.begin(), kTaken.end(), first) != kTaken.end()) return false;
  if (first == "cuda" || symbol(first) || dtype_name(first)) return false;
  for (size_t at = 0;;) {
    const size_t dot = name.find('.', at);
    if (!identifier(name.substr(at, dot - at))) return false;
    if (dot == name.npos) return true;
    at = dot + 1;
  }
}

void append_real(std::string& out, double v) {
  if (std::isnan(v)) return append(out, "nan");
  if (std::signbit(v)) out += '-';
  if (std::isinf(v)) return append(out, "inf");
  std::array<char, 32> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(v), std::chars_format::hex).ptr;
  out += "0x";
  out.append(buffer.data(), end);
}

void append_integer(std::string& out, int64_t v) {
  // Lua reads -9223372036854775808 as the negation of a float; hex integers wrap.
  if (v == INT64_MIN) return append(out, "0x8000000000000000");
  append(out, v);
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (c == '\n') out += "\\n";
    else if (control(static_cast<unsigned char>(c))) append_escaped(out, static_cast<unsigned char>(c));
    else out += c;
  }
  out += '"';
}

void append_comment(std::string& out, std::string_view text) {
  for (char c : text) {
    if (control(static_cast<unsigned char>(c)) || c == '\\') append_escaped(out, static_cast<unsigned char>(c));
    else out += c;
  }
}

void append_device(std::string& out, Device d) {
  if (d == Device::cpu) out += "cpu";
  else if (kind(d) == 2) out += cat("cuda(", index(d), ")");
  else out += cat("device(", kind(d), ", ", index(d), ")");
}

// Recursion is bounded by how deep the tracer and the parser let an expression of sizes get.
void append_dim(std::string& out, Dim d, std::span<const std::string> symbol_names) {
  if (d.constant()) return append_integer(out, d.value());
  const DimExpr& e = *d.expr();
  if (e.op == DimOp::symbol) {
    const auto number = static_cast<size_t>(e.a.value());
    const bool named = number < symbol_names.size() && !symbol_names[number].empty();
    return append(out, named ? symbol_names[number] : cat("s", number));
  }
  out += '(';
  append_dim(out, e.a, symbol_names);
  out += e.op == DimOp::div ? std::string(" // ") : cat(" ", static_cast<char>(e.op), " ");
  append_dim(out, e.b, symbol_names);
  out += ')';
}

void append_type(std::string& out, const TensorType& t) {
  if (t.device != Device::cpu) {
    append_device(out, t.device);
    out += ' ';
  }
  out += name(t.dtype);
  if (t.weak) out += '~';
  out += '[';
  for (size_t i = 0; i < t.rank(); i++) {
    if (i) out += ", ";
    append_dim(out, t.shape[i]);
  }
  out += ']';
}

}  // namespace thunder::spelling
