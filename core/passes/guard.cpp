#include "passes/guard.h"

#include <algorithm>

namespace thunder {
namespace {

// Longer ones first, since the first match is taken.
constexpr std::string_view kComparisons[] = {"==", "!=", "<=", ">=", "<", ">"};

}  // namespace

Guard::Side Guard::read_side(Cursor& cursor, const std::vector<std::string>& variables) {
  Side side;
  cursor.at("");
  if (!cursor.at_word()) {
    side.number = cursor.integer();
    return side;
  }
  const std::string word(cursor.word());
  if (!cursor.accept(".")) {
    const auto dtype = find_dtype(word);
    if (!dtype) cursor.bad("expected VARIABLE.PROPERTY, a dtype or an integer, got '", word, "'");
    side.kind = Kind::dtype, side.number = static_cast<int64_t>(*dtype);
    return side;
  }
  auto it = std::find(variables.begin(), variables.end(), word);
  if (it == variables.end()) cursor.bad("'", word, "' does not occur on the left");
  side.variable = static_cast<uint32_t>(it - variables.begin());
  const std::string_view property = cursor.word();
  if (property == "dtype") side.kind = Kind::dtype_of;
  else if (property == "rank") side.kind = Kind::rank;
  else if (property == "numel") side.kind = Kind::numel;
  else if (property == "size") {
    side.kind = Kind::size;
    cursor.expect("(");
    side.number = cursor.integer();
    cursor.expect(")");
  } else {
    cursor.bad("a guard knows .dtype, .rank, .numel and .size(AXIS), not '.", property, "'");
  }
  return side;
}

Guard::Guard(Cursor& cursor, const std::vector<std::string>& variables) : left_(read_side(cursor, variables)) {
  auto it = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                         [&](std::string_view c) { return cursor.accept(c); });
  if (it == std::end(kComparisons)) cursor.expected("a comparison");
  comparison_ = static_cast<uint8_t>(it - std::begin(kComparisons));
  right_ = read_side(cursor, variables);
  if (is_dtype(left_) != is_dtype(right_)) cursor.bad("a dtype is compared with a number");
  if (is_dtype(left_) && comparison_ > 1) cursor.bad("dtypes are equal or not: only == and != compare them");
}

bool Guard::value(const Side& side, const Rewriter& rewriter, std::span<const Arg> bound, int64_t& out) {
  out = side.number;
  if (side.kind == Kind::number || side.kind == Kind::dtype) return true;
  const Arg& arg = bound[side.variable];
  if (arg.kind != ArgKind::value) return false;
  const TensorType& type = rewriter.type(arg.v);
  if (side.kind == Kind::dtype_of) return out = static_cast<int64_t>(type.dtype), true;
  if (side.kind == Kind::rank) return out = static_cast<int64_t>(type.rank()), true;
  if (side.kind == Kind::numel) {
    out = 1;
    for (Dim d : type.shape) out *= hint(d);
    return true;
  }
  const auto rank = static_cast<int64_t>(type.rank()), axis = side.number < 0 ? side.number + rank : side.number;
  if (axis < 0 || axis >= rank) return false;
  return out = hint(type.shape[static_cast<size_t>(axis)]), true;
}

bool Guard::holds(const Rewriter& rewriter, std::span<const Arg> bound) const {
  int64_t a = 0, b = 0;
  if (!value(left_, rewriter, bound, a) || !value(right_, rewriter, bound, b)) return false;
  const bool answers[] = {a == b, a != b, a <= b, a >= b, a < b, a > b};
  return answers[comparison_];
}

}  // namespace thunder
