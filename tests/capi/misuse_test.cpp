// Every exported function at random: NULL in each parameter, handles of other kinds and such as were released, arguments of unknown kinds, counts, positions and numbers from
// the edges; also inside of callbacks, with what these are lent. Whatever is answered, nothing crashes and nothing is lost.
#include "capi/misuse.h"

#include <vector>

namespace thunder::tests {
namespace {

using Generator = std::mt19937_64;

struct Function {
  std::string_view name;
  void (*call)(Pool&, Generator&);
};

// Handles that the caller owns now, by the type that the function says it gives.
void drop(thunder_context* h) { thunder_context_release(h); }
void drop(thunder_tensor* h) { thunder_tensor_release(h); }
void drop(thunder_values* h) { thunder_values_release(h); }
void drop(thunder_scope* h) { thunder_scope_release(h); }
void drop(thunder_function* h) { thunder_function_release(h); }
void drop(thunder_compiled* h) { thunder_compiled_release(h); }
void drop(thunder_options* h) { thunder_options_release(h); }
void drop(thunder_executor* h) { thunder_executor_release(h); }
void drop(thunder_module* h) { thunder_module_release(h); }
void drop(thunder_optimizer* h) { thunder_optimizer_release(h); }
void drop(thunder_schedule* h) { thunder_schedule_release(h); }
void drop(thunder_batches* h) { thunder_batches_release(h); }
void drop(thunder_pass* h) { thunder_pass_release(h); }
void drop(thunder_trace* h) { thunder_trace_release(h); }
void drop(thunder_stream* h) { thunder_stream_release(h); }
void drop(thunder_event* h) { thunder_event_release(h); }
void drop(thunder_mesh* h) { thunder_mesh_release(h); }
void drop(DLManagedTensor* h) { h->deleter(h); }
void drop(DLManagedTensorVersioned* h) { h->deleter(h); }
void drop(...) {}

// A function that takes a reference over is given one of its own, where there is a function to make one.
template <class T, class Retain>
void give_one(T* h, Retain retain) {
  if (h) retain(h);
}
void give(thunder_status* h) { give_one(h, thunder_status_retain); }
void give(thunder_context* h) { give_one(h, thunder_context_retain); }
void give(thunder_tensor* h) { give_one(h, thunder_tensor_retain); }
void give(thunder_function* h) { give_one(h, thunder_function_retain); }
void give(thunder_compiled* h) { give_one(h, thunder_compiled_retain); }
void give(thunder_module* h) { give_one(h, thunder_module_retain); }
void give(thunder_optimizer* h) { give_one(h, thunder_optimizer_retain); }

bool takes_reference(std::string_view name) { return name.ends_with("_release") || name == "thunder_scope_fail"; }
bool lends_results(std::string_view name) { return name == "thunder_op_invoke" || name == "thunder_clip_grad_norm"; }

template <class T>
void prepare(Pool& pool, T& argument) {
  constexpr bool retained = std::is_same_v<T, thunder_status*> || std::is_same_v<T, thunder_context*> || std::is_same_v<T, thunder_tensor*> ||
                            std::is_same_v<T, thunder_function*> || std::is_same_v<T, thunder_compiled*> ||
                            std::is_same_v<T, thunder_module*> || std::is_same_v<T, thunder_optimizer*>;
  if (!takes_reference(pool.function_name)) return;
  if constexpr (retained) {
    if (pool.function_name != "thunder_scope_fail" || std::is_same_v<T, thunder_status*>) give(argument);
  } else if constexpr (std::is_same_v<T, thunder_values*>) {
    // What a callback was lent is released as it is: that must be noticed.
    if (argument && !(pool.inside && argument != pool.values)) thunder_values_retain(argument);
  } else if constexpr (std::is_pointer_v<T>) {
    // Handles that no function retains are released as NULL alone.
    if (pool.function_name.ends_with("_release")) argument = nullptr;
  }
}

template <class T>
void finish(Pool& pool, T argument) {
  if constexpr (std::is_pointer_v<T>) {
    using Handle = std::remove_pointer_t<T>;
    if constexpr (std::is_pointer_v<Handle> && !std::is_const_v<Handle>) {
      const bool ours = static_cast<const void*>(argument) == pool.slots && !lends_results(pool.function_name);
      for (size_t i = 0; ours && i < kMany; i++) {
        if (!pool.slots[i]) continue;
        drop(static_cast<Handle>(pool.slots[i]));
        // A status, and what DLPack gives, is an address.
        if constexpr (std::is_convertible_v<Handle, thunder_tensor*> || std::is_convertible_v<Handle, thunder_module*> ||
                      std::is_convertible_v<Handle, thunder_function*> || std::is_convertible_v<Handle, thunder_options*>)
          pool.stale[i] = pool.slots[i];
      }
    }
  }
}

template <auto function, class R, class... A>
void call(Pool& pool, Generator& g, R (*)(A...) noexcept) {
  std::tuple<A...> arguments{Argument<A>::make(pool, g)...};
  std::apply([&](A&... a) { (prepare(pool, a), ...); }, arguments);
  if constexpr (std::is_void_v<R>) {
    std::apply(function, arguments);
  } else {
    R result = std::apply(function, arguments);
    if constexpr (std::is_same_v<R, thunder_status*>) {
      // These give back what they were told.
      const bool told = pool.function_name.starts_with("thunder_status_");
      if (result && !told) {
        EXPECT_NE(thunder_status_code(result), THUNDER_OK) << pool.function_name;
        EXPECT_NE(thunder_status_code(result), THUNDER_INTERNAL) << pool.function_name << ": " << thunder_status_message(result);
      }
      thunder_status_release(result);
    } else if constexpr (std::is_pointer_v<R>) {
      if (pool.function_name.ends_with("_retain") && result) drop(result);
    }
  }
  std::apply([&](A&... a) { (finish(pool, a), ...); }, arguments);
}

// These change what every call works on, or wait for a device.
constexpr std::string_view kLeftOut[] = {"thunder_status_set_foreign", "thunder_context_set_thread_pool"};

const std::vector<Function>& functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> list;
#define THUNDER_SYMBOL(name) list.push_back({#name, [](Pool& p, Generator& g) { call<name>(p, g, name); }});
#include <abi.inc>
#undef THUNDER_SYMBOL
    std::erase_if(list, [](const Function& f) { return std::find(std::begin(kLeftOut), std::end(kLeftOut), f.name) != std::end(kLeftOut); });
    return list;
  }();
  return all;
}

// What callbacks work on and draw from: the pointer that they are called with is any.
Pool* working = nullptr;
Generator* current = nullptr;

void make_calls(Pool& pool, Generator& g, int count) {
  for (int i = 0; i < count; i++) {
    const Function& f = functions()[below(g, functions().size())];
    pool.function_name = f.name;
    refill(pool, g);
    if (std::getenv("THUNDER_SHOW_SEEDS")) std::fprintf(stderr, "%.*s\n", static_cast<int>(f.name.size()), f.name.data());
    f.call(pool, g);
    pool.calls++;
    if (!pool.inside) thunder_scope_reset(pool.scope), thunder_values_reset(pool.values), thunder_values_reset(pool.out);
    if (!pool.inside && one_in(g, 2)) thunder_values_push_tensor(pool.values, pool.tensors[0]);
  }
}

}  // namespace

void misuse_inside(void*, thunder_scope* s, const thunder_values* in, thunder_values* out, const thunder_node* node,
                   thunder_types* types, thunder_editor* editor) {
  if (!working || working->inside) return;
  Pool& pool = *working;
  const Pool before = pool;
  pool.inside = true;
  if (s) pool.scope = s;
  if (in) pool.values = const_cast<thunder_values*>(in);
  if (out) pool.out = out;
  pool.compiled = nullptr;  // it may be what is compiling
  pool.node = node, pool.types = types, pool.editor = editor;
  make_calls(pool, *current, 20);
  const int calls = pool.calls;
  pool = before;
  pool.calls = calls;
}

namespace {

void fill(Pool& pool) {
  thunder_hooks hooks{};
  hooks.size = sizeof hooks;
  hooks.allocate = [](size_t bytes, size_t align, void*) -> void* {
    return bytes > 1 << 20 ? nullptr : std::aligned_alloc(align, (bytes + align - 1) / align * align);
  };
  hooks.deallocate = [](void* p, size_t, size_t, void*) { std::free(p); };
  ASSERT_EQ(thunder_context_create(&hooks, &pool.context), nullptr);
  const int64_t seed_of_all[] = {0, 0};  // so that THUNDER_SEED alone says what happens
  ASSERT_EQ(thunder_tensor_write(thunder_context_random(pool.context), seed_of_all, sizeof seed_of_all), nullptr);
  const float data[] = {1, 2, 3, 4};
  for (size_t i = 0; i < kMany; i++) {
    const int64_t shape[] = {2, 2};
    ASSERT_EQ(thunder_tensor_create(pool.context, THUNDER_F32, i % 3, shape, THUNDER_CPU, data, sizeof(float) << i % 3, &pool.tensors[i]), nullptr);
  }
  ASSERT_EQ(thunder_values_create(pool.context, &pool.values), nullptr);
  ASSERT_EQ(thunder_values_create(pool.context, &pool.out), nullptr);
  ASSERT_EQ(thunder_scope_create(pool.context, THUNDER_SCOPE_TAPED, &pool.scope), nullptr);
  ASSERT_EQ(thunder_function_create(pool.context, "f", run_function, &pool, nullptr, &pool.function), nullptr);
  ASSERT_EQ(thunder_compile(pool.function, nullptr, &pool.compiled), nullptr);
  ASSERT_EQ(thunder_options_create(pool.context, &pool.options), nullptr);
  const thunder_any two[] = {{THUNDER_INT, 0, {.i = 2}}, {THUNDER_INT, 0, {.i = 2}}};
  ASSERT_EQ(thunder_module_create(pool.context, "Linear", two, 2, nullptr, &pool.module), nullptr);
  ASSERT_EQ(thunder_module_parameters(pool.module, pool.values), nullptr);
  ASSERT_EQ(thunder_optimizer_create(pool.context, "SGD", pool.values, nullptr, &pool.optimizer), nullptr);
  thunder_options* options = nullptr;
  ASSERT_EQ(thunder_options_create(pool.context, &options), nullptr);
  thunder_options_set_i64(options, "step_size", 3);
  ASSERT_EQ(thunder_schedule_create(pool.optimizer, "StepLR", options, &pool.schedule), nullptr);
  thunder_options_release(options);
  ASSERT_EQ(thunder_batches_create(pool.context, &pool.tensors[1], 1, 1, 1, 0, 1, &pool.batches), nullptr);
  pool.status = thunder_status_create(THUNDER_CALLBACK, "of the caller", 13);
  const void* const all[] = {pool.context, pool.values, pool.out, pool.scope, pool.function, pool.compiled, pool.options,
                             pool.module, pool.optimizer, pool.schedule, pool.batches, pool.tensors[0], pool.tensors[1], pool.status};
  std::copy(std::begin(all), std::end(all), pool.others);
}

void empty(Pool& pool) {
  thunder_status_release(pool.status);
  thunder_batches_release(pool.batches);
  thunder_schedule_release(pool.schedule);
  thunder_optimizer_release(pool.optimizer);
  thunder_module_release(pool.module);
  thunder_options_release(pool.options);
  thunder_compiled_release(pool.compiled);
  thunder_function_release(pool.function);
  thunder_scope_release(pool.scope);
  for (thunder_values* v : {pool.values, pool.out}) thunder_values_release(v);
  for (thunder_tensor* t : pool.tensors) thunder_tensor_release(t);
  thunder_context_release(pool.context);
}

TEST(Misuse, of_every_function_is_answered) {
  int calls = 0;
  for_each_seed(20, [&](Generator& g) {
    Pool pool;
    fill(pool);
    working = &pool, current = &g;
    make_calls(pool, g, 1000);
    working = nullptr;
    empty(pool);
    calls += pool.calls;
  });
  RecordProperty("calls", calls);
}

}  // namespace
}  // namespace thunder::tests
