// The type of a value: all that is known of a tensor before it has data.
#pragma once

#include <string>

#include "base/hash.h"
#include "ir/device.h"
#include "ir/dtype.h"
#include "ir/shape.h"

namespace thunder {

struct TensorType {
  DType dtype = DType::none;
  Device device = Device::cpu;
  bool weak = false;  // came from a plain number: promotes by category only
  Shape shape;

  size_t rank() const { return shape.size(); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// Whether the bytes of a dense tensor of this type fit in 63 bits, by the sizes seen while tracing, where an axis
// without elements counts as one of 1: so strides fit too, and whatever else is a product of some of the sizes. No
// value of another type is made.
bool fits_in_memory(const TensorType&);

// How much its dtype counts among the operands of an operation.
inline Strength strength(const TensorType& t) {
  return t.weak ? Strength::number : t.rank() == 0 ? Strength::scalar : Strength::tensor;
}

inline uint64_t hash(const TensorType& t) {
  uint64_t h = mix(static_cast<uint64_t>(t.dtype) << 32 | static_cast<uint32_t>(t.device), t.shape.size() * 2 + t.weak);
  for (Dim d : t.shape)
    h = mix(h, d.constant() ? static_cast<uint64_t>(d.value()) : reinterpret_cast<uintptr_t>(d.expr()));
  return h;
}

// "f32[4, 8]"; the device when it is not the CPU; "~" after the dtype of a number.
inline void append(std::string& out, const TensorType* t) {
  if (t->device != Device::cpu) out += cat(name(t->device), " ");
  out += cat(name(t->dtype), t->weak ? "~" : "", name(t->shape));
}
inline Lazy<const TensorType*> name(const TensorType& t) { return Lazy(&t); }

}  // namespace thunder
