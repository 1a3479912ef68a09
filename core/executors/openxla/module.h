// A StableHLO module while it is written, in MLIR's generic form: operations over values, each of one type.
#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace thunder::openxla {

using Val = uint32_t;
using Ints = std::vector<int64_t>;

TensorType type_of(DType dtype, Ints shape);
Ints shape_of(const TensorType& type);
TensorType with_dtype(TensorType type, DType dtype);

class Module {
 public:
  const TensorType& type(Val v) const { return types_[v]; }
  DType dtype(Val v) const { return types_[v].dtype; }
  Ints shape(Val v) const { return shape_of(types_[v]); }

  Val add_argument(const TensorType& type);
  // `attributes` and `regions` as they stand between the braces and parentheses; "" for none.
  Val add_op(std::string_view name, std::span<const Val> operands, const TensorType& result,
             std::string_view attributes = "", std::string_view regions = "");
  std::vector<Val> add_ops(std::string_view name, std::span<const Val> operands, std::span<const TensorType> results,
                           std::string_view attributes = "", std::string_view regions = "");
  // A region whose block has arguments of these types and returns what `body` returns. Passed as `regions` above.
  using Body = std::function<std::vector<Val>(std::span<const Val>)>;
  std::string write_region(std::span<const TensorType> arguments, const Body& body);

  // Every element is the number.
  Val splat(double number, const TensorType& type);
  Val splat(int64_t number, const TensorType& type);

  // `main`, of the arguments, and where `aliases` of one more for each result, in whose memory it comes to lie.
  std::string text(std::span<const Val> results, bool aliases) const;

 private:
  Val add_value(const TensorType& type);
  Val literal(const std::string& number, const TensorType& type);

  std::deque<TensorType> types_;  // references to them stay
  std::vector<Val> arguments_;
  std::string body_;
};

std::string name_of(const TensorType& type);  // tensor<2x3xf32>
// Attributes.
std::string array_attribute(std::string_view name, std::span<const int64_t> list);  // NAME = array<i64: 1, 2>
std::string pairs_attribute(std::string_view name, std::span<const int64_t> low, std::span<const int64_t> high);

}  // namespace thunder::openxla
