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

// "f32[4, 8]"; the device when it is not the CPU; "~" after the dtype of a number.
inline std::string name(const TensorType& t) {
  std::string where = t.device == Device::cpu ? "" : cat(name(t.device), " ");
  return cat(where, name(t.dtype), t.weak ? "~" : "", name(t.shape));
}

}  // namespace thunder
