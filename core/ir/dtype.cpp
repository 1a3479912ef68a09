#include "ir/dtype.h"

#include <array>

#include "base/text.h"

namespace thunder {
namespace {

struct Alias {
  std::string_view name;
  DType dtype;
};
constexpr std::array kAliases = {
    Alias{"int", DType::i32},    Alias{"long", DType::i64},        Alias{"float", DType::f32},
    Alias{"double", DType::f64}, Alias{"boolean", DType::boolean}, Alias{"half", DType::f16},
    Alias{"short", DType::i16},
};

}  // namespace

bool lossless(DType from, DType to) {
  const DTypeInfo &a = info(from), &b = info(to);
  return a.category <= b.category && (b.category != Category::boolean || from == to) && (!a.is_signed || b.is_signed) &&
         a.digits <= b.digits && a.largest <= b.largest;
}

std::optional<DType> find_dtype(std::string_view text) {
  for (auto& row : kDTypes)
    if (row.name == text || row.pytorch == text) return row.dtype;
  for (auto& row : kAliases)
    if (row.name == text) return row.dtype;
  return std::nullopt;
}

namespace {

// As in PyTorch, u16, u32 and u64 are promoted with reals only.
bool promotes_only_with_reals(const DTypeInfo& row) {
  return row.category == Category::integer && !row.is_signed && row.size > 1;
}

// torch.promote_types.
DType promote_pair(DType a, DType b) {
  if (a == b) return a;
  const DTypeInfo &x = info(a), &y = info(b);
  const bool real = x.category == Category::real || y.category == Category::real;
  require(real || !(promotes_only_with_reals(x) || promotes_only_with_reals(y)),
          "promotion of uint16, uint32 and uint64 with other integers or bool is not supported, got ", x.name, " and ",
          y.name, "; convert one of them");
  if (x.category != y.category) return x.category > y.category ? a : b;
  if (x.size == y.size) return x.beside;
  return x.size > y.size ? a : b;
}

}  // namespace

void Promotion::add(DType dtype, Strength strength) {
  DType& widest = widest_[static_cast<size_t>(strength)];
  const DType d = strength == Strength::number ? tensor_dtype(dtype) : dtype;
  widest = widest == DType::none ? d : promote_pair(widest, d);
}

DType Promotion::dtype() const {
  DType result = DType::none;
  for (DType stronger : widest_) {
    if (stronger == DType::none) continue;
    // The stronger operand's dtype is the result unless the weaker one's category is higher.
    if (result == DType::none || info(stronger).category >= info(result).category) result = stronger;
    else result = promote_pair(stronger, result);
  }
  return result;
}

}  // namespace thunder
