// Handles and objects. A handle is a word of base/handle_table.h under the name of an opaque structure; a status alone
// is the object itself, since kernels and thread pools hand statuses on as they are. Plain structures are ours under
// another name.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include "executors/executor.h"
#include "thunder.h"
#include "tracer/scope.h"

namespace thunder::capi {

// The kinds of handles, with what messages call one.
#define THUNDER_HANDLE_KINDS(X)                                                                                    \
  X(status, "a status")                                                                                            \
  X(context, "a context")                                                                                          \
  X(tensor, "a tensor") X(values, "values") X(scope, "a scope") X(function, "a function")                          \
      X(compiled, "a compiled function") X(options, "options") X(executor, "an executor") X(pass, "a pass")        \
          X(trace, "a trace") X(module, "a module") X(optimizer, "an optimizer") X(schedule, "a schedule")         \
              X(batches, "batches") X(mesh, "a mesh") X(stream, "a stream") X(event, "an event") X(node, "a node") \
                  X(types, "types") X(editor, "an editor")
enum class HandleKind : uint8_t {
  none,
#define THUNDER_KIND(name, words) name,
  THUNDER_HANDLE_KINDS(THUNDER_KIND)
#undef THUNDER_KIND
      count
};

// Which object a handle stands for: `Object`, and its `kind`. Of other types: nothing.
template <class H>
struct HandleOf;
template <class H>
concept IsHandle = requires {
  typename HandleOf<std::remove_const_t<H>>::Object;
};

// What a word that is no living handle of the wanted kind is: "x is a tensor that was released, where a compiled
// function is needed". Requires: not NULL.
std::string describe_misused(std::string_view name, const void* handle, HandleKind wanted);
inline HandleKind kind_of_handle(const void* handle) {
  const uint8_t kind = HandleTable::kind_in(reinterpret_cast<uintptr_t>(handle));
  return kind < static_cast<uint8_t>(HandleKind::count) ? static_cast<HandleKind>(kind) : HandleKind::none;
}
// The first mistake with a handle on this thread is kept for thunder_handle_status(). Returns null.
[[gnu::noinline, gnu::cold]] void* note_misused(const void* handle, HandleKind wanted) noexcept;
// That mistake, owned, which is then forgotten; or null.
Status* take_misuse() noexcept;

[[gnu::always_inline]] inline HandleTable::Place* find_place(const void* handle, HandleKind kind) {
  return HandleTable::find(reinterpret_cast<uintptr_t>(handle), static_cast<uint8_t>(kind));
}
// The object of a living handle; null of NULL and of a misused one, which is noted.
[[gnu::always_inline]] inline void* object_of(const void* handle, HandleKind kind) {
  HandleTable::Place* const place = find_place(handle, kind);
  if (place) [[likely]]
    return place->object();
  return note_misused(handle, kind);
}
template <IsHandle H>
[[gnu::always_inline]] inline bool is_live(H* h) {
  return find_place(h, HandleOf<std::remove_const_t<H>>::kind) != nullptr;
}

// What a function gives that has no place for an error and no memory left: a failed tensor, else NULL.
thunder_tensor* out_of_memory_tensor() noexcept;

// core(handle) is the object, null if the handle is NULL or misused; handle(object) is a handle that the caller does
// not own; const stays const.
#define THUNDER_HANDLE(name, Type)                                   \
  template <>                                                        \
  struct HandleOf<thunder_##name> {                                  \
    using Object = Type;                                             \
    static constexpr HandleKind kind = HandleKind::name;             \
  };                                                                 \
  inline Type* core(thunder_##name* h) {                             \
    return static_cast<Type*>(object_of(h, HandleKind::name));       \
  }                                                                  \
  inline const Type* core(const thunder_##name* h) {                 \
    return static_cast<const Type*>(object_of(h, HandleKind::name)); \
  }                                                                  \
  inline thunder_##name* handle_or_throw(const Type* p) {            \
    return make_handle<thunder_##name>(p);                           \
  }                                                                  \
  inline thunder_##name* handle(Type* p) noexcept {                  \
    return handle_or_null<thunder_##name>(p);                        \
  }                                                                  \
  inline const thunder_##name* handle(const Type* p) noexcept {      \
    return handle_or_null<thunder_##name>(p);                        \
  }

// The same for reference-counted objects, with functions that add a reference of the caller's, release one, take one
// over, and give one to the caller.
#define THUNDER_COUNTED_HANDLE(name, Type)                      \
  THUNDER_HANDLE(name, Type)                                    \
  inline thunder_##name* retained(thunder_##name* h) noexcept { \
    return add_reference<Type>(h);                              \
  }                                                             \
  inline void released(thunder_##name* h) noexcept {            \
    Ref<Type>::adopt(take_reference<Type>(h));                  \
  }                                                             \
  inline thunder_##name* given(Ref<Type> object) {              \
    return give_reference<thunder_##name>(std::move(object));   \
  }

template <class H, class T>
[[gnu::always_inline]] inline H* make_handle(const T* p) {
  return reinterpret_cast<H*>(p->handle_word(const_cast<T*>(p), static_cast<uint8_t>(HandleOf<H>::kind)));
}

template <class H, class T>
H* handle_or_null(const T* p) noexcept {
  if (!p) return nullptr;
  try {
    return make_handle<H>(p);
  } catch (...) {
    if constexpr (std::is_same_v<H, thunder_tensor>) return out_of_memory_tensor();
    return nullptr;
  }
}

[[gnu::always_inline]] inline void count_reference(HandleTable::Place& place, bool sole) {
  // One that nobody else knows needs no locked instruction.
  const uint64_t state = place.state.load(std::memory_order_relaxed);
  if (sole && state < HandleTable::kOneOwned)
    place.state.store(state + HandleTable::kOneOwned, std::memory_order_relaxed);
  else
    place.state.fetch_add(HandleTable::kOneOwned, std::memory_order_relaxed);
}

template <class T, class H>
H* add_reference(H* h) noexcept {
  const T* const object = static_cast<const T*>(object_of(h, HandleOf<H>::kind));
  if (!object) return h;  // NULL; or a mistake, which is noted
  object->retain();
  count_reference(*find_place(h, HandleOf<H>::kind), false);
  return h;
}

// A reference that the caller owned; null where it owns none, which is noted.
template <class T, class H>
[[gnu::always_inline]] inline T* take_reference(H* h) noexcept {
  HandleTable::Place* const found = find_place(h, HandleOf<H>::kind);
  if (!found) [[unlikely]]
    return static_cast<T*>(note_misused(h, HandleOf<H>::kind));
  HandleTable::Place& place = *found;
  T* const object = static_cast<T*>(place.object());
  uint64_t state = place.state.load(std::memory_order_relaxed);
  if (state >> 32 == 1 && object->unique()) return object;  // it goes, and its handles with it
  while (state >> 32 &&
         !place.state.compare_exchange_weak(state, state - HandleTable::kOneOwned, std::memory_order_relaxed)) {
  }
  return state >> 32 ? object : static_cast<T*>(note_misused(h, HandleOf<H>::kind));
}

template <class H, class T>
[[gnu::always_inline]] inline H* give_reference(Ref<T> object) {
  if (!object) return nullptr;
  H* const h = make_handle<H>(object.get());
  count_reference(*find_place(h, HandleOf<H>::kind), object->unique());
  object.detach();
  return h;
}

THUNDER_COUNTED_HANDLE(tensor, Tensor)
THUNDER_COUNTED_HANDLE(values, Values)
THUNDER_HANDLE(scope, Scope)

// Statuses. One that was released is told by its count, for as long as base/status.cpp keeps its memory.
Status* core(thunder_status* status) noexcept;
const Status* core(const thunder_status* status) noexcept;
inline thunder_status* given(Status* owned) {
  return reinterpret_cast<thunder_status*>(owned);
}

inline Any* core(thunder_any* a) {
  return reinterpret_cast<Any*>(a);
}
inline const thunder_launch* handle(const Launch* launch) {
  return reinterpret_cast<const thunder_launch*>(launch);
}

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
              same(THUNDER_OUT_OF_RANGE, Code::out_of_range) && same(THUNDER_UNIMPLEMENTED, Code::unimplemented) &&
              same(THUNDER_INTERNAL, Code::internal) &&
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
