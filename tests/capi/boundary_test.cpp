// Exceptions, ownership and the hooks of a context, as the boundary turns them.
// covers: capi/context.cpp capi/function.cpp
#include "capi/boundary.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "capi/context.h"
#include "capi/function.h"
#include "thunder/ops.h"

namespace {

using namespace thunder;
using namespace thunder::capi;

struct Owned {
  Status* status;
  ~Owned() { status->release(); }
};

TEST(Boundary, turns_each_exception_into_a_status) {
  const Owned ours{guarded("f", [] { fail(Code::not_found, "no such thing"); })};
  EXPECT_EQ(ours.status->code(), Code::not_found);
  EXPECT_EQ(ours.status->message(), "no such thing");
  const Owned refused{guarded("thunder_f", [] { need(nullptr, "x"); })};
  EXPECT_EQ(refused.status->code(), Code::invalid_argument);
  EXPECT_EQ(refused.status->message(), "thunder_f: x is NULL");
  const Owned foreign{guarded("f", [] { throw std::runtime_error("odd"); })};
  EXPECT_EQ(foreign.status->code(), Code::internal);
  EXPECT_NE(foreign.status->message().find("odd"), std::string::npos);
  const Owned unknown{guarded("f", [] { throw 7; })};
  EXPECT_EQ(unknown.status->code(), Code::internal);
  EXPECT_EQ(guarded("f", [] {}), nullptr);
}

// What a callback throws, or says wrongly, is its own: not an error of the library.
TEST(Boundary, blames_callbacks_for_what_they_do) {
  thunder_context* context = nullptr;
  ASSERT_EQ(thunder_context_create(nullptr, &context), nullptr);
  const auto message_of = [&](thunder_fn callback) {
    thunder_function* function = nullptr;
    thunder_compiled* compiled = nullptr;
    EXPECT_EQ(thunder_function_create(context, "mine", callback, nullptr, nullptr, &function), nullptr);
    EXPECT_EQ(thunder_compile(function, nullptr, &compiled), nullptr);
    thunder_status* failed = thunder_compiled_call_tensors(compiled, nullptr, 0, nullptr, 0);
    EXPECT_NE(failed, nullptr);
    EXPECT_EQ(thunder_status_code(failed), THUNDER_CALLBACK);
    const std::string message = thunder_status_message(failed);
    thunder_status_release(failed);
    thunder_compiled_release(compiled);
    thunder_function_release(function);
    return message;
  };
  const std::string thrown = message_of([](thunder_scope*, const thunder_values*, thunder_values*, void*) -> thunder_status* {
    throw std::runtime_error("my own mistake");
  });
  EXPECT_NE(thrown.find("mine threw an exception: my own mistake"), std::string::npos) << thrown;
  EXPECT_EQ(thrown.find("please report"), std::string::npos) << thrown;
  const std::string ok = message_of([](thunder_scope*, const thunder_values*, thunder_values*, void*) -> thunder_status* {
    return thunder_status_create(THUNDER_OK, "fine", 4);
  });
  EXPECT_NE(ok.find("whose code is OK"), std::string::npos) << ok;
  thunder_context_release(context);
}

TEST(Boundary, answers_out_of_memory_without_allocating) {
  const Owned first{guarded("f", [] { throw std::bad_alloc(); })}, second{guarded("f", [] { throw std::bad_alloc(); })};
  EXPECT_EQ(first.status, second.status);
  EXPECT_EQ(first.status->code(), Code::out_of_memory);
}

TEST(Status, hands_a_foreign_object_back_under_its_tag_and_destroys_it_once) {
  int destroyed = 0;
  auto destroy = [](void* object) { ++*static_cast<int*>(object); };
  thunder_status* s = thunder_status_create(THUNDER_CALLBACK, "text longer than given", 4);
  EXPECT_STREQ(thunder_status_message(s), "text");
  thunder_status_set_foreign(s, "lua", &destroyed, destroy);
  EXPECT_EQ(thunder_status_foreign(s, "lua"), &destroyed);
  EXPECT_EQ(thunder_status_foreign(s, "python"), nullptr);
  thunder_status_release(thunder_status_retain(s));
  EXPECT_EQ(destroyed, 0);
  thunder_status_release(s);
  EXPECT_EQ(destroyed, 1);
  thunder_status_set_foreign(nullptr, "lua", &destroyed, destroy);
  EXPECT_EQ(destroyed, 2);
}

struct Counts {
  std::atomic<int> blocks{0}, destroyed{0};
};

thunder_hooks counting_hooks(Counts& counts) {
  thunder_hooks hooks{};
  hooks.size = sizeof hooks;
  hooks.user = &counts;
  hooks.allocate = [](size_t bytes, size_t align, void* user) {
    static_cast<Counts*>(user)->blocks++;
    return std::aligned_alloc(align, (bytes + align - 1) / align * align);
  };
  hooks.deallocate = [](void* memory, size_t, size_t, void* user) {
    static_cast<Counts*>(user)->blocks--;
    std::free(memory);
  };
  hooks.destroy = [](void* user) { static_cast<Counts*>(user)->destroyed++; };
  return hooks;
}

TEST(Context, destroys_its_hooks_after_the_last_tensor_that_they_allocated) {
  Counts counts;
  const thunder_hooks hooks = counting_hooks(counts);
  thunder_context* context = nullptr;
  ASSERT_EQ(thunder_context_create(&hooks, &context), nullptr);
  const int64_t shape = 2;
  const float data[] = {1, 2};
  thunder_tensor* t = nullptr;
  ASSERT_EQ(thunder_tensor_create(context, THUNDER_F32, 1, &shape, 0, data, sizeof data, &t), nullptr);
  EXPECT_GE(counts.blocks, 1);
  thunder_context_release(context);
  EXPECT_EQ(counts.destroyed, 0);
  thunder_tensor_release(t);
  EXPECT_EQ(counts.blocks, 0);
  EXPECT_EQ(counts.destroyed, 1);
}

TEST(Context, destroys_its_hooks_once_when_creation_fails) {
  Counts counts;
  thunder_hooks hooks = counting_hooks(counts);
  hooks.deallocate = nullptr;
  thunder_context* context = nullptr;
  thunder_status* refused = thunder_context_create(&hooks, &context);
  EXPECT_EQ(thunder_status_code(refused), THUNDER_INVALID_ARGUMENT);
  thunder_status_release(refused);
  EXPECT_EQ(counts.destroyed, 1);
}

// Allocations that succeed before one fails.
struct Budget {
  int left;
};

thunder_status* add_and_compile(thunder_context* context) {
  const int64_t shape = 2;
  const float data[] = {1, 2};
  thunder_tensor *x = nullptr, *y = nullptr;
  thunder_scope* scope = nullptr;
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  auto twice = [](thunder_scope* s, const thunder_values* in, thunder_values* out, void*) -> thunder_status* {
    thunder_values_push_tensor(out, th_exp(s, th_add(s, thunder_values_tensor(in, 0), thunder_values_tensor(in, 0))));
    return nullptr;
  };
  thunder_status* st = thunder_tensor_create(context, THUNDER_F32, 1, &shape, 0, data, sizeof data, &x);
  if (!st) st = thunder_scope_create(context, THUNDER_SCOPE_TAPED, &scope);
  if (!st) th_add(scope, x, x), st = thunder_scope_status(scope);
  if (!st) st = thunder_function_create(context, "twice", twice, nullptr, nullptr, &f);
  if (!st) st = thunder_compile(f, nullptr, &compiled);
  if (!st) st = thunder_compiled_call_tensors(compiled, &x, 1, &y, 1);
  thunder_tensor_release(x);
  thunder_tensor_release(y);
  thunder_scope_release(scope);
  thunder_compiled_release(compiled);
  thunder_function_release(f);
  return st;
}

TEST(Context, reports_memory_that_runs_out_wherever_it_does) {
  thunder_hooks hooks{};
  hooks.size = sizeof hooks;
  hooks.allocate = [](size_t bytes, size_t align, void* user) -> void* {
    if (static_cast<Budget*>(user)->left-- <= 0) return nullptr;
    return std::aligned_alloc(align, (bytes + align - 1) / align * align);
  };
  hooks.deallocate = [](void* memory, size_t, size_t, void*) { std::free(memory); };
  int refused = 0;
  for (int allocations = 0; allocations < 100; allocations++) {
    Budget budget{allocations};
    hooks.user = &budget;
    thunder_context* context = nullptr;
    thunder_status* st = thunder_context_create(&hooks, &context);
    if (!st) st = add_and_compile(context);
    thunder_context_release(context);
    if (!st) break;
    EXPECT_EQ(thunder_status_code(st), THUNDER_OUT_OF_MEMORY) << thunder_status_message(st);
    thunder_status_release(st);
    refused++;
  }
  EXPECT_GE(refused, 4);  // the random state, the tensor, the sum, the result
  EXPECT_LT(refused, 100);
}

TEST(Context, describes_its_ops_as_json) {
  thunder_context* context = nullptr;
  thunder_values* out = nullptr;
  ASSERT_EQ(thunder_context_create(nullptr, &context), nullptr);
  ASSERT_EQ(thunder_values_create(context, &out), nullptr);
  ASSERT_EQ(thunder_context_describe(context, "ops", out), nullptr);
  const std::string text = thunder_values_str(out, 0, nullptr);
  EXPECT_NE(text.find(R"("name":"add")"), std::string::npos);
  EXPECT_NE(text.find(R"("parameters":[{"name":"input","kind":"tensor","optional":false,"has_default":false},)"
                      R"({"name":"split_size","kind":"int[]",)"), std::string::npos);
  for (const char* part : {R"("name":"dim","kind":"int[]","optional":true,"has_default":true,"default":null})",
                           R"("name":"keepdim","kind":"bool","optional":false,"has_default":true,"default":false})",
                           R"("name":"reduction","kind":"str","optional":false,"has_default":true,"default":"mean"})",
                           R"("name":"padding","kind":"int[]","optional":false,"has_default":true,"default":[0,0]})",
                           R"("name":"negative_slope","kind":"float","optional":false,"has_default":true,"default":0.01})"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  thunder_status* refused = thunder_context_describe(context, "opps", out);
  EXPECT_NE(std::string(thunder_status_message(refused)).find("did you mean 'ops'?"), std::string::npos);
  thunder_status_release(refused);
  thunder_values_release(out);
  thunder_context_release(context);
}

TEST(Op, gives_as_many_results_as_its_arguments_make) {
  thunder_context* context = nullptr;
  thunder_scope* scope = nullptr;
  ASSERT_EQ(thunder_context_create(nullptr, &context), nullptr);
  ASSERT_EQ(thunder_scope_create(context, 0, &scope), nullptr);
  const int64_t shape[] = {7}, size = 3;
  const float data[7] = {0, 1, 2, 3, 4, 5, 6};
  thunder_tensor* x = nullptr;
  ASSERT_EQ(thunder_tensor_create(context, THUNDER_F32, 1, shape, 0, data, sizeof data, &x), nullptr);
  const thunder_any args[] = {thunder_any_tensor(x), thunder_any_dims(&size, 1)};
  thunder_values* parts = thunder_op_invoke_all(scope, "split", args, 2, nullptr, nullptr);
  ASSERT_EQ(thunder_values_count(parts), 3u);
  EXPECT_EQ(thunder_tensor_size(thunder_values_tensor(parts, 2), 0), 1);
  EXPECT_EQ(thunder_values_count(thunder_op_invoke_all(scope, "splot", args, 2, nullptr, nullptr)), 0u);
  thunder_status* failed = thunder_scope_status(scope);
  EXPECT_NE(std::string(thunder_status_message(failed)).find("unknown op 'splot'"), std::string::npos);
  thunder_status_release(failed);
  thunder_tensor_release(x);
  thunder_scope_release(scope);
  thunder_context_release(context);
}

TEST(Scope, is_refused_on_another_thread) {
  thunder_context* context = nullptr;
  thunder_scope* scope = nullptr;
  ASSERT_EQ(thunder_context_create(nullptr, &context), nullptr);
  ASSERT_EQ(thunder_scope_create(context, 0, &scope), nullptr);
  std::thread([&] {
    thunder_tensor* t = th_f64(scope, 1.0);
    thunder_status* why = thunder_tensor_status(t);
    EXPECT_NE(std::string(thunder_status_message(why)).find("another thread"), std::string::npos);
    thunder_status_release(why);
    EXPECT_EQ(thunder_scope_list(scope, nullptr, 0), nullptr);
    why = thunder_scope_status(scope);
    EXPECT_EQ(thunder_status_code(why), THUNDER_INVALID_ARGUMENT);
    thunder_status_release(why);
  }).join();
  EXPECT_EQ(thunder_scope_status(scope), nullptr);
  thunder_scope_release(scope);
  thunder_context_release(context);
}

TEST(Scope, keeps_its_context_alive) {
  Counts counts;
  const thunder_hooks hooks = counting_hooks(counts);
  thunder_context* context = nullptr;
  thunder_scope* scope = nullptr;
  ASSERT_EQ(thunder_context_create(&hooks, &context), nullptr);
  ASSERT_EQ(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &scope), nullptr);
  thunder_context_release(context);
  const int64_t shape = 2;
  const float data[] = {1, 2};
  thunder_tensor* x = nullptr;
  ASSERT_EQ(thunder_tensor_create(thunder_scope_context(scope), THUNDER_F32, 1, &shape, 0, data, sizeof data, &x),
            nullptr);
  float sum[2] = {};
  ASSERT_EQ(thunder_tensor_read(th_add(scope, x, x), sum, sizeof sum), nullptr);
  EXPECT_EQ(sum[1], 4);
  thunder_tensor_release(x);
  EXPECT_EQ(counts.destroyed, 0);
  thunder_scope_release(scope);
  EXPECT_EQ(counts.destroyed, 1);
}

TEST(Function, turns_an_exception_of_its_callback_into_a_status) {
  thunder_context* context = nullptr;
  thunder_function* f = nullptr;
  thunder_scope* scope = nullptr;
  thunder_values* in = nullptr;
  ASSERT_EQ(thunder_context_create(nullptr, &context), nullptr);
  auto throws = [](thunder_scope*, const thunder_values*, thunder_values*, void*) -> thunder_status* {
    throw std::runtime_error("odd");
  };
  ASSERT_EQ(thunder_function_create(context, "thrower", throws, nullptr, nullptr, &f), nullptr);
  ASSERT_EQ(thunder_scope_create(context, 0, &scope), nullptr);
  ASSERT_EQ(thunder_values_create(context, &in), nullptr);
  EXPECT_EQ(thunder_values_count(thunder_function_apply(scope, f, in)), 0u);
  thunder_status* why = thunder_scope_status(scope);
  EXPECT_NE(std::string(thunder_status_message(why)).find("odd"), std::string::npos);
  thunder_status_release(why);
  thunder_values_release(in);
  thunder_scope_release(scope);
  thunder_function_release(f);
  thunder_context_release(context);
}

}  // namespace
