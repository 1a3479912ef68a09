// A strided view of memory, without a handle, as kernels get tensors. Its layout is frozen: it is thunder_buffer.
#pragma once

#include <cstdint>

#include "ir/device.h"
#include "ir/dtype.h"

namespace thunder {

struct Buffer {
  void* data = nullptr;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;  // in elements
  int32_t rank = 0;                  // -1: an optional input that is absent
  DType dtype = DType::none;
  Device device = Device::cpu;
  int32_t reserved = 0;

  int64_t elements() const {
    int64_t n = 1;
    for (int32_t i = 0; i < rank; i++) n *= shape[i];
    return n;
  }
  bool present() const { return rank >= 0; }
  template <class T>
  T* as() const { return static_cast<T*>(data); }
};
static_assert(sizeof(void*) != 8 || sizeof(Buffer) == 40);

}  // namespace thunder
