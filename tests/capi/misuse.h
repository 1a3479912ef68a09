// Arguments for functions of the C interface, by their types: objects that live, NULL now and then, numbers from the edges,
// kinds that do not exist. What points to memory points to enough of it for every count that is given.
#pragma once

#include <thunder.h>

#include <cmath>
#include <cstring>
#include <string_view>

#include "support/generator.h"
#include "tensor/dlpack_abi.h"

namespace thunder::tests {

constexpr size_t kMany = 8;  // elements of each array; counts are at most this

// What the calls work on. What a callback is lent is there while it runs.
struct Pool {
  thunder_context* context = nullptr;
  thunder_tensor* tensors[kMany] = {};
  thunder_values *values = nullptr, *out = nullptr;
  thunder_scope* scope = nullptr;
  thunder_function* function = nullptr;
  thunder_compiled* compiled = nullptr;
  thunder_options* options = nullptr;
  thunder_module* module = nullptr;
  thunder_optimizer* optimizer = nullptr;
  thunder_schedule* schedule = nullptr;
  thunder_batches* batches = nullptr;
  thunder_status* status = nullptr;
  const thunder_node* node = nullptr;
  thunder_types* types = nullptr;
  thunder_editor* editor = nullptr;

  // Handles of every kind that live, and some that were released.
  const void* others[16] = {};
  const void* stale[kMany] = {};

  thunder_any anys[kMany];
  int64_t integers[kMany];
  double reals[kMany];
  thunder_tensor* given[kMany];
  const char* names[kMany];
  void* slots[kMany];  // results
  char memory[4096];
  DLManagedTensor managed;
  DLManagedTensorVersioned versioned;
  std::string_view function_name;  // of the call that is made
  bool inside = false;             // a callback
  int calls = 0;
};

inline const char* some_text(const Pool& pool, std::mt19937_64& g) {
  // Each in more room than any count of bytes says.
  static constexpr char texts[][80] = {
      "", "x", "Linear", "Conv2d", "Embedding", "Module", "Sequential", "MultiheadAttention", "SGD", "Adam", "StepLR", "CosineAnnealingLR",
      "add", "relu", "zeros", "arange", "pad", "expand", "slice", "sum", "lr", "momentum", "executors", "freezing", "disable_passes", "ops",
      "modules", "memory", "0", "0.weight", "weight", "bias", "[*]", "misused(tensor x) -> tensor", "add(a, b) -> mul(a, b)", "host",
      "add_", "relu_", "split", "bad(tensor", "\xff\xfe"};
  constexpr std::string_view writers[] = {"write", "save", "load", "read", "compile_ahead", "export"};
  for (std::string_view part : writers)
    if (pool.function_name.find(part) != pool.function_name.npos) return "/nonexistent/thunder";
  return texts[below(g, std::size(texts))];
}

template <class T>
T* some(T* live, std::mt19937_64& g) {
  return one_in(g, 6) ? nullptr : live;
}

// Now and then a handle of another kind, or one that was released.
template <class T>
T* some_handle(T* live, Pool& pool, std::mt19937_64& g) {
  const bool other = one_in(g, 16), stale = one_in(g, 16);
  if (!other && !stale) return some(live, g);
  const void* const given = other ? pool.others[below(g, std::size(pool.others))] : pool.stale[below(g, kMany)];
  return reinterpret_cast<T*>(const_cast<void*>(given));
}

inline thunder_any some_any(Pool& pool, std::mt19937_64& g) {
  thunder_any a{};
  a.kind = one_in(g, 12) ? static_cast<thunder_kind>(hostile_integer(g)) : static_cast<thunder_kind>(below(g, 11));
  a.count = static_cast<uint32_t>(below(g, kMany + 1));
  const bool null = one_in(g, 8);
  switch (a.kind) {
    case THUNDER_TENSOR: a.u.t = null ? nullptr : some_handle(pool.tensors[below(g, kMany)], pool, g); break;
    case THUNDER_STRING: a.u.s = null ? nullptr : some_text(pool, g); break;
    case THUNDER_DIMS: a.u.d = null ? nullptr : pool.integers; break;
    case THUNDER_FLOATS: a.u.fs = null ? nullptr : pool.reals; break;
    case THUNDER_TENSORS: a.u.ts = null ? nullptr : pool.given; break;
    case THUNDER_FLOAT: a.u.f = one_in(g, 2) ? NAN : 0.5; break;
    case THUNDER_DTYPE: a.u.i = one_in(g, 4) ? hostile_integer(g) : int64_t{THUNDER_F32}; break;
    case THUNDER_DEVICE: a.u.i = one_in(g, 4) ? hostile_integer(g) : THUNDER_CPU; break;
    default: a.u.i = hostile_integer(g);
  }
  return a;
}

// New contents for the arrays, between two calls.
inline void refill(Pool& pool, std::mt19937_64& g) {
  for (size_t i = 0; i < kMany; i++) {
    pool.integers[i] = hostile_integer(g);
    pool.reals[i] = one_in(g, 4) ? INFINITY : 0.5;
    pool.given[i] = one_in(g, 10) ? nullptr : some_handle(pool.tensors[below(g, kMany)], pool, g);
    pool.names[i] = one_in(g, 2) ? nullptr : some_text(pool, g);
    pool.slots[i] = nullptr;
  }
  for (thunder_any& a : pool.anys) a = some_any(pool, g);
  DLTensor t{pool.memory, {static_cast<int32_t>(below(g, 4)), 0}, static_cast<int32_t>(below(g, 5)), {2, 32, 1}, nullptr, nullptr, 0};
  t.shape = one_in(g, 4) ? nullptr : pool.integers, t.strides = one_in(g, 2) ? nullptr : pool.integers + 4;
  pool.managed = {t, nullptr, nullptr};
  pool.versioned = {{static_cast<uint32_t>(below(g, 3)), 0}, nullptr, nullptr, g(), t};
}

// ---- callbacks of the caller's; those that are lent something make calls with it ----

void misuse_inside(void* user, thunder_scope*, const thunder_values* in, thunder_values* out, const thunder_node*, thunder_types*, thunder_editor*);

inline thunder_status* run_function(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  misuse_inside(user, s, in, out, nullptr, nullptr, nullptr);
  thunder_values_push_tensor(out, thunder_values_tensor(in, 0));
  return nullptr;
}
inline thunder_status* run_meta(const thunder_node* node, thunder_types* types, void* user) {
  misuse_inside(user, nullptr, nullptr, nullptr, node, types, nullptr);
  return nullptr;
}
inline thunder_status* run_pass(thunder_editor* editor, void* user) {
  misuse_inside(user, nullptr, nullptr, nullptr, nullptr, nullptr, editor);
  return nullptr;
}
inline thunder_status* decline(const thunder_node*, void**, size_t*, void*) { return thunder_status_create(THUNDER_DECLINED, "no", 2); }
inline thunder_status* run_nothing(const thunder_launch*, void*) { return nullptr; }
inline thunder_status* run_kernel(const thunder_launch*, const thunder_any*, void*) { return nullptr; }

// ---- one argument of each type ----

template <class T>
struct Argument {  // numbers, and pointers to nothing that a caller could have
  static T make(Pool& pool, std::mt19937_64& g) {
    if constexpr (std::is_floating_point_v<T>) return one_in(g, 3) ? NAN : 0.5;
    else if constexpr (std::is_same_v<T, size_t>) {
      // Of these functions they are positions; elsewhere counts.
      const bool position = pool.function_name.starts_with("thunder_values_") || pool.function_name.starts_with("thunder_node_");
      return position && one_in(g, 4) ? static_cast<size_t>(hostile_integer(g)) : below(g, kMany + 1);
    } else if constexpr (std::is_integral_v<T>) {
      constexpr int64_t known[] = {THUNDER_F32, THUNDER_CPU, THUNDER_I64, 0, 1};
      return static_cast<T>(one_in(g, 2) ? known[below(g, std::size(known))] : hostile_integer(g));
    } else return T{};
  }
};
#define THUNDER_SOME(Type, live)                                       \
  template <>                                                          \
  struct Argument<Type> {                                              \
    static Type make(Pool& p, std::mt19937_64& g) { return (void)p, some<std::remove_pointer_t<Type>>(live, g); } \
  };
#define THUNDER_LIVE(Type, live) THUNDER_HANDLE(Type*, live) THUNDER_HANDLE(const Type*, live)
#define THUNDER_HANDLE(Type, live)                                                                                        \
  template <>                                                                                                             \
  struct Argument<Type> {                                                                                                 \
    static Type make(Pool& p, std::mt19937_64& g) { return some_handle<std::remove_pointer_t<Type>>(live, p, g); }        \
  };
THUNDER_LIVE(thunder_context, p.context)
THUNDER_LIVE(thunder_tensor, p.tensors[below(g, kMany)])
THUNDER_LIVE(thunder_values, (one_in(g, 2) ? p.values : p.out))
THUNDER_LIVE(thunder_scope, p.scope)
THUNDER_LIVE(thunder_function, p.function)
THUNDER_LIVE(thunder_compiled, p.compiled)
THUNDER_LIVE(thunder_options, p.options)
THUNDER_LIVE(thunder_module, p.module)
THUNDER_LIVE(thunder_optimizer, p.optimizer)
THUNDER_LIVE(thunder_schedule, p.schedule)
THUNDER_LIVE(thunder_batches, p.batches)
THUNDER_SOME(thunder_status*, p.status)
THUNDER_SOME(const thunder_status*, p.status)
THUNDER_LIVE(thunder_types, p.types)
THUNDER_LIVE(thunder_editor, p.editor)
THUNDER_SOME(thunder_any*, p.anys)
THUNDER_SOME(const thunder_any*, p.anys)
THUNDER_HANDLE(const thunder_node*, p.node)
THUNDER_SOME(const int64_t*, p.integers)
THUNDER_SOME(const char*, some_text(p, g))
THUNDER_SOME(thunder_tensor* const*, p.given)
THUNDER_SOME(const char* const*, p.names)
THUNDER_SOME(void*, p.memory)
THUNDER_SOME(const void*, p.memory)
THUNDER_SOME(DLManagedTensor*, &p.managed)
THUNDER_SOME(DLManagedTensorVersioned*, &p.versioned)
#undef THUNDER_LIVE
#undef THUNDER_HANDLE
#undef THUNDER_SOME
template <>
struct Argument<thunder_fn> {
  static thunder_fn make(Pool&, std::mt19937_64& g) { return one_in(g, 6) ? nullptr : run_function; }
};
// Where a result goes: any handle's place is a pointer's.
template <class T>
  requires(!std::is_const_v<T>)
struct Argument<T**> {
  static T** make(Pool& p, std::mt19937_64& g) { return one_in(g, 6) ? nullptr : reinterpret_cast<T**>(p.slots); }
};
template <>
struct Argument<const void**> {
  static const void** make(Pool& p, std::mt19937_64& g) { return one_in(g, 6) ? nullptr : const_cast<const void**>(p.slots); }
};
template <class T>
  requires(std::is_same_v<T, double> || std::is_same_v<T, size_t>)
struct Argument<T*> {
  static T* make(Pool& p, std::mt19937_64& g) { return one_in(g, 6) ? nullptr : reinterpret_cast<T*>(p.memory); }
};

// Structures that say their size, with some of their members.
template <class T>
T* described(Pool& p, std::mt19937_64& g, void (*fill)(T&, Pool&, std::mt19937_64&)) {
  static thread_local T desc;
  desc = T{};
  fill(desc, p, g);
  desc.size = one_in(g, 6) ? below(g, sizeof(T) / 8) * 8 : sizeof(T);
  return one_in(g, 6) ? nullptr : &desc;
}
#define THUNDER_DESCRIBED(Type, ...)                                                                               \
  template <>                                                                                                      \
  struct Argument<Type> {                                                                                          \
    static Type make(Pool& p, std::mt19937_64& g) {                                                                \
      using Desc = std::remove_const_t<std::remove_pointer_t<Type>>;                                               \
      return described<Desc>(p, g, [](Desc& d, Pool& pool, std::mt19937_64& r) { (void)d, (void)pool, (void)r; __VA_ARGS__; }); \
    }                                                                                                              \
  };
THUNDER_DESCRIBED(const thunder_op_desc*, d.schema = some(some_text(pool, r), r), d.doc = some("doc", r), d.user = &pool,
                  d.meta = one_in(r, 2) ? run_meta : nullptr, d.decompose = one_in(r, 2) ? run_function : nullptr,
                  d.vjp = one_in(r, 2) ? run_function : nullptr, d.flags = one_in(r, 4) ? static_cast<uint32_t>(hostile_integer(r)) : 0)
THUNDER_DESCRIBED(const thunder_kernel_desc*, d.run = one_in(r, 2) ? run_kernel : nullptr, d.library = some(some_text(pool, r), r),
                  d.symbol = some(some_text(pool, r), r))
THUNDER_DESCRIBED(const thunder_pass_desc*, d.name = some(some_text(pool, r), r), d.before = one_in(r, 2) ? some_text(pool, r) : nullptr,
                  d.after = one_in(r, 4) ? some_text(pool, r) : nullptr, d.rules = some(&*pool.names, r), d.n_rules = below(r, 3),
                  d.run = one_in(r, 2) ? run_pass : nullptr, d.user = &pool)
THUNDER_DESCRIBED(const thunder_executor_desc*, d.name = some(some_text(pool, r), r), d.ops = some(&*pool.names, r), d.n_ops = below(r, 3),
                  d.prepare = one_in(r, 4) ? nullptr : decline, d.run = one_in(r, 4) ? nullptr : run_nothing,
                  d.flags = one_in(r, 4) ? static_cast<uint32_t>(hostile_integer(r)) : 0)
THUNDER_DESCRIBED(const thunder_hooks*, d.size = 0)
THUNDER_DESCRIBED(const thunder_thread_pool*, d.size = 0)
THUNDER_DESCRIBED(const thunder_script_limits*, d.restricted = 1)
THUNDER_DESCRIBED(thunder_statistics*, d.calls = 0)
#undef THUNDER_DESCRIBED

}  // namespace thunder::tests
