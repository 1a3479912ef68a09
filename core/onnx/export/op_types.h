// The element types that ONNX's ops take: those of the standard which runtimes have, so that a model runs wherever
// one of its nodes does.
#pragma once

#include <optional>
#include <string_view>

#include "ir/dtype.h"

namespace thunder::onnx_export {

using DTypeSet = uint32_t;  // a bit for each row of kDTypes
constexpr DTypeSet bit(DType d) {
  return 1u << (&info(d) - kDTypes.data());
}

enum class ResultType : uint8_t { same, boolean, i64, same_and_i64 };

struct OpTypes {
  std::string_view op;
  DTypeSet types;     // of the operands below
  uint32_t operands;  // the inputs that have one type, by bit
  ResultType result = ResultType::same;
  int64_t since = 17;  // the first opset that has it so
  bool wraps = false;  // as right on other integers of the size: on u64 as on i64
  DTypeSet reducing = 0;  // the types with an attribute `reduction`; 0: it has none
};

// Throws unimplemented where opset is too early, internal where there is no row.
const OpTypes& op_types(std::string_view op, int64_t opset);

// The type in which the op computes on these; itself where it can. None: there is none that holds all of its numbers.
std::optional<DType> choose_compute_dtype(const OpTypes& types, DType dtype, bool reduces = false);

}  // namespace thunder::onnx_export
