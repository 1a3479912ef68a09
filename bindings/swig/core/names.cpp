#include "names.h"

#include <cstdlib>

namespace thunder_swig {

namespace {
struct Row {
  thunder_dtype dtype;
  const char *name, *pytorchs;
};
constexpr Row kRows[] = {{THUNDER_BOOL, "bool", "bool"},     {THUNDER_U8, "u8", "uint8"},    {THUNDER_I8, "i8", "int8"},
                         {THUNDER_U16, "u16", "uint16"},     {THUNDER_I16, "i16", "int16"},  {THUNDER_U32, "u32", "uint32"},
                         {THUNDER_I32, "i32", "int32"},      {THUNDER_U64, "u64", "uint64"}, {THUNDER_I64, "i64", "int64"},
                         {THUNDER_BF16, "bf16", "bfloat16"}, {THUNDER_F16, "f16", "float16"}, {THUNDER_F32, "f32", "float32"},
                         {THUNDER_F64, "f64", "float64"}};
}  // namespace

std::string dtype_name(thunder_dtype dtype) {
  for (const Row& row : kRows)
    if (row.dtype == dtype) return row.name;
  return "";
}

thunder_dtype dtype_named(const std::string& name) {
  for (const Row& row : kRows)
    if (name == row.name || name == row.pytorchs) return row.dtype;
  return 0;
}

thunder_device device_named(const std::string& name) {
  if (name == "cpu") return THUNDER_CPU;
  if (name == "cuda") return THUNDER_CUDA(0);
  return name.rfind("cuda:", 0) == 0 ? THUNDER_CUDA(std::atoi(name.c_str() + 5)) : 0;
}

}  // namespace thunder_swig
