// DLPack's structures, laid out as its specification fixes them; both the unversioned and the versioned one.
//
// They carry DLPack's names and live in the global namespace, so that the C API can forward-declare them and a
// program can bring its own dlpack.h: two translation units may define the same plain structs.
#pragma once

#include <cstddef>
#include <cstdint>

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(void*) != 8 || sizeof(DLTensor) == 48);
static_assert(sizeof(void*) != 8 || sizeof(DLManagedTensor) == 64);
static_assert(sizeof(void*) != 8 || sizeof(DLManagedTensorVersioned) == 80);
static_assert(sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4 && sizeof(DLPackVersion) == 8);
static_assert(sizeof(void*) != 8 || (offsetof(DLTensor, device) == 8 && offsetof(DLTensor, ndim) == 16 &&
                                     offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, shape) == 24 &&
                                     offsetof(DLTensor, strides) == 32 && offsetof(DLTensor, byte_offset) == 40));
static_assert(sizeof(void*) != 8 || (offsetof(DLManagedTensor, manager_ctx) == 48 &&
                                     offsetof(DLManagedTensor, deleter) == 56));
static_assert(sizeof(void*) != 8 ||
              (offsetof(DLManagedTensorVersioned, manager_ctx) == 8 &&
               offsetof(DLManagedTensorVersioned, deleter) == 16 && offsetof(DLManagedTensorVersioned, flags) == 24 &&
               offsetof(DLManagedTensorVersioned, dl_tensor) == 32));

namespace thunder {

constexpr uint32_t kDLPackMajor = 1, kDLPackMinor = 1;
constexpr uint64_t kDLPackReadOnly = 1;  // a bit of flags
constexpr int32_t kDLPackCpu = 1, kDLPackCuda = 2, kDLPackCudaHost = 3;

}  // namespace thunder
