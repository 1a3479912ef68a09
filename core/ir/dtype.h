// Element types. The values are DLPack's code << 8 | bits, as in thunder.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace thunder {

enum class DType : int32_t {
  none = 0,
  boolean = 0x0608,
  u8 = 0x0108,
  i32 = 0x0020,
  i64 = 0x0040,
  bf16 = 0x0410,
  f32 = 0x0220,
  f64 = 0x0240,
};

// Promotion goes to the highest category first, then to the widest type in it.
enum class Category : uint8_t { boolean, integer, real };

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as printed in traces: "f32"
  std::string_view pytorch;  // as PyTorch calls it: "float32"
  uint8_t size;           // bytes of one element
  Category category;
};

std::span<const DTypeInfo> all_dtypes();
bool known(DType);
const DTypeInfo& info(DType);  // Requires: known(dtype)
inline std::string_view name(DType d) { return d == DType::none ? "none" : info(d).name; }
inline size_t size_of(DType d) { return info(d).size; }
inline bool is_real(DType d) { return info(d).category == Category::real; }
inline bool is_integer(DType d) { return info(d).category == Category::integer; }

// "f32", and PyTorch's "float32", "bfloat16", "int64", "long" ...
std::optional<DType> find_dtype(std::string_view name);

// PyTorch's promotion knows three strengths: what has a lower one counts only if its category is higher.
enum class Strength : uint8_t { number, scalar, tensor };  // a plain number, a 0-d tensor, a tensor with dimensions

// torch.result_type of any number of operands, in any order.
class Promotion {
 public:
  void add(DType dtype, Strength strength);
  // Requires: something was added.
  DType dtype() const;

 private:
  std::array<DType, 3> widest_{};  // of each strength; none: no operand has it
};

// What a plain number is once it is a tensor, as torch.tensor(number) has it.
inline DType tensor_dtype(DType number) { return is_real(number) ? DType::f32 : number; }

// What a division, a square root or a mean of this type gives: itself if real, else f32 (PyTorch's default dtype).
inline DType to_real(DType d) { return is_real(d) ? d : DType::f32; }
// The type in which a computation on it is carried out and from which it is rounded once.
inline DType compute_dtype(DType d) { return d == DType::bf16 ? DType::f32 : d; }

}  // namespace thunder
