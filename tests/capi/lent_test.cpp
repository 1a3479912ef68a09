// Values that the library lends: a callback, or the user of a scope, that releases what it did not retain frees nothing, and
// is told.
// covers: core/device/cuda/lent.cpp
#include "capi/lent.h"

#include <gtest/gtest.h>

#include <string>

namespace {

struct World {
  World() {
    EXPECT_EQ(thunder_context_create(nullptr, &context), nullptr);
    EXPECT_EQ(thunder_scope_create(context, 0, &scope), nullptr);
    const float one = 1;
    EXPECT_EQ(thunder_tensor_create(context, THUNDER_F32, 0, nullptr, THUNDER_CPU, &one, sizeof one, &x), nullptr);
  }
  ~World() {
    thunder_tensor_release(x);
    thunder_scope_release(scope);
    thunder_context_release(context);
  }
  World(const World&) = delete;
  thunder_context* context = nullptr;
  thunder_scope* scope = nullptr;
  thunder_tensor* x = nullptr;
};

void expect_refused(thunder_status* status) {
  const std::string message = thunder_status_message(status);
  EXPECT_NE(message.find("these values were lent"), std::string::npos) << message;
  thunder_status_release(status);
}

// Applies a function that does this to its values; the scope's error, owned.
thunder_status* apply(World& world, thunder_fn callback) {
  thunder_function* f = nullptr;
  thunder_values* in = nullptr;
  EXPECT_EQ(thunder_function_create(world.context, "f", callback, nullptr, nullptr, &f), nullptr);
  EXPECT_EQ(thunder_values_create(world.context, &in), nullptr);
  thunder_values_push_tensor(in, world.x);
  thunder_function_apply(world.scope, f, in);
  // What the caller gave is as it was.
  EXPECT_EQ(thunder_values_count(in), 1u);
  EXPECT_EQ(thunder_values_status(in), nullptr);
  thunder_values_release(in);
  thunder_function_release(f);
  return thunder_scope_status(world.scope);
}

TEST(Lent, values_survive_a_callback_that_releases_its_arguments) {
  World world;
  expect_refused(apply(world, [](thunder_scope*, const thunder_values* in, thunder_values*, void*) -> thunder_status* {
    for (int i = 0; i < 3; i++) thunder_values_release(const_cast<thunder_values*>(in));
    EXPECT_EQ(thunder_values_count(in), 1u);
    return nullptr;
  }));
}

TEST(Lent, values_survive_a_callback_that_releases_its_results) {
  World world;
  expect_refused(apply(world, [](thunder_scope*, const thunder_values* in, thunder_values* out, void*) -> thunder_status* {
    thunder_values_push_tensor(out, thunder_values_tensor(in, 0));
    thunder_values_release(out);
    return nullptr;
  }));
}


TEST(Lent, scopes_are_known_to_be_over) {
  World world;
  static thunder_scope* kept = nullptr;
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  ASSERT_EQ(thunder_function_create(world.context, "f", [](thunder_scope* s, const thunder_values* in, thunder_values* out, void*) -> thunder_status* {
    kept = s;
    thunder_values_push_tensor(out, thunder_values_tensor(in, 0));
    return nullptr;
  }, nullptr, nullptr, &f), nullptr);
  ASSERT_EQ(thunder_compile(f, nullptr, &compiled), nullptr);
  thunder_tensor* out = nullptr;
  ASSERT_EQ(thunder_compiled_call_tensors(compiled, &world.x, 1, &out, 1), nullptr);
  thunder_tensor_release(out);

  const auto is_over = [](thunder_status* status) {
    EXPECT_NE(std::string(thunder_status_message(status)).find("the scope is over"), std::string::npos) << thunder_status_message(status);
    thunder_status_release(status);
  };
  const thunder_any number{THUNDER_FLOAT, 0, {.f = 1}};
  is_over(thunder_tensor_status(thunder_scope_number(kept, &number)));
  const thunder_any arguments[] = {{THUNDER_TENSOR, 0, {.t = world.x}}};
  is_over(thunder_tensor_status(thunder_op_invoke(kept, "neg", arguments, 1, nullptr, nullptr, 0, nullptr)));
  is_over(thunder_scope_status(kept));
  EXPECT_EQ(thunder_scope_list(kept, &world.x, 1), nullptr);
  EXPECT_EQ(thunder_scope_context(kept), nullptr);
  EXPECT_EQ(thunder_scope_is_tracing(kept), 0);
  thunder_scope_fail(kept, thunder_status_create(THUNDER_CALLBACK, "late", 4));
  thunder_scope_reset(kept);
  thunder_scope_release(kept);
  thunder_compiled_release(compiled);
  thunder_function_release(f);
}

TEST(Lent, values_that_were_retained_are_the_callbacks_own) {
  World world;
  static thunder_values* kept = nullptr;
  EXPECT_EQ(apply(world, [](thunder_scope*, const thunder_values* in, thunder_values*, void*) -> thunder_status* {
    kept = thunder_values_retain(const_cast<thunder_values*>(in));
    thunder_values_release(thunder_values_retain(kept));
    return nullptr;
  }), nullptr);
  EXPECT_EQ(thunder_values_count(kept), 1u);
  thunder_values_release(kept);
}

TEST(Lent, values_of_a_scope_are_its_own) {
  World world;
  thunder_values* list = thunder_scope_list(world.scope, &world.x, 1);
  thunder_values_release(list);
  EXPECT_EQ(thunder_values_count(list), 1u);
  expect_refused(thunder_values_status(list));
  // Who retained some is their owner when the scope has dropped them.
  thunder_values* kept = thunder_values_retain(thunder_scope_list(world.scope, &world.x, 1));
  thunder_scope_reset(world.scope);
  EXPECT_EQ(thunder_values_count(kept), 1u);
  thunder_values_release(kept);
}

// To a leaf that is not there yet leaves are added, which values that have failed do not take.
TEST(Lent, values_that_have_failed_are_bound_to_nothing) {
  World world;
  thunder_values* out = nullptr;
  ASSERT_EQ(thunder_values_create(world.context, &out), nullptr);
  thunder_values_close(out);
  thunder_values_bind(out, 3, world.x);
  EXPECT_EQ(thunder_values_count(out), 0u);
  thunder_status* status = thunder_values_status(out);
  EXPECT_EQ(std::string(thunder_status_message(status)), "values: close without an open group");
  thunder_status_release(status);
  thunder_values_release(out);
}

TEST(Lent, arguments_of_ops_and_modules_are_looked_at_before_they_are_followed) {
  World world;
  const thunder_any wrong[] = {{999, 0, {.i = 1}}, {THUNDER_DIMS, 3, {.d = nullptr}}, {THUNDER_STRING, 3, {.s = nullptr}}, {THUNDER_TENSOR, 0, {.t = nullptr}}};
  for (const thunder_any& any : wrong) {
    thunder_module* module = nullptr;
    const thunder_any args[] = {{THUNDER_INT, 0, {.i = 2}}, any};
    thunder_status* status = thunder_module_create(world.context, "Linear", args, 2, nullptr, &module);
    EXPECT_EQ(thunder_status_code(status), THUNDER_INVALID_ARGUMENT);
    EXPECT_NE(std::string(thunder_status_message(status)).find("Linear: argument 1: "), std::string::npos) << thunder_status_message(status);
    thunder_status_release(status);
  }
}

}  // namespace
