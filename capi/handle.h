// Handles and objects: a handle is a pointer to our object under another name, and the public structures are ours.
#pragma once

#include <cstddef>

#include "executors/executor.h"
#include "thunder.h"
#include "tracer/scope.h"

namespace thunder::capi {

// core(handle) is the object, handle(object) the handle; const stays const.
#define THUNDER_HANDLE(name, Type)                                                    \
  inline Type* core(name* h) { return reinterpret_cast<Type*>(h); }                   \
  inline const Type* core(const name* h) { return reinterpret_cast<const Type*>(h); } \
  inline name* handle(Type* p) { return reinterpret_cast<name*>(p); }                 \
  inline const name* handle(const Type* p) { return reinterpret_cast<const name*>(p); }
// The same for reference-counted objects, with functions that add a reference, release one, and give one to the caller.
#define THUNDER_COUNTED_HANDLE(name, Type) \
  THUNDER_HANDLE(name, Type)               \
  inline name* retained(name* h) {         \
    if (h) core(h)->retain();              \
    return h;                              \
  }                                        \
  inline void released(name* h) {          \
    if (h) core(h)->release();             \
  }                                        \
  inline name* given(Ref<Type> object) { return handle(object.detach()); }

THUNDER_COUNTED_HANDLE(thunder_status, Status)
THUNDER_COUNTED_HANDLE(thunder_tensor, Tensor)
THUNDER_COUNTED_HANDLE(thunder_values, Values)
THUNDER_HANDLE(thunder_scope, Scope)
THUNDER_HANDLE(thunder_any, Any)
THUNDER_HANDLE(thunder_launch, Launch)

static_assert(sizeof(thunder_any) == sizeof(Any) && offsetof(thunder_any, count) == offsetof(Any, count) &&
              offsetof(thunder_any, u) == offsetof(Any, i));
static_assert(sizeof(thunder_buffer) == sizeof(Buffer) &&
              offsetof(thunder_buffer, strides) == offsetof(Buffer, strides) &&
              offsetof(thunder_buffer, rank) == offsetof(Buffer, rank) &&
              offsetof(thunder_buffer, dtype) == offsetof(Buffer, dtype) &&
              offsetof(thunder_buffer, device) == offsetof(Buffer, device));
static_assert(sizeof(thunder_launch) == sizeof(Launch) &&
              offsetof(thunder_launch, inputs) == offsetof(Launch, inputs) &&
              offsetof(thunder_launch, outputs) == offsetof(Launch, outputs) &&
              offsetof(thunder_launch, scratch) == offsetof(Launch, scratch) &&
              offsetof(thunder_launch, native_stream) == offsetof(Launch, native_stream) &&
              offsetof(thunder_launch, parallel_for) == offsetof(Launch, parallel_for) &&
              offsetof(thunder_launch, threads) == offsetof(Launch, threads) &&
              offsetof(thunder_launch, follower) == offsetof(Launch, epilogue));

template <class Ours>
constexpr bool same(int32_t theirs, Ours ours) {
  return theirs == static_cast<int32_t>(ours);
}
static_assert(same(THUNDER_NONE, ArgKind::none) && same(THUNDER_TENSOR, ArgKind::value) &&
              same(THUNDER_INT, ArgKind::integer) && same(THUNDER_FLOAT, ArgKind::real) &&
              same(THUNDER_BOOLEAN, ArgKind::boolean) && same(THUNDER_STRING, ArgKind::string) &&
              same(THUNDER_DIMS, ArgKind::dims) && same(THUNDER_FLOATS, ArgKind::reals) &&
              same(THUNDER_TENSORS, ArgKind::values) && same(THUNDER_DTYPE, ArgKind::dtype) &&
              same(THUNDER_DEVICE, ArgKind::device));
static_assert(same(THUNDER_OK, Code::ok) && same(THUNDER_INVALID_ARGUMENT, Code::invalid_argument) &&
              same(THUNDER_NOT_FOUND, Code::not_found) && same(THUNDER_OUT_OF_MEMORY, Code::out_of_memory) &&
              same(THUNDER_FAILED_PRECONDITION, Code::failed_precondition) &&
              same(THUNDER_UNIMPLEMENTED, Code::unimplemented) && same(THUNDER_INTERNAL, Code::internal) &&
              same(THUNDER_DATA_LOST, Code::data_lost) && same(THUNDER_DECLINED, Code::declined) &&
              same(THUNDER_PROXY_HAS_NO_DATA, Code::proxy_has_no_data) && same(THUNDER_EXPIRED, Code::expired) &&
              same(THUNDER_CALLBACK, Code::callback) && same(THUNDER_BACKEND, Code::backend));
static_assert(same(THUNDER_BOOL, DType::boolean) && same(THUNDER_U8, DType::u8) && same(THUNDER_I8, DType::i8) &&
              same(THUNDER_U16, DType::u16) && same(THUNDER_I16, DType::i16) && same(THUNDER_U32, DType::u32) &&
              same(THUNDER_I32, DType::i32) && same(THUNDER_U64, DType::u64) && same(THUNDER_I64, DType::i64) &&
              same(THUNDER_BF16, DType::bf16) && same(THUNDER_F16, DType::f16) && same(THUNDER_F32, DType::f32) &&
              same(THUNDER_F64, DType::f64) && same(THUNDER_CPU, Device::cpu));
static_assert(same(THUNDER_EXECUTOR_STRIDED, kStrided) && same(THUNDER_EXECUTOR_CALLER_THREAD, kCallerThread));

}  // namespace thunder::capi
