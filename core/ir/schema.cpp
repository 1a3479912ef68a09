#include "ir/schema.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cstring>

#include "base/hash.h"
#include "base/text.h"

namespace thunder {
namespace {

struct KindName {
  std::string_view name;
  ParamKind kind;
};
constexpr std::array kKinds = {
    KindName{"tensor", ParamKind::tensor}, KindName{"tensor[]", ParamKind::tensors},
    KindName{"int", ParamKind::integer},   KindName{"float", ParamKind::real},
    KindName{"bool", ParamKind::boolean},  KindName{"str", ParamKind::string},
    KindName{"int[]", ParamKind::dims},    KindName{"float[]", ParamKind::reals},
    KindName{"dtype", ParamKind::dtype},   KindName{"device", ParamKind::device},
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool accept(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) bad(cat("expected '", token, "'"));
  }
  std::string_view word() {
    skip();
    size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.'))
      at_++;
    if (from == at_) bad("expected a name");
    return text_.substr(from, at_ - from);
  }
  std::string_view quoted() {
    size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) bad("expected a closing quote");
    auto inside = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inside;
  }
  Arg number() {
    skip();
    int64_t i = 0;
    double f = 0;
    const char* from = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    auto as_int = std::from_chars(from, end, i);
    auto as_real = std::from_chars(from, end, f);
    if (as_real.ec != std::errc()) bad("expected a default value");
    const bool integer = as_int.ptr == as_real.ptr;
    if (integer && as_int.ec != std::errc()) bad("an integer that does not fit in 64 bits");
    at_ = static_cast<size_t>(as_real.ptr - text_.data());
    return integer ? Arg::integer(i) : Arg::real(f);
  }
  ParamKind kind() {
    auto w = word();
    std::string full(w);
    if (accept("[]")) full += "[]";
    for (auto& row : kKinds)
      if (row.name == full) return row.kind;
    bad(cat("unknown kind '", full, "'"));
  }
  bool at(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool done() {
    skip();
    return at_ == text_.size();
  }
  [[noreturn]] void bad(std::string_view what) {
    fail(Code::invalid_argument, "schema \"", text_, "\": ", what, " at column ", at_ + 1);
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
  }
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string_view kind_name(ParamKind k) {
  for (auto& row : kKinds)
    if (row.kind == k) return row.name;
  return "?";
}

int Schema::find(std::string_view param) const {
  for (size_t i = 0; i < params.size(); i++)
    if (params[i].name == param) return static_cast<int>(i);
  return -1;
}

// The items of a default list, behind its "[".
static std::vector<Arg> list_items(Scanner& scan, ParamKind kind) {
  std::vector<Arg> items;
  while (!scan.accept("]")) {
    if (kind == ParamKind::tensors) scan.bad("expected ']': a default list of tensors is empty");
    if (!items.empty()) scan.expect(",");
    items.push_back(scan.number());
    if (kind == ParamKind::dims && items.back().kind != ArgKind::integer) scan.bad("expected an integer");
  }
  return items;
}

static void read_results(Scanner& scan, Schema& schema) {
  scan.expect("->");
  if (!scan.accept("(")) return schema.results.push_back(scan.kind());
  do {
    schema.results.push_back(scan.kind());
    if (scan.accept("?")) schema.optional_results++;
    else if (schema.optional_results) scan.bad("expected '?': results that may be missing stand last");
    if (!scan.at(',') && !scan.at(')')) schema.result_names.emplace_back(scan.word());
  } while (scan.accept(","));
  scan.expect(")");
  if (schema.optional_results == schema.results.size()) scan.bad("the first result is always there");
  if (!schema.result_names.empty() && schema.result_names.size() != schema.results.size())
    scan.bad("some results have names, others none");
}

Schema parse_schema(std::string_view text) {
  Scanner scan(text);
  Schema schema;
  schema.text = text;
  schema.name = scan.word();
  auto keep = [&](std::string_view s) {
    auto copy = std::make_unique<char[]>(s.size() + 1);
    std::memcpy(copy.get(), s.data(), s.size());
    schema.strings_.push_back(std::move(copy));
    return Arg::string({schema.strings_.back().get(), s.size()});
  };
  auto list = [&](ParamKind kind) {
    const std::vector<Arg> items = list_items(scan, kind);
    if (kind == ParamKind::tensors) return Arg::values({});
    const size_t n = items.size();
    if (kind == ParamKind::reals) {
      auto& reals = schema.reals_.emplace_back(std::make_unique<double[]>(n + 1));
      for (size_t i = 0; i < n; i++)
        reals[i] = items[i].kind == ArgKind::integer ? static_cast<double>(items[i].i) : items[i].f;
      return Arg::reals({reals.get(), n});
    }
    auto& dims = schema.dims_.emplace_back(std::make_unique<Dim[]>(n + 1));
    for (size_t i = 0; i < n; i++) dims[i] = items[i].i;
    return Arg::dims({dims.get(), n});
  };
  auto fallback = [&](const Param& p) -> Arg {
    const ParamKind k = p.kind;
    if (p.optional && scan.accept("None")) return Arg::none();
    if (k == ParamKind::boolean && scan.accept("True")) return Arg::boolean(true);
    if (k == ParamKind::boolean && scan.accept("False")) return Arg::boolean(false);
    if (k == ParamKind::string && scan.accept("'")) return keep(scan.quoted());
    const bool listed = k == ParamKind::dims || k == ParamKind::reals || k == ParamKind::tensors;
    if (listed && scan.accept("[")) return list(k);
    if (k != ParamKind::integer && k != ParamKind::real && !p.number)
      scan.bad(cat("expected a default of kind ", kind_name(k), p.optional ? " or None" : ""));
    Arg a = scan.number();
    if (k == ParamKind::real && a.kind == ArgKind::integer) return Arg::real(static_cast<double>(a.i));
    if (k == ParamKind::integer && a.kind == ArgKind::real) scan.bad("expected an integer");
    return a;
  };
  scan.expect("(");
  while (!scan.accept(")")) {
    if (!schema.params.empty()) scan.expect(",");
    Param p;
    p.kind = scan.kind();
    p.number = p.kind == ParamKind::tensor && scan.accept("|number");
    p.text = p.kind == ParamKind::dims && scan.accept("|str");
    p.optional = scan.accept("?");
    p.name = scan.word();
    if (schema.find(p.name) >= 0) scan.bad(cat("a second parameter '", p.name, "'"));
    if (scan.accept("=")) {
      p.has_default = true;
      p.fallback = fallback(p);
    }
    schema.params.push_back(std::move(p));
  }
  read_results(scan, schema);
  if (!scan.done()) scan.bad("unexpected text");
  return schema;
}

bool same(const Arg& a, const Arg& b) {
  if (a.kind != b.kind || a.count != b.count) return false;
  switch (a.kind) {
    case ArgKind::string: return a.text() == b.text();
    case ArgKind::dims: return std::equal(a.d, a.d + a.count, b.d);
    case ArgKind::reals: return !std::memcmp(a.fs, b.fs, a.count * sizeof(double));
    case ArgKind::values: return std::equal(a.vs, a.vs + a.count, b.vs);
    default: return a.i == b.i;
  }
}

uint64_t hash(const Arg& a, uint64_t seed) {
  uint64_t h = mix(seed, static_cast<uint64_t>(a.kind) << 32 | a.count);
  switch (a.kind) {
    case ArgKind::string: return hash_bytes(a.s, a.count, h);
    case ArgKind::reals: return hash_bytes(a.fs, a.count * sizeof(double), h);
    case ArgKind::values: return hash_bytes(a.vs, a.count * sizeof(ValueId), h);
    case ArgKind::dims:
      for (Dim d : a.dim_list())
        h = mix(h, d.constant() ? static_cast<uint64_t>(d.value()) : d.expr()->hash);
      return h;
    case ArgKind::symbolic: return mix(h, a.e->hash);
    default: return mix(h, static_cast<uint64_t>(a.i));
  }
}

}  // namespace thunder
