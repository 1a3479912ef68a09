#include "executors/kernels/cuda_text.h"

#include "base/text.h"
#include "executors/kernels/operands.h"

namespace thunder::kernels {
namespace {

// bf16 in memory: the upper half of a float, rounded to nearest even.
constexpr char kBfloat16[] = R"(struct bfloat16 {
  unsigned short bits;
  bfloat16() = default;
  __device__ bfloat16(float v) {
    const unsigned b = __float_as_uint(v);
    bits = (unsigned short)((v != v ? b | 0x400000u : b + 0x7fffu + (b >> 16 & 1u)) >> 16);
  }
  __device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
};
)";

// What an element is called in CUDA C++.
std::string_view element_type(DType d) {
  switch (d) {
    case DType::boolean:
      return "bool";
    case DType::u8:
      return "unsigned char";
    case DType::i32:
      return "int";
    case DType::i64:
      return "long long";
    case DType::bf16:
      return "bfloat16";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::none:
      break;
  }
  return "void";
}

}  // namespace

std::string cuda_text(const std::string& source, const std::string& function, const NodeView& view) {
  const Schema& schema = view.node.op->schema;
  std::string before;
  const auto type_of = [&](std::string_view name, DType d) {
    if (source.find(cat(name, "_t")) != std::string::npos)
      before += cat("typedef ", element_type(d), " ", name, "_t;\n");
  };
  for (size_t i = 0; i < schema.params.size(); i++)
    if (view.node.args[i].kind == ArgKind::value)
      type_of(schema.params[i].name, view.store.type(view.node.args[i].v).dtype);
  for (size_t i = 0; i < view.node.results.size() && !schema.lists(); i++)
    type_of(result_name(schema, i), view.store.type(view.node.results[i]).dtype);
  const bool converts =
      cat(before, source).find("bfloat16") != std::string::npos && source.find("cuda_bf16.h") == std::string::npos;
  return cat(converts ? kBfloat16 : "", before, "#line 1 \"", function, ".cu\"\n", source);
}

}  // namespace thunder::kernels
