// Arithmetic of sizes, strides, offsets and bytes. What does not fit in 64 bits is an error, never another number.
#pragma once

#include "base/text.h"

namespace thunder {

// Computes on, and remembers whether all of it fitted: for who words the error himself, or must not throw.
struct Checked {
  bool fits = true;

  int64_t add(int64_t a, int64_t b) {
    int64_t r = 0;
    fits &= !__builtin_add_overflow(a, b, &r);
    return r;
  }
  int64_t sub(int64_t a, int64_t b) {
    int64_t r = 0;
    fits &= !__builtin_sub_overflow(a, b, &r);
    return r;
  }
  int64_t mul(int64_t a, int64_t b) {
    int64_t r = 0;
    fits &= !__builtin_mul_overflow(a, b, &r);
    return r;
  }
  // Rounds up to a multiple of `to`. Requires: a >= 0, to > 0.
  int64_t round_up(int64_t a, int64_t to) { return add(a, to - 1) / to * to; }
};

[[noreturn]] void fail_size(int64_t a, char op, int64_t b);

// These throw, naming both numbers.
inline int64_t checked_add(int64_t a, int64_t b) {
  Checked c;
  const int64_t r = c.add(a, b);
  if (!c.fits) [[unlikely]] fail_size(a, '+', b);
  return r;
}
inline int64_t checked_sub(int64_t a, int64_t b) {
  Checked c;
  const int64_t r = c.sub(a, b);
  if (!c.fits) [[unlikely]] fail_size(a, '-', b);
  return r;
}
inline int64_t checked_mul(int64_t a, int64_t b) {
  Checked c;
  const int64_t r = c.mul(a, b);
  if (!c.fits) [[unlikely]] fail_size(a, '*', b);
  return r;
}

}  // namespace thunder
