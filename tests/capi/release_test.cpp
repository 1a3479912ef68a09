// Callbacks that release the last handles of what is calling them: all of it lives until the call is over, and then goes.
#include <gtest/gtest.h>
#include <thunder.h>
#include <thunder/ops.h>

#include <functional>
#include <string>
#include <vector>

namespace {

// What the one callback of a test does, once.
std::function<void()> once;
void do_once() {
  if (auto body = std::exchange(once, nullptr)) body();
}

void count(void* user) { ++*static_cast<int*>(user); }

thunder_status* like_input(const thunder_node* node, thunder_types* results, void*) {
  thunder_types_push_like(results, thunder_node_input(node, 0));
  return nullptr;
}
thunder_status* double_it(const thunder_launch* launch, const thunder_any*, void*) {
  do_once();
  const auto* x = static_cast<const float*>(launch->inputs[0].data);
  auto* y = static_cast<float*>(launch->outputs[0].data);
  for (int64_t i = 0; i < launch->inputs[0].shape[0]; i++) y[i] = 2 * x[i];
  return nullptr;
}
thunder_status* invoke_it(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  const thunder_any x = thunder_any_tensor(thunder_values_tensor(in, 0));
  thunder_values_push_tensor(out, thunder_op_invoke(s, "mine.twice", &x, 1, nullptr, nullptr, 0, nullptr));
  return nullptr;
}
thunder_status* add_it(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  do_once();
  thunder_tensor* x = thunder_values_tensor(in, 0);
  thunder_values_push_tensor(out, th_add(s, x, x));
  return nullptr;
}

// A context with an op "mine.twice" whose kernel does what `once` says, a tensor and a function; what of them is gone is counted.
struct ReleasedInside : testing::Test {
  ReleasedInside() {
    EXPECT_EQ(thunder_context_create(nullptr, &context), nullptr);
    thunder_op_desc op{};
    op.size = sizeof op, op.schema = "mine.twice(tensor x) -> tensor", op.doc = "Twice its input.", op.meta = like_input;
    op.user = &ops_gone, op.destroy = count;  // with the context
    EXPECT_EQ(thunder_context_add_op(context, &op), nullptr);
    thunder_kernel_desc kernel{};
    kernel.size = sizeof kernel, kernel.run = double_it;
    EXPECT_EQ(thunder_context_add_kernel(context, "mine.twice", &kernel), nullptr);
    const int64_t shape[] = {2};
    EXPECT_EQ(thunder_tensor_borrow(context, THUNDER_F32, 1, shape, nullptr, THUNDER_CPU, data, sizeof data, count, &tensors_gone, &x), nullptr);
  }
  ~ReleasedInside() override { once = nullptr; }

  void make_function(thunder_fn f) { EXPECT_EQ(thunder_function_create(context, "f", f, &functions_gone, count, &function), nullptr); }
  void compile(thunder_fn callback, const thunder_options* options = nullptr) {
    make_function(callback);
    EXPECT_EQ(thunder_compile(function, options, &compiled), nullptr);
  }
  void release_all() {
    thunder_compiled_release(std::exchange(compiled, nullptr));
    thunder_function_release(std::exchange(function, nullptr));
    thunder_tensor_release(std::exchange(x, nullptr));
    thunder_context_release(std::exchange(context, nullptr));
    released = true;
  }
  void expect_alive() {
    EXPECT_EQ(ops_gone, 0);
    EXPECT_EQ(tensors_gone, 0);
    EXPECT_EQ(functions_gone, 0);
  }
  void expect_gone() {
    EXPECT_TRUE(released);
    EXPECT_EQ(ops_gone, 1);
    EXPECT_EQ(tensors_gone, 1);
    EXPECT_EQ(functions_gone, 1);
  }
  void release_all_once() {
    once = [this] {
      release_all();
      expect_alive();
    };
  }
  static void expect_doubled(thunder_tensor* y) {
    float got[2] = {};
    EXPECT_EQ(thunder_tensor_read(y, got, sizeof got), nullptr);
    EXPECT_EQ(got[0], 2);
    EXPECT_EQ(got[1], 4);
    thunder_tensor_release(y);
  }
  thunder_tensor* call_tensors() {
    thunder_tensor *in = x, *y = nullptr;
    EXPECT_EQ(thunder_compiled_call_tensors(compiled, &in, 1, &y, 1), nullptr);
    return y;
  }

  float data[2] = {1, 2};
  int ops_gone = 0, tensors_gone = 0, functions_gone = 0;
  bool released = false;
  thunder_context* context = nullptr;
  thunder_tensor* x = nullptr;
  thunder_function* function = nullptr;
  thunder_compiled* compiled = nullptr;
};

TEST_F(ReleasedInside, a_traced_function_may_release_all_that_traces_it) {
  compile(add_it);
  release_all_once();
  expect_doubled(call_tensors());
  expect_gone();
}

TEST_F(ReleasedInside, a_kernel_may_release_all_that_a_call_works_on) {
  compile(invoke_it);
  expect_doubled(call_tensors());
  release_all_once();
  expect_doubled(call_tensors());  // what it was compiled for before
  expect_gone();
}

TEST_F(ReleasedInside, a_kernel_may_release_the_values_of_the_call) {
  compile(invoke_it);
  thunder_values *in = nullptr, *out = nullptr;
  ASSERT_EQ(thunder_values_create(context, &in), nullptr);
  ASSERT_EQ(thunder_values_create(context, &out), nullptr);
  thunder_values_push_tensor(in, x);
  for (int call = 0; call < 2; call++) {
    if (call == 1) {
      once = [&] {
        thunder_values_release(in);
        release_all();
        expect_alive();
      };
    }
    ASSERT_EQ(thunder_compiled_call(compiled, nullptr, in, out), nullptr);
    expect_doubled(thunder_tensor_retain(thunder_values_tensor(out, 0)));
  }
  thunder_values_release(out);
  expect_gone();
}

thunder_status* prepare(const thunder_node*, void**, size_t*, void*) {
  do_once();
  return nullptr;
}
thunder_status* run(const thunder_launch* launch, void*) { return double_it(launch, nullptr, nullptr); }

struct ReleasedByAnExecutor : ReleasedInside {
  // In its prepare, while the function is compiled, or in its run.
  void release_in(bool running) {
    int executors_gone = 0;
    const char* ops[] = {"mine.twice"};
    thunder_executor_desc d{};
    d.size = sizeof d, d.name = "doubling", d.ops = ops, d.n_ops = 1, d.prepare = prepare, d.run = run;
    d.user = &executors_gone, d.destroy = count;
    thunder_executor* executor = nullptr;
    thunder_options* options = nullptr;
    ASSERT_EQ(thunder_executor_create(context, &d, &executor), nullptr);
    ASSERT_EQ(thunder_options_create(context, &options), nullptr);
    thunder_options_add_executor(options, executor);
    compile(invoke_it, options);
    if (running) expect_doubled(call_tensors());
    once = [&] {
      thunder_executor_release(executor);
      thunder_options_release(options);
      release_all();
      expect_alive();
      EXPECT_EQ(executors_gone, 0);
    };
    expect_doubled(call_tensors());
    expect_gone();
    EXPECT_EQ(executors_gone, 1);
  }
};

TEST_F(ReleasedByAnExecutor, what_prepares_may_go_while_it_prepares) { release_in(false); }
TEST_F(ReleasedByAnExecutor, what_runs_may_go_while_it_runs) { release_in(true); }

TEST_F(ReleasedInside, an_eager_function_may_release_itself_its_arguments_and_its_scope) {
  make_function(add_it);
  thunder_scope* scope = nullptr;
  thunder_values* in = nullptr;
  ASSERT_EQ(thunder_scope_create(context, 0, &scope), nullptr);
  ASSERT_EQ(thunder_values_create(context, &in), nullptr);
  thunder_values_push_tensor(in, x);
  once = [&] {
    thunder_values_release(in);
    release_all();
    thunder_scope_release(scope);
    expect_alive();
  };
  EXPECT_EQ(thunder_function_apply(scope, function, in), nullptr);  // what it made went with the scope
  expect_gone();
}

TEST_F(ReleasedInside, a_kernel_may_release_the_scope_in_which_it_runs) {
  thunder_scope* scope = nullptr;
  ASSERT_EQ(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &scope), nullptr);
  const thunder_any given = thunder_any_tensor(x);
  once = [&] {
    release_all();
    thunder_scope_release(scope);
    expect_alive();
  };
  thunder_tensor* y = thunder_op_invoke(scope, "mine.twice", &given, 1, nullptr, nullptr, 0, nullptr);
  EXPECT_FALSE(thunder_tensor_is_concrete(y));  // a failed one that is always there
  functions_gone = 1;  // there was none
  expect_gone();
}

TEST_F(ReleasedInside, a_kernel_that_resets_the_scope_in_which_it_runs_is_told) {
  thunder_scope* scope = nullptr;
  ASSERT_EQ(thunder_scope_create(context, 0, &scope), nullptr);
  const thunder_any given = thunder_any_tensor(x);
  once = [&] { thunder_scope_reset(scope); };
  thunder_op_invoke(scope, "mine.twice", &given, 1, nullptr, nullptr, 0, nullptr);
  thunder_status* told = thunder_scope_status(scope);
  EXPECT_NE(std::string(thunder_status_message(told)).find("cannot reset the scope in which it is called"), std::string::npos)
      << thunder_status_message(told);
  thunder_status_release(told);
  thunder_scope_reset(scope);
  EXPECT_EQ(thunder_scope_status(scope), nullptr);
  thunder_scope_release(scope);
  release_all();
}

// A gradient rule, inside of a gradient that an eager scope takes.
TEST_F(ReleasedInside, a_gradient_rule_may_release_what_the_gradient_is_taken_of) {
  thunder_op_desc op{};
  op.size = sizeof op, op.schema = "mine.total(tensor x) -> tensor", op.doc = "The sum.";
  op.decompose = [](thunder_scope* s, const thunder_values* in, thunder_values* out, void*) -> thunder_status* {
    thunder_values_push_tensor(out, th_sum(s, thunder_values_tensor(in, 0)));
    return nullptr;
  };
  op.vjp = [](thunder_scope* s, const thunder_values* in, thunder_values* out, void*) -> thunder_status* {
    do_once();
    thunder_tensor* one = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_add(s, one, one));
    return nullptr;
  };
  ASSERT_EQ(thunder_context_add_op(context, &op), nullptr);
  thunder_scope* scope = nullptr;
  thunder_values* wrt = nullptr;
  ASSERT_EQ(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &scope), nullptr);
  ASSERT_EQ(thunder_values_create(context, &wrt), nullptr);
  thunder_values_push_tensor(wrt, x);
  const thunder_any given = thunder_any_tensor(x);
  thunder_tensor* loss = thunder_op_invoke(scope, "mine.total", &given, 1, nullptr, nullptr, 0, nullptr);
  once = [&] {
    thunder_values_release(wrt);
    release_all();
    EXPECT_EQ(ops_gone + tensors_gone, 0);
  };
  thunder_values* grads = thunder_scope_grad(scope, loss, wrt);
  expect_doubled(thunder_tensor_retain(thunder_values_tensor(grads, 0)));
  thunder_scope_release(scope);
  functions_gone = 1;  // there was none
  expect_gone();
}

TEST_F(ReleasedInside, a_meta_may_release_the_context_of_the_text_that_is_parsed) {
  thunder_op_desc op{};
  op.size = sizeof op, op.schema = "mine.same(tensor x) -> tensor", op.doc = "Its input.";
  op.meta = [](const thunder_node* node, thunder_types* results, void*) {
    do_once();
    return like_input(node, results, nullptr);
  };
  ASSERT_EQ(thunder_context_add_op(context, &op), nullptr);
  const std::string text =
      "-- libthunder trace 1: f, after trace (0.000 ms)\n-- i[1] x: f32[2]\nreturn function(p, c, i)\n  local t = {}\n"
      "  t[1] = mine.same(i[1])  -- f32[2]\n  return t[1]\nend\n";
  once = [this] {
    thunder_context_release(std::exchange(context, nullptr));
    EXPECT_EQ(ops_gone, 0);
  };
  thunder_trace* trace = nullptr;
  thunder_status* failed = thunder_trace_parse(context, text.data(), text.size(), &trace);
  EXPECT_EQ(failed, nullptr) << thunder_status_message(failed);
  EXPECT_EQ(ops_gone, 0);  // the trace keeps its context
  thunder_trace_release(trace);
  EXPECT_EQ(ops_gone, 1);
  release_all();
}

}  // namespace
