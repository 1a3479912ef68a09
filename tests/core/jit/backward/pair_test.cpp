// Compiled functions on tapes: a forward and a backward program, whose gradients are those of the ops one by one.
// covers: core/ops/grad.cpp core/tracer/eager.cpp
#include "jit/backward/apply.h"
#include "ops/grad.h"
#include "support/functions.h"
#include "tracer/eager.h"

namespace thunder::test {
namespace {

struct Pair : CompiledTest {
  Tensor* sum(Scope& s, Tensor* t) { return op(s, "sum", {any(t)}); }
  Tensor* mul(Scope& s, Tensor* a, Tensor* b) { return op(s, "mul", {any(a), any(b)}); }

  std::vector<Tensor*> apply(Scope& tape, Compiled& f, std::vector<Tensor*> in, bool eagerly = false) {
    Values values;
    for (Tensor* t : in) values.push(Ref<Tensor>(t));
    const Values* out = eagerly ? thunder::apply(tape, *f.shared_function(), values) : thunder::apply(tape, f, values);
    EXPECT_FALSE(tape.status()) << tape.status()->message();
    std::vector<Tensor*> tensors;
    for (size_t i = 0; i < out->size(); i++) tensors.push_back((*out)[i].tensor.get());
    return tensors;
  }
  Tensor* gradient(Scope& s, Tensor* loss, Tensor* of) {
    Values wrt;
    wrt.push(Ref<Tensor>(of));
    const Values* out = s.grad(loss, wrt);
    EXPECT_FALSE(s.status()) << s.status()->message();
    return s.status() ? loss : (*out)[0].tensor.get();
  }
  static bool close(const Floats& a, const Floats& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); i++)
      if (std::abs(a[i] - b[i]) > 1e-5f * std::max(1.f, std::abs(a[i]))) return false;
    return true;
  }
};

TEST_F(Pair, gives_the_gradients_of_the_ops_one_by_one) {
  auto w = random({4, 3}, 1);
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* h = op(s, "linear", {any(in[0].tensor.get()), any(w)});
    out.push(Ref<Tensor>(op(s, "gelu", {any(op(s, "softmax", {any(h), Any::integer(1)}))})));
    out.push(Ref<Tensor>(h));
  });
  auto x = random({2, 3}, 2);
  Floats got[2][3];
  for (int eagerly = 0; eagerly < 2; eagerly++) {
    EagerScope tape(context->scope_environment(), true);
    const auto y = apply(tape, *f, {x.get()}, eagerly);
    Tensor* loss = sum(tape, mul(tape, y[0], y[1]));
    got[eagerly][0] = data(*loss);
    got[eagerly][1] = data(*gradient(tape, loss, x.get()));
    got[eagerly][2] = data(*gradient(tape, loss, w.get()));
  }
  for (int i = 0; i < 3; i++) EXPECT_TRUE(close(got[0][i], got[1][i])) << i;
  EXPECT_EQ(f->reports().statistics().misses, 1u);
}

// Replaces exp(x) by exp(x) + x.
bool add_argument(const NodeView& node, BuilderScope& scope, Results& results, void*) {
  if (node.node.op->name() != "exp") return false;
  const Var x = scope.builder().var(node.node.args[0].v);
  results = {scope.builder().call("add", {scope.builder().call("exp", {x}), x}).id};
  return true;
}

TEST_F(Pair, applies_transforms_of_executors_once) {
  auto options = by_line();
  options->add_executor(make<Executor>(ExecutorDesc{.name = "mine",
                                                    .ops = {"exp"},
                                                    .prepare = [](const NodeView&, void*) -> KernelPtr {
                                                      fail(Code::declined, "it has no kernels");
                                                    },
                                                    .execution_transform = add_argument}));
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor.get())})));
  }, options.get());
  auto x = tensor({2}, {0, 1});
  EXPECT_TRUE(close(run(*f, {x.get()}), {1, std::exp(1.f) + 1}));
  EagerScope tape(context->scope_environment(), true);
  const auto y = apply(tape, *f, {x.get()});
  EXPECT_TRUE(close(data(*y[0]), {1, std::exp(1.f) + 1}));
  EXPECT_TRUE(close(data(*gradient(tape, sum(tape, y[0]), x.get())), {2, std::exp(1.f) + 1}));
}

TEST_F(Pair, runs_its_backward_as_often_as_it_is_asked) {
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(sum(s, op(s, "exp", {any(in[0].tensor.get())}))));
  });
  auto x = tensor({2}, {0, 1});
  EagerScope tape(context->scope_environment(), true);
  Tensor* loss = apply(tape, *f, {x.get()})[0];
  const Floats once = data(*gradient(tape, loss, x.get()));
  EXPECT_EQ(data(*gradient(tape, loss, x.get())), once);
  Tensor* both = op(tape, "add", {any(loss), any(apply(tape, *f, {x.get()})[0])});
  EXPECT_EQ(data(*gradient(tape, both, x.get())), (Floats{2 * once[0], 2 * once[1]}));
}

TEST_F(Pair, has_gradients_of_gradients) {
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    out.push(Ref<Tensor>(sum(s, mul(s, mul(s, x, x), mul(s, x, x)))));
  });
  auto x = tensor({2}, {1, 2});
  EagerScope tape(context->scope_environment(), true);
  Tensor* first = gradient(tape, apply(tape, *f, {x.get()})[0], x.get());
  EXPECT_EQ(data(*first), (Floats{4, 32}));
  Tensor* second = gradient(tape, sum(tape, first), x.get());
  EXPECT_EQ(data(*second), (Floats{12, 48}));
  EXPECT_EQ(data(*gradient(tape, sum(tape, second), x.get())), (Floats{24, 48}));
}

// Of what is compiled for one call alone nothing but the tape keeps the backward.
TEST_F(Pair, has_gradients_beyond_the_recompile_limit) {
  CompileOptions options;
  options.set("dynamic", Any::boolean(false));
  options.set("recompile_limit", Any::integer(1));
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(sum(s, mul(s, in[0].tensor.get(), in[0].tensor.get()))));
  }, &options);
  for (int64_t n = 1; n < 5; n++) {
    auto x = tensor({n}, Floats(static_cast<size_t>(n), 3));
    EagerScope tape(context->scope_environment(), true);
    EXPECT_EQ(data(*gradient(tape, apply(tape, *f, {x.get()})[0], x.get())), Floats(static_cast<size_t>(n), 6));
  }
}

TEST_F(Pair, shows_the_program_of_its_backward) {
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(sum(s, op(s, "tanh", {any(in[0].tensor.get())}))));
  });
  EXPECT_EQ(f->reports().latest_backward(), nullptr);
  auto x = tensor({2}, {0, 1});
  EagerScope tape(context->scope_environment(), true);
  Tensor* loss = apply(tape, *f, {x.get()})[0];
  EXPECT_EQ(f->reports().latest_backward(), nullptr);
  gradient(tape, loss, x.get());
  ASSERT_NE(f->reports().latest_backward(), nullptr);
  EXPECT_EQ(f->reports().latest_backward()->traces.front().outputs.size(), 1u);
  ASSERT_NE(f->reports().latest(), nullptr);
  EXPECT_EQ(f->reports().latest()->traces.front().function, "f");
  // What is compiled next is the latest again.
  run(*f, {x.get()});
  EXPECT_EQ(f->reports().latest()->traces.front().outputs.size(), 1u);
}

TEST_F(Pair, keeps_what_it_saved_where_that_is_written_later) {
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    out.push(Ref<Tensor>(sum(s, mul(s, x, x))));
  });
  auto x = tensor({2}, {1, 2});
  EagerScope tape(context->scope_environment(), true);
  Tensor* y = op(tape, "mul", {any(x), Any::real(1)});
  Tensor* loss = apply(tape, *f, {y})[0];
  op(tape, "zero_", {any(y)});
  EXPECT_EQ(data(*gradient(tape, loss, x.get())), (Floats{2, 4}));
}

TEST_F(Pair, draws_other_numbers_than_the_tape_around_it) {
  const auto drop = [](Scope& s, Tensor* x) { return op(s, "dropout", {any(x), Any::real(0.5)}); };
  auto f = compile([&](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(drop(s, in[0].tensor.get()))); });
  auto x = tensor({64}, Floats(64, 1));
  EagerScope tape(context->scope_environment(), true);
  const Floats before = data(*drop(tape, x.get()));
  Tensor* y = apply(tape, *f, {x.get()})[0];
  const Floats inside = data(*y), after = data(*drop(tape, x.get()));
  EXPECT_NE(before, inside);
  EXPECT_NE(inside, after);
  EXPECT_NE(before, after);
  EXPECT_EQ(data(*gradient(tape, sum(tape, y), x.get())), inside);
}

TEST_F(Pair, writes_what_the_function_writes) {
  auto count = tensor({2}, {1, 1});
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    op(s, "add_", {any(count), any(x)});
    out.push(Ref<Tensor>(sum(s, mul(s, x, x))));
  });
  auto x = tensor({2}, {1, 2});
  EagerScope tape(context->scope_environment(), true);
  Tensor* loss = apply(tape, *f, {x.get()})[0];
  EXPECT_EQ(data(*count), (Floats{2, 3}));
  Tensor* both = op(tape, "add", {any(loss), any(sum(tape, mul(tape, count.get(), count.get())))});
  EXPECT_EQ(data(*gradient(tape, both, x.get())), (Floats{2 + 4, 4 + 6}));
}

TEST_F(Pair, runs_op_by_op_where_results_depend_on_what_it_writes) {
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    op(s, "mul_", {any(x), Any::real(2)});
    out.push(Ref<Tensor>(sum(s, mul(s, x, x))));
  });
  auto x = tensor({2}, {1, 2});
  EagerScope tape(context->scope_environment(), true);
  Tensor* loss = apply(tape, *f, {x.get()})[0];
  EXPECT_EQ(data(*loss), Floats{20});
  EXPECT_EQ(data(*gradient(tape, loss, x.get())), (Floats{4, 8}));
  EXPECT_EQ(f->reports().latest_backward(), nullptr);
}

TEST_F(Pair, refuses_a_gradient_of_a_gradient_that_would_draw_again) {
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "dropout", {any(op(s, "matmul", {any(x), any(x)})), Any::real(0.5)});
    out.push(Ref<Tensor>(sum(s, mul(s, y, y))));
  });
  auto x = tensor({2, 2}, {1, 2, 3, 4});
  EagerScope tape(context->scope_environment(), true);
  Tensor* first = gradient(tape, apply(tape, *f, {x.get()})[0], x.get());
  Values wrt;
  wrt.push(Ref<Tensor>(x));
  tape.grad(sum(tape, first), wrt);
  ASSERT_TRUE(tape.status());
  EXPECT_NE(tape.status()->message().find("draws random numbers"), std::string::npos) << tape.status()->message();
}

}  // namespace
}  // namespace thunder::test
