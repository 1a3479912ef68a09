#include "executors/cuda/kernels/cuda_text.h"

#include "base/text.h"
#include "executors/cuda/kernels/operands.h"
#include "loops/cuda/arithmetic.h"
#include "loops/cuda/prelude.h"

namespace thunder::kernels {
namespace {

// A C++ class for a 16-bit real, over the functions of kCudaNarrowReals.
std::string narrow_type(std::string_view name, std::string_view dtype) {
  return cat("struct ", name, " {\n  unsigned short bits;\n  ", name, "() = default;\n  __device__ ", name,
             "(float v) : bits(thunder_narrow::to_", dtype,
             "(v)) {}\n  __device__ operator float() const { return thunder_narrow::from_", dtype, "(bits); }\n};\n");
}

// The name of an element's type in CUDA C++.
std::string_view element_type(DType d) {
  switch (d) {
    case DType::boolean: return "bool";
    case DType::u8: return "unsigned char";
    case DType::u32: return "unsigned";
    case DType::u64: return "unsigned long long";
    case DType::i64: return "long long";
    case DType::bf16: return "bfloat16";
    case DType::f16: return "float16";
    case DType::none: return "void";
    default: return loops::register_type_name(d);
  }
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
  // CUDA's own headers have other names for these types.
  const bool narrow = before.find("float16") != before.npos || source.find("float16") != source.npos;
  if (narrow)
    before = cat("namespace thunder_narrow {\n", loops::kCudaNarrowReals, "}\n", narrow_type("bfloat16", "bf16"),
                 narrow_type("float16", "f16"), before);
  return cat(before, "#line 1 \"", function, ".cu\"\n", source);
}

}  // namespace thunder::kernels
