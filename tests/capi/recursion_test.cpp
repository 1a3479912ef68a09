// Recursion without an end, through every callback that can call the library again, on large stacks and on small ones: an error
// that shows the cycle. What is deep but ends works.
#include <pthread.h>
#include <gtest/gtest.h>
#include <thunder.h>

#include <functional>
#include <string>

namespace {

constexpr size_t kStacks[] = {128 << 10, 256 << 10, 8 << 20};

struct World {
  World() { EXPECT_EQ(thunder_context_create(nullptr, &context), nullptr); }
  ~World() {
    for (thunder_function* f : functions) thunder_function_release(f);
    thunder_context_release(context);
  }
  World(const World&) = delete;
  thunder_context* context = nullptr;
  thunder_function* functions[2] = {};
};

void on_stack(size_t bytes, const std::function<void()>& body) {
  SCOPED_TRACE("a stack of " + std::to_string(bytes) + " bytes");
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  auto run = [](void* f) -> void* { return (*static_cast<const std::function<void()>*>(f))(), nullptr; };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}
void on_stacks(const std::function<void()>& body) {
  for (size_t bytes : kStacks) on_stack(bytes, body);
}

void expect_cycle(thunder_status* status, const std::string& cycle) {
  const std::string message = thunder_status_message(status);
  EXPECT_EQ(thunder_status_code(status), THUNDER_INVALID_ARGUMENT) << message;
  EXPECT_NE(message.find("calls are nested "), std::string::npos) << message;
  EXPECT_NE(message.find(cycle), std::string::npos) << message;
  EXPECT_LT(message.size(), 400u);
  thunder_status_release(status);
}

thunder_tensor* ones(thunder_context* context) {
  thunder_tensor* t = nullptr;
  const float data[] = {1, 1};
  const int64_t shape[] = {2};
  EXPECT_EQ(thunder_tensor_create(context, THUNDER_F32, 1, shape, THUNDER_CPU, data, sizeof data, &t), nullptr);
  return t;
}

// ---- functions that apply each other ----

struct Pair {
  World* world;
  int other;
};

thunder_status* apply_the_other(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  const auto* pair = static_cast<const Pair*>(user);
  thunder_values* made = thunder_function_apply(s, pair->world->functions[pair->other], in);
  thunder_values_push_tensor(out, thunder_values_tensor(made, 0));
  return nullptr;
}

TEST(Recursion, of_functions_is_refused_eagerly_and_while_tracing) {
  on_stacks([] {
    World world;
    Pair pairs[] = {{&world, 1}, {&world, 0}};
    const char* names[] = {"ping", "pong"};
    for (int i = 0; i < 2; i++)
      ASSERT_EQ(thunder_function_create(world.context, names[i], apply_the_other, &pairs[i], nullptr, &world.functions[i]), nullptr);
    thunder_tensor *x = ones(world.context), *y = nullptr;
    thunder_scope* scope = nullptr;
    ASSERT_EQ(thunder_scope_create(world.context, 0, &scope), nullptr);
    thunder_function_apply(scope, world.functions[0], thunder_scope_list(scope, &x, 1));
    expect_cycle(thunder_scope_status(scope), "ping -> pong");
    thunder_scope_release(scope);
    thunder_compiled* compiled = nullptr;
    ASSERT_EQ(thunder_compile(world.functions[0], nullptr, &compiled), nullptr);
    expect_cycle(thunder_compiled_call_tensors(compiled, &x, 1, &y, 1), "ping -> pong");
    thunder_compiled_release(compiled);
    thunder_tensor_release(x);
  });
}

// ---- ops whose parts use the op ----

thunder_tensor* call_op(thunder_scope* s, const char* op, thunder_tensor* x) {
  thunder_any arg{};
  arg.kind = THUNDER_TENSOR, arg.u.t = x;
  return thunder_op_invoke(s, op, &arg, 1, nullptr, nullptr, 0, "recursion_test.cpp:1");
}

// Outside of any scope that it was given: in one of its own.
thunder_status* eagerly(thunder_context* context, const char* op) {
  thunder_scope* scope = nullptr;
  if (thunder_status* failed = thunder_scope_create(context, 0, &scope)) return failed;
  thunder_tensor* x = ones(context);
  call_op(scope, op, x);
  thunder_status* status = thunder_scope_status(scope);
  thunder_tensor_release(x);
  thunder_scope_release(scope);
  return status;
}

TEST(Recursion, of_an_op_whose_decomposition_invokes_it_is_refused) {
  on_stacks([] {
    World world;
    thunder_op_desc op{};
    op.size = sizeof op;
    op.schema = "endless(tensor x) -> tensor", op.doc = "Itself.";
    op.decompose = [](thunder_scope* s, const thunder_values* in, thunder_values* out, void*) -> thunder_status* {
      thunder_values_push_tensor(out, call_op(s, "endless", thunder_values_tensor(in, 0)));
      return nullptr;
    };
    ASSERT_EQ(thunder_context_add_op(world.context, &op), nullptr);
    expect_cycle(eagerly(world.context, "endless"), "endless -> endless [at recursion_test.cpp:1]");
  });
}

TEST(Recursion, of_an_op_whose_meta_invokes_it_is_refused) {
  on_stacks([] {
    World world;
    thunder_op_desc op{};
    op.size = sizeof op;
    op.schema = "asks_itself(tensor x) -> tensor", op.doc = "Itself.", op.user = world.context;
    op.meta = [](const thunder_node*, thunder_types*, void* user) { return eagerly(static_cast<thunder_context*>(user), "asks_itself"); };
    ASSERT_EQ(thunder_context_add_op(world.context, &op), nullptr);
    expect_cycle(eagerly(world.context, "asks_itself"), "asks_itself -> asks_itself");
  });
}

TEST(Recursion, of_an_op_whose_kernel_invokes_it_is_refused) {
  on_stacks([] {
    World world;
    thunder_op_desc op{};
    op.size = sizeof op;
    op.schema = "runs_itself(tensor x) -> tensor", op.doc = "Itself.";
    op.meta = [](const thunder_node* node, thunder_types* types, void*) -> thunder_status* {
      thunder_types_push_like(types, thunder_node_input(node, 0));
      return nullptr;
    };
    ASSERT_EQ(thunder_context_add_op(world.context, &op), nullptr);
    thunder_kernel_desc kernel{};
    kernel.size = sizeof kernel, kernel.user = world.context;
    kernel.run = [](const thunder_launch*, const thunder_any*, void* user) { return eagerly(static_cast<thunder_context*>(user), "runs_itself"); };
    ASSERT_EQ(thunder_context_add_kernel(world.context, "runs_itself", &kernel), nullptr);
    expect_cycle(eagerly(world.context, "runs_itself"), "runs_itself -> runs_itself");
  });
}

TEST(Recursion, of_a_module_whose_forward_calls_it_is_refused) {
  on_stacks([] {
    World world;
    thunder_module* module = nullptr;
    ASSERT_EQ(thunder_module_create(world.context, "Module", nullptr, 0, nullptr, &module), nullptr);
    auto forward = [](thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) -> thunder_status* {
      thunder_values_push_tensor(out, thunder_values_tensor(thunder_module_call(s, static_cast<thunder_module*>(user), in), 0));
      return nullptr;
    };
    ASSERT_EQ(thunder_module_set_forward(module, forward, module, nullptr), nullptr);
    thunder_scope* scope = nullptr;
    ASSERT_EQ(thunder_scope_create(world.context, 0, &scope), nullptr);
    thunder_tensor* x = ones(world.context);
    thunder_module_call(scope, module, thunder_scope_list(scope, &x, 1));
    expect_cycle(thunder_scope_status(scope), "forward -> forward");
    thunder_tensor_release(x);
    thunder_scope_release(scope);
    thunder_module_release(module);
  });
}

// ---- deep, but with an end ----

struct Steps {
  thunder_function* self = nullptr;
  int left = 0;
};

thunder_status* count_down(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  auto* steps = static_cast<Steps*>(user);
  thunder_tensor* y = call_op(s, "tanh", thunder_values_tensor(in, 0));
  if (steps->left-- > 0) y = thunder_values_tensor(thunder_function_apply(s, steps->self, thunder_scope_list(s, &y, 1)), 0);
  thunder_values_push_tensor(out, y);
  return nullptr;
}

TEST(Recursion, that_ends_is_compiled) {
  World world;
  Steps steps{.left = 500};
  ASSERT_EQ(thunder_function_create(world.context, "count_down", count_down, &steps, nullptr, &world.functions[0]), nullptr);
  steps.self = world.functions[0];
  thunder_compiled* compiled = nullptr;
  thunder_tensor *x = ones(world.context), *y = nullptr;
  ASSERT_EQ(thunder_compile(world.functions[0], nullptr, &compiled), nullptr);
  thunder_status* status = thunder_compiled_call_tensors(compiled, &x, 1, &y, 1);
  EXPECT_EQ(status, nullptr) << thunder_status_message(status);
  for (thunder_tensor* t : {x, y}) thunder_tensor_release(t);
  thunder_compiled_release(compiled);
}

// Passes and code generators see a chain of a thousand lines, and its gradient.
thunder_status* long_gradient(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_tensor *x = thunder_values_tensor(in, 0), *y = x;
  for (int i = 0; i < 500; i++) y = call_op(s, "sigmoid", y);
  y = call_op(s, "sum", y);
  thunder_values_push_tensor(out, thunder_values_tensor(thunder_scope_grad(s, y, thunder_scope_list(s, &x, 1)), 0));
  return nullptr;
}

TEST(Recursion, of_compilers_needs_no_large_stack_of_the_caller) {
#ifdef __SANITIZE_ADDRESS__
  constexpr size_t kSmall = 256 << 10;  // its frames are larger
#else
  constexpr size_t kSmall = 64 << 10;
#endif
  on_stack(kSmall, [] {
    World world;
    ASSERT_EQ(thunder_function_create(world.context, "long_gradient", long_gradient, nullptr, nullptr, &world.functions[0]), nullptr);
    thunder_compiled* compiled = nullptr;
    thunder_tensor *x = ones(world.context), *y = nullptr;
    ASSERT_EQ(thunder_compile(world.functions[0], nullptr, &compiled), nullptr);
    thunder_status* status = thunder_compiled_call_tensors(compiled, &x, 1, &y, 1);
    EXPECT_EQ(status, nullptr) << thunder_status_message(status);
    for (thunder_tensor* t : {x, y}) thunder_tensor_release(t);
    thunder_compiled_release(compiled);
  });
}

}  // namespace
