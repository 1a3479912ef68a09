#include "ir/dim.h"

#include "base/text.h"

namespace thunder {
namespace {

int64_t fold(DimOp op, int64_t a, int64_t b) {
  int64_t r = 0;
  bool overflow = false;
  switch (op) {
    case DimOp::add: overflow = __builtin_add_overflow(a, b, &r); break;
    case DimOp::sub: overflow = __builtin_sub_overflow(a, b, &r); break;
    case DimOp::mul: overflow = __builtin_mul_overflow(a, b, &r); break;
    default:
      require(b > 0, "size ", a, " ", static_cast<char>(op), " ", b, ": the divisor must be positive");
      // Floor division, as in Python and Lua.
      r = op == DimOp::div ? a / b - (a % b < 0) : a % b + (a % b < 0 ? b : 0);
  }
  require(!overflow, "size ", a, " ", static_cast<char>(op), " ", b, " does not fit in 64 bits");
  return r;
}

Dim combine(DimOp op, Dim a, Dim b) {
  if (a.constant() && b.constant()) return fold(op, a.value(), b.value());
  return (a.constant() ? b : a).expr()->owner->make(op, a, b);
}

}  // namespace

Dim operator+(Dim a, Dim b) { return combine(DimOp::add, a, b); }
Dim operator-(Dim a, Dim b) { return combine(DimOp::sub, a, b); }
Dim operator*(Dim a, Dim b) { return combine(DimOp::mul, a, b); }
Dim operator/(Dim a, Dim b) { return combine(DimOp::div, a, b); }
Dim operator%(Dim a, Dim b) { return combine(DimOp::mod, a, b); }

Dim Dims::symbol(int64_t value) {
  exprs_.push_back(std::make_unique<DimExpr>(
      DimExpr{this, DimOp::symbol, Dim(static_cast<int64_t>(symbols_++)), Dim(), value}));
  return Dim(exprs_.back().get());
}

Dim Dims::make(DimOp op, Dim a, Dim b) {
  if (op == DimOp::mul && (a == Dim(0) || b == Dim(0))) return 0;
  if (op == DimOp::mul && a == Dim(1)) return b;
  if ((op == DimOp::mul || op == DimOp::div) && b == Dim(1)) return a;
  if (op == DimOp::add && a == Dim(0)) return b;
  if ((op == DimOp::add || op == DimOp::sub) && b == Dim(0)) return a;
  if (op == DimOp::sub && a == b) return 0;
  if (op == DimOp::mod && b == Dim(1)) return 0;
  for (auto& e : exprs_)
    if (e->op == op && e->a == a && e->b == b) return Dim(e.get());
  exprs_.push_back(std::make_unique<DimExpr>(DimExpr{this, op, a, b, fold(op, hint(a), hint(b))}));
  return Dim(exprs_.back().get());
}

int64_t Dims::evaluate(Dim d, const std::vector<int64_t>& symbols) {
  if (d.constant()) return d.value();
  const DimExpr& e = *d.expr();
  if (e.op == DimOp::symbol) return symbols.at(static_cast<size_t>(e.a.value()));
  return fold(e.op, evaluate(e.a, symbols), evaluate(e.b, symbols));
}

int64_t hint(Dim d) { return d.constant() ? d.value() : d.expr()->hint; }

void append(std::string& out, Dim d) {
  if (d.constant()) return append(out, d.value());
  const DimExpr& e = *d.expr();
  if (e.op == DimOp::symbol) return void(out += cat("s", e.a.value()));
  append(out, '(');
  append(out, e.a);
  append(out, static_cast<char>(e.op));
  append(out, e.b);
  append(out, ')');
}

}  // namespace thunder
