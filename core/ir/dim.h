// A dimension: a constant, or an expression over the symbols of one trace. Never a bare integer.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/text.h"

namespace thunder {

class Dims;
struct DimExpr;

class Dim {
 public:
  constexpr Dim() = default;
  template <std::integral T>
  constexpr Dim(T value) : value_(static_cast<int64_t>(value)) {}
  explicit Dim(const DimExpr* expr) : expr_(expr) {}

  bool constant() const { return expr_ == nullptr; }
  // The number; of a symbolic dim its hint, which is noted as a read (DimReads).
  int64_t value() const { return expr_ ? read_hint(*expr_) : value_; }
  const DimExpr* expr() const { return expr_; }

  // Whether both are the same expression, and so always equal. Different expressions may still be equal at run time.
  friend bool operator==(Dim a, Dim b) { return a.expr_ == b.expr_ && (a.expr_ || a.value_ == b.value_); }

 private:
  static int64_t read_hint(const DimExpr& expr);

  int64_t value_ = 0;
  const DimExpr* expr_ = nullptr;
};

enum class DimOp : char { symbol = 's', add = '+', sub = '-', mul = '*', div = '/', mod = '%' };

struct DimExpr {
  Dims* owner;
  DimOp op;
  Dim a, b;        // operands; a symbol's number is a
  int64_t hint;    // the value seen while tracing
  uint64_t hash;   // of the formula: equal for equal formulas of any trace
};

// The expressions of one trace, each kept once, so that equal expressions are one pointer. Their depth is bounded by
// memory alone: nothing here recurses.
class Dims {
 public:
  Dim symbol(int64_t hint);
  // Constant time.
  Dim make(DimOp op, Dim a, Dim b);
  // The value under an assignment of the symbols, in the order they were made. Linear in the number of different
  // expressions below it.
  static int64_t evaluate(Dim d, const std::vector<int64_t>& symbols);
  size_t symbols() const { return symbols_; }
  void clear();

 private:
  struct Hash {
    size_t operator()(const DimExpr* e) const;
  };
  struct Equal {
    bool operator()(const DimExpr* x, const DimExpr* y) const { return x->op == y->op && x->a == y->a && x->b == y->b; }
  };
  std::vector<std::unique_ptr<DimExpr>> exprs_;
  std::unordered_set<const DimExpr*, Hash, Equal> by_content_;
  size_t symbols_ = 0;
};

// Arithmetic folds constants; / is floor division. Throws on overflow and on division by zero.
Dim operator+(Dim, Dim);
Dim operator-(Dim, Dim);
Dim operator*(Dim, Dim);
Dim operator/(Dim, Dim);
Dim operator%(Dim, Dim);

// The same by name, of dims and of plain numbers. Requires: not a symbol.
Dim apply(DimOp op, Dim a, Dim b);
int64_t apply(DimOp op, int64_t a, int64_t b);

// The value if constant, the traced hint if symbolic, which is noted as a read (DimReads).
inline int64_t hint(Dim d) { return d.value(); }
void append(std::string& out, Dim);
inline Lazy<Dim> name(Dim d) { return Lazy<Dim>(d); }

}  // namespace thunder
