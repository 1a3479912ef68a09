// The conditions of rewrite rules, such as "b.dtype == f32 and a.rank > 0": parsed once, and evaluated for the
// arguments that a rule's variables are bound to.
#pragma once

#include <string>
#include <vector>

#include "ir/cursor.h"
#include "passes/rewrite.h"

namespace thunder {

// One comparison. It is false if it needs a property of an argument that is no tensor.
class Guard {
 public:
  // Throws with the column at an unknown variable, property, dtype or comparison.
  Guard(Cursor& cursor, const std::vector<std::string>& variables);
  bool holds(const Rewriter& rewriter, std::span<const Arg> bound) const;

 private:
  enum class Kind : uint8_t { number, dtype, rank, numel, size, dtype_of };
  struct Side {
    Kind kind = Kind::number;
    uint32_t variable = 0;
    int64_t number = 0;  // a number, an axis, or a dtype
  };
  static Side read_side(Cursor& cursor, const std::vector<std::string>& variables);
  static bool is_dtype(const Side& s) { return s.kind == Kind::dtype || s.kind == Kind::dtype_of; }
  static bool value(const Side& side, const Rewriter& rewriter, std::span<const Arg> bound, int64_t& out);

  Side left_, right_;
  uint8_t comparison_ = 0;
};

}  // namespace thunder
