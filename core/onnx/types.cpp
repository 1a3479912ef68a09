#include "onnx/types.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace thunder::onnx {
namespace {

constexpr std::array kTypes = {
    ElementType{1, "FLOAT", DType::f32, 32},
    ElementType{2, "UINT8", DType::u8, 8},
    ElementType{3, "INT8", DType::i8, 8},
    ElementType{4, "UINT16", DType::u16, 16},
    ElementType{5, "INT16", DType::i16, 16},
    ElementType{6, "INT32", DType::i32, 32},
    ElementType{7, "INT64", DType::i64, 64},
    ElementType{8, "STRING", DType::none, 0},
    ElementType{9, "BOOL", DType::boolean, 8},
    ElementType{10, "FLOAT16", DType::f16, 16},
    ElementType{11, "DOUBLE", DType::f64, 64},
    ElementType{12, "UINT32", DType::u32, 32},
    ElementType{13, "UINT64", DType::u64, 64},
    ElementType{14, "COMPLEX64", DType::none, 64},
    ElementType{15, "COMPLEX128", DType::none, 128},
    ElementType{16, "BFLOAT16", DType::bf16, 16},
    ElementType{17, "FLOAT8E4M3FN", DType::none, 8},
    ElementType{18, "FLOAT8E4M3FNUZ", DType::none, 8},
    ElementType{19, "FLOAT8E5M2", DType::none, 8},
    ElementType{20, "FLOAT8E5M2FNUZ", DType::none, 8},
    ElementType{21, "UINT4", DType::u8, 4},
    ElementType{22, "INT4", DType::i8, 4},
    ElementType{23, "FLOAT4E2M1", DType::none, 4},
    ElementType{24, "FLOAT8E8M0", DType::none, 8},
    ElementType{25, "UINT2", DType::u8, 2},
    ElementType{26, "INT2", DType::i8, 2},
};

}  // namespace

const ElementType* find_element_type(int32_t number) {
  const auto it = std::find_if(kTypes.begin(), kTypes.end(), [&](auto& t) { return t.number == number; });
  return it == kTypes.end() ? nullptr : &*it;
}

const ElementType& element_type(int32_t number, std::string_view what) {
  const ElementType* t = find_element_type(number);
  if (!t) fail(Code::data_lost, what, " has the dtype ", number, ", which ONNX does not have");
  if (t->dtype == DType::none)
    fail(Code::unimplemented, what, " is of ", t->name, "; tensors here are of integers, booleans, float16, bfloat16, ",
         "float and double");
  return *t;
}

int32_t number_of(DType dtype) {
  const auto it = std::find_if(kTypes.begin(), kTypes.end(), [&](auto& t) { return t.dtype == dtype; });
  return it == kTypes.end() ? 0 : it->number;
}

}  // namespace thunder::onnx
