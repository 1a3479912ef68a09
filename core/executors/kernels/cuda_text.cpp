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

// f16 in memory, rounded to nearest even.
constexpr char kFloat16[] = R"(struct float16 {
  unsigned short bits;
  float16() = default;
#ifdef __CUDA_ARCH__
  __device__ float16(float v) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v)); }
  __device__ operator float() const {
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
    return v;
  }
#else
  float16(float v) {
    const _Float16 half = v;
    __builtin_memcpy(&bits, &half, 2);
  }
  operator float() const {
    _Float16 half;
    __builtin_memcpy(&half, &bits, 2);
    return half;
  }
#endif
};
)";

// What an element is called in CUDA C++.
std::string_view element_type(DType d) {
  switch (d) {
    case DType::boolean: return "bool";
    case DType::u8: return "unsigned char";
    case DType::i8: return "signed char";
    case DType::u16: return "unsigned short";
    case DType::i16: return "short";
    case DType::u32: return "unsigned";
    case DType::i32: return "int";
    case DType::u64: return "unsigned long long";
    case DType::i64: return "long long";
    case DType::bf16: return "bfloat16";
    case DType::f16: return "float16";
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::none: break;
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
  const auto needs = [&](const char* type, const char* header) {
    return (before.find(type) != before.npos || source.find(type) != source.npos) && source.find(header) == source.npos;
  };
  return cat(needs("bfloat16", "cuda_bf16.h") ? kBfloat16 : "", needs("float16", "cuda_fp16.h") ? kFloat16 : "", before,
             "#line 1 \"", function, ".cu\"\n", source);
}

}  // namespace thunder::kernels
