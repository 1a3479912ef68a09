// ONNX's numbers for dtypes.
#pragma once

#include <string_view>

#include "ir/dtype.h"

namespace thunder::onnx {

// Four-bit integers are held in bytes: packed two to a byte in files alone.
struct ElementType {
  int32_t number;
  std::string_view name;  // ONNX's, "FLOAT"
  DType dtype;            // none: there is no such dtype here
  int bits;               // in files
};

// Throws unimplemented for a dtype that we lack, data_lost for a number that is none. `what` is said first.
const ElementType& element_type(int32_t number, std::string_view what);
// The type of this number, or null.
const ElementType* find_element_type(int32_t number);
// ONNX's number for a dtype.
int32_t number_of(DType dtype);

}  // namespace thunder::onnx
