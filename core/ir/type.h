// The type of a value: what is known of a tensor before it has data.
#pragma once

#include <string>

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

// How much its dtype counts among the operands of an operation.
inline Strength strength(const TensorType& t) {
  return t.weak ? Strength::number : t.rank() == 0 ? Strength::scalar : Strength::tensor;
}

// "f32[4, 8]"; the device when it is not the CPU; "~" after the dtype of a number.
inline void append(std::string& out, const TensorType* t) {
  if (t->device != Device::cpu) out += cat(name(t->device), " ");
  out += cat(name(t->dtype), t->weak ? "~" : "", name(t->shape));
}
inline Lazy<const TensorType*> name(const TensorType& t) { return Lazy(&t); }

}  // namespace thunder
