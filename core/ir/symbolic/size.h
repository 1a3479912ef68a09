// A size that code computes with as with a number. It may be a formula of symbols: then the result of a comparison is
// that of the sizes at hand, and a condition, where conditions are collected (DimReads::Of::lines).
#pragma once

#include <compare>

#include "ir/dim_reads.h"

namespace thunder {

class Size {
 public:
  constexpr Size() = default;
  template <std::integral T>
  constexpr Size(T number) : dim_(number) {}
  Size(Dim dim) : dim_(dim) {}

  Dim dim() const { return dim_; }
  bool is_number() const { return dim_.constant(); }
  // Of a formula the number that it was, which is noted as a read.
  int64_t value() const { return dim_.value(); }

  Size operator-() const { return Size(0) - *this; }
  Size& operator+=(const Size& b) { return *this = *this + b; }
  Size& operator-=(const Size& b) { return *this = *this - b; }
  Size& operator*=(const Size& b) { return *this = *this * b; }
  Size& operator/=(const Size& b) { return *this = *this / b; }

  // Of numbers as in C. A formula's division rounds down, and its divisor must be positive.
  friend Size operator+(const Size& a, const Size& b) {
    return are_numbers(a, b) ? Size(a.value() + b.value()) : Size(a.dim_ + b.dim_);
  }
  friend Size operator-(const Size& a, const Size& b) {
    return are_numbers(a, b) ? Size(a.value() - b.value()) : Size(a.dim_ - b.dim_);
  }
  friend Size operator*(const Size& a, const Size& b) {
    return are_numbers(a, b) ? Size(a.value() * b.value()) : Size(a.dim_ * b.dim_);
  }
  friend Size operator/(const Size& a, const Size& b) {
    return are_numbers(a, b) ? Size(a.value() / b.value()) : Size(a.dim_ / b.dim_);
  }
  friend Size operator%(const Size& a, const Size& b) {
    return are_numbers(a, b) ? Size(a.value() % b.value()) : Size(a.dim_ % b.dim_);
  }

  friend bool operator==(const Size& a, const Size& b) {
    return are_numbers(a, b) ? a.value() == b.value() : is_equal(a.dim_, b.dim_);
  }
  friend bool operator<(const Size& a, const Size& b) {
    return are_numbers(a, b) ? a.value() < b.value() : is_less(a.dim_, b.dim_);
  }
  friend bool operator>(const Size& a, const Size& b) { return b < a; }
  friend bool operator<=(const Size& a, const Size& b) { return !(b < a); }
  friend bool operator>=(const Size& a, const Size& b) { return !(a < b); }
  friend std::strong_ordering operator<=>(const Size& a, const Size& b) {
    return a == b ? std::strong_ordering::equal : a < b ? std::strong_ordering::less : std::strong_ordering::greater;
  }

 private:
  static bool are_numbers(const Size& a, const Size& b) { return a.is_number() && b.is_number(); }

  Dim dim_;
};

inline Size magnitude(const Size& s) { return s < 0 ? -s : s; }
inline int64_t magnitude(int64_t s) { return s < 0 ? -s : s; }

}  // namespace thunder
