// The little of TVM's C interface, tvm-ffi, that is used, declared by hand: what c_api.h of the package apache-tvm-ffi
// has, whose minor version says when it changes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dlpack_abi.h"

namespace thunder::tvm {

constexpr uint32_t kMajorVersion = 0, kMinorVersion = 1;

struct Version {
  uint32_t major, minor, patch;
};

struct Bytes {
  const char* data;
  size_t size;
};

// The header of every reference-counted object.
struct Object {
  uint64_t references;
  int32_t type;
  uint32_t padding;
  void (*destroy)(void* self, int flags);
};

enum Type : int32_t {
  kNone = 0,
  kInteger = 1,
  kBoolean = 2,
  kText = 8,  // a `const char*` that the callee does not keep
  kFirstObject = 64,
  kError = 67,
  kFunction = 68,
  kTensor = 70,
  kArray = 71,
  kModule = 73,
};

// An argument, borrowed, or a result, owned.
struct Value {
  int32_t type = kNone;
  uint32_t padding = 0;
  union {
    int64_t integer = 0;
    const char* text;
    Object* object;
  };
};
static_assert(sizeof(Value) == 16);

struct TensorObject : Object {
  DLTensor tensor;
};
struct ArrayObject : Object {
  const Value* values;
  int64_t size;
};
struct ErrorObject : Object {
  Bytes kind, message, backtrace;
};

// The functions of libtvm_ffi.so; those that give an int give 0 on success, and else have raised an error.
struct Functions {
  void (*version)(Version* out);
  int (*find)(const Bytes* name, Object** out);
  int (*call)(Object* function, const Value* arguments, int32_t count, Value* result);
  int (*release)(Object* object);
  void (*take_error)(Object** out);
  int (*tensor_over)(DLManagedTensor* from, int32_t alignment, int32_t contiguous, Object** out);
};

// The alignment of tensors that TVM's compiled code relies on.
constexpr size_t kAlignment = 64;
constexpr int64_t kCpu = kDLPackCpu, kPooledMemory = 2;

}  // namespace thunder::tvm
