#include "ir/dtype.h"

#include <array>

namespace thunder {
namespace {

constexpr std::array kDTypes = {
    DTypeInfo{DType::boolean, "bool", "bool", 1, Category::boolean},
    DTypeInfo{DType::u8, "u8", "uint8", 1, Category::integer},
    DTypeInfo{DType::i32, "i32", "int32", 4, Category::integer},
    DTypeInfo{DType::i64, "i64", "int64", 8, Category::integer},
    DTypeInfo{DType::bf16, "bf16", "bfloat16", 2, Category::real},
    DTypeInfo{DType::f32, "f32", "float32", 4, Category::real},
    DTypeInfo{DType::f64, "f64", "float64", 8, Category::real},
};

struct Alias {
  std::string_view name;
  DType dtype;
};
constexpr std::array kAliases = {
    Alias{"int", DType::i32},   Alias{"long", DType::i64},  Alias{"float", DType::f32},
    Alias{"double", DType::f64}, Alias{"boolean", DType::boolean},
};

const DTypeInfo* find(DType d) {
  for (auto& row : kDTypes)
    if (row.dtype == d) return &row;
  return nullptr;
}

}  // namespace

std::span<const DTypeInfo> all_dtypes() { return kDTypes; }
bool known(DType d) { return find(d) != nullptr; }

const DTypeInfo& info(DType d) {
  // Only dtypes that passed `known` at the boundary get here.
  const DTypeInfo* row = find(d);
  return row ? *row : kDTypes[0];
}

std::optional<DType> find_dtype(std::string_view text) {
  for (auto& row : kDTypes)
    if (row.name == text || row.pytorch == text) return row.dtype;
  for (auto& row : kAliases)
    if (row.name == text) return row.dtype;
  return std::nullopt;
}

namespace {

// The rows of the table are in promotion order, u8 with i32 included; the mixed cases of PyTorch's lattice that
// are not "the later of the two" do not occur among these seven.
DType later(DType a, DType b) { return find(a) > find(b) ? a : b; }

}  // namespace

void Promotion::add(DType dtype, Strength strength) {
  DType& widest = widest_[static_cast<size_t>(strength)];
  const DType d = strength == Strength::number ? tensor_dtype(dtype) : dtype;
  widest = widest == DType::none ? d : later(widest, d);
}

DType Promotion::dtype() const {
  DType result = DType::none;
  for (DType stronger : widest_) {
    if (stronger == DType::none) continue;
    // The stronger one stays what it is unless the weaker ones' category is higher.
    if (result == DType::none || info(stronger).category >= info(result).category) result = stronger;
  }
  return result;
}

}  // namespace thunder
