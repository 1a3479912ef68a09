#include "ir/dim.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/checked.h"
#include "base/hash.h"
#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/post_order.h"

namespace thunder {
namespace {

// A dim as the product of a constant and another dim.
std::pair<int64_t, Dim> split_constant_factor(Dim d) {
  if (d.constant() || d.expr()->op != DimOp::mul) return {1, d};
  const DimExpr& e = *d.expr();
  return e.a.constant()   ? std::pair(e.a.value(), e.b)
         : e.b.constant() ? std::pair(e.b.value(), e.a)
                          : std::pair(int64_t{1}, d);
}

// A sum as its terms, each with a factor, the constant last; none where it has more than a few.
struct Sum {
  struct Term {
    Dim of;
    int64_t factor;
  };
  std::vector<Term> terms;
  int64_t constant = 0;
  size_t written = 0;  // terms and constants, before those of one kind were put together

  Sum(DimOp op, Dim a, Dim b) {
    constexpr size_t kMost = 16;
    std::vector<Term> open = {{b, op == DimOp::add ? 1 : -1}, {a, 1}};
    while (!open.empty() && written <= kMost) {
      const Term t = open.back();
      open.pop_back();
      const DimExpr* const e = t.of.expr();
      if (e && (e->op == DimOp::add || e->op == DimOp::sub)) {
        open.push_back({e->b, e->op == DimOp::add ? t.factor : -t.factor});
        open.push_back({e->a, t.factor});
        continue;
      }
      written += e || t.of.value() != 0;
      if (!e) constant = checked_add(constant, checked_mul(t.factor, t.of.value()));
      else add(t);
    }
    if (written > kMost) written = 0;
  }
  void add(const Term& t) {
    const auto [times, of] = split_constant_factor(t.of);
    const auto same = std::find_if(terms.begin(), terms.end(), [&](const Term& o) { return o.of == of; });
    if (same == terms.end()) terms.push_back({of, checked_mul(t.factor, times)});
    else same->factor = checked_add(same->factor, checked_mul(t.factor, times));
    std::erase_if(terms, [](const Term& o) { return o.factor == 0; });
  }
  bool shorter() const { return terms.size() + (constant != 0) < written; }
  Dim dim() const {
    Dim out = 0;
    for (const Term& t : terms) out = t.factor > 0 ? out + t.of * Dim(t.factor) : out - t.of * Dim(-t.factor);
    return constant >= 0 ? out + Dim(constant) : out - Dim(-constant);
  }
};

uint64_t formula_hash(const DimExpr& e) {
  const auto word = [](Dim d) { return d.constant() ? static_cast<uint64_t>(d.value()) : d.expr()->hash; };
  return mix(mix(word(e.a), static_cast<uint64_t>(e.op)), word(e.b));
}

}  // namespace

int64_t apply(DimOp op, int64_t a, int64_t b) {
  switch (op) {
    case DimOp::add: return checked_add(a, b);
    case DimOp::sub: return checked_sub(a, b);
    case DimOp::mul: return checked_mul(a, b);
    default:
      require(b > 0, "size ", a, " ", static_cast<char>(op), " ", b, ": the divisor must be positive");
      // Floor division, as in Python and Lua.
      return op == DimOp::div ? a / b - (a % b < 0) : a % b + (a % b < 0 ? b : 0);
  }
}

Dim apply(DimOp op, Dim a, Dim b) {
  if (a.constant() && b.constant()) return apply(op, a.value(), b.value());
  return (a.constant() ? b : a).expr()->owner->make(op, a, b);
}

Dim operator+(Dim a, Dim b) { return apply(DimOp::add, a, b); }
Dim operator-(Dim a, Dim b) { return apply(DimOp::sub, a, b); }
Dim operator*(Dim a, Dim b) { return apply(DimOp::mul, a, b); }
Dim operator/(Dim a, Dim b) { return apply(DimOp::div, a, b); }
Dim operator%(Dim a, Dim b) { return apply(DimOp::mod, a, b); }

void Dims::clear() {
  by_content_.clear(), exprs_.clear();
  symbols_ = 0;
}

Dim Dims::symbol(int64_t value) {
  DimExpr made{this, DimOp::symbol, Dim(static_cast<int64_t>(symbols_++)), Dim(), value, 0};
  made.hash = formula_hash(made);
  exprs_.push_back(std::make_unique<DimExpr>(made));
  return Dim(exprs_.back().get());
}

Dim Dims::make(DimOp op, Dim a, Dim b) {
  const bool turns = op == DimOp::add || op == DimOp::mul;
  if (turns && a.constant()) std::swap(a, b);  // 4 * s0 is s0 * 4
  if ((op == DimOp::add || op == DimOp::sub) && b.constant() && b.value() < 0 && b.value() != INT64_MIN)
    return make(op == DimOp::add ? DimOp::sub : DimOp::add, a, -b.value());  // s0 + -1 is s0 - 1
  if (op == DimOp::mul && (a == Dim(0) || b == Dim(0))) return 0;
  if ((op == DimOp::mul || op == DimOp::div) && b == Dim(1)) return a;
  if ((op == DimOp::add || op == DimOp::sub) && b == Dim(0)) return a;
  if (op == DimOp::sub && a == b) return 0;
  if (op == DimOp::mod && b == Dim(1)) return 0;
  const auto [times, of] = split_constant_factor(a);
  if (op == DimOp::mul && b.constant() && times != 1) return of * Dim(checked_mul(times, b.value()));
  if ((op == DimOp::div || op == DimOp::mod) && b.constant() && b.value() > 0 && !of.constant() &&
      times % b.value() == 0)
    return op == DimOp::mod ? Dim(0) : of * Dim(times / b.value());
  if (op == DimOp::add || op == DimOp::sub) {
    const auto [more, same] = split_constant_factor(b);
    if (of == same && !of.constant())
      return of * Dim(op == DimOp::add ? checked_add(times, more) : checked_sub(times, more));
    if (const Sum sum(op, a, b); sum.shorter()) return sum.dim();  // (s0 + 1) - 1 is s0
  }
  DimExpr wanted{this, op, a, b, 0, 0};
  if (auto it = by_content_.find(&wanted); it != by_content_.end()) return Dim(*it);
  if (const DimExpr turned{this, op, b, a, 0, 0}; turns)
    if (auto it = by_content_.find(&turned); it != by_content_.end()) return Dim(*it);
  const DimReads::Pause decides_nothing;
  wanted.hint = apply(op, hint(a), hint(b)), wanted.hash = formula_hash(wanted);
  exprs_.push_back(std::make_unique<DimExpr>(wanted));
  by_content_.insert(exprs_.back().get());
  return Dim(exprs_.back().get());
}

size_t Dims::Hash::operator()(const DimExpr* e) const {
  auto word = [](Dim d) {
    return d.constant() ? static_cast<uint64_t>(d.value())
                        : static_cast<uint64_t>(reinterpret_cast<uintptr_t>(d.expr()));
  };
  return mix(mix(word(e->a), static_cast<uint64_t>(e->op)), word(e->b));
}

int64_t Dims::evaluate(Dim d, const std::vector<int64_t>& symbols) {
  std::unordered_map<const DimExpr*, int64_t> known;
  // Empty: it is still to be computed.
  auto value = [&](Dim of) -> std::optional<int64_t> {
    if (of.constant()) return of.value();
    if (of.expr()->op == DimOp::symbol) return symbols.at(static_cast<size_t>(of.expr()->a.value()));
    auto it = known.find(of.expr());
    return it == known.end() ? std::nullopt : std::optional(it->second);
  };
  const auto make = [&](const DimExpr& e, int64_t a, int64_t b) { known[&e] = apply(e.op, a, b); };
  return evaluate_post_order(d, value, make);
}

int64_t Dim::read_hint(const DimExpr& expr) {
  if (DimReads* reads = DimReads::current()) reads->note(&expr);
  return expr.hint;
}

// The stack of what is still to be written: operands, and the text between and behind them.
void append(std::string& out, Dim d) {
  struct Part {
    Dim dim;
    char text = 0;  // instead of the dimension, unless 0
  };
  std::vector<Part> todo = {{d}};
  while (!todo.empty()) {
    const Part part = todo.back();
    todo.pop_back();
    if (part.text) {
      append(out, part.text);
    } else if (part.dim.constant()) {
      append(out, part.dim.value());
    } else if (const DimExpr& e = *part.dim.expr(); e.op == DimOp::symbol) {
      append(out, 's');
      append(out, e.a.value());
    } else {
      append(out, '(');
      todo.insert(todo.end(), {{{}, ')'}, {e.b}, {{}, static_cast<char>(e.op)}, {e.a}});
    }
  }
}

}  // namespace thunder
