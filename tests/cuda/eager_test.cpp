// Composites outside of programs (jit/eager/programs): each call on a device is a program of its own, and so are gradients and steps.
// Also covers eager_key, eager_functions and eager_steps.
// covers: core/jit/eager/programs.cpp core/jit/eager/steps.cpp core/jit/eager/prims/key.cpp core/jit/eager/functions.cpp
#include "cuda/cuda.h"
#include "jit/eager/programs.h"
#include "jit/eager/steps.h"
#include "support/fake_cuda/counted.h"
#include "tracer/eager.h"

namespace thunder::test {
namespace {

struct CudaEager : CudaTest {
  CudaEager() { use_eager_programs(*context); }
  // Of one call of an op of tensors, on the device or on the CPU.
  Ref<Tensor> called(std::string_view name, const std::vector<Any>& args) {
    EagerScope scope(context->scope_environment(), false);
    Tensor* out = nullptr;
    scope.invoke(name, args, nullptr, &out, 1, "here:1");
    error = scope.status() ? scope.status()->message() : "";
    return Ref<Tensor>(out);
  }
  Ref<Tensor> softmax(const Ref<Tensor>& x) { return called("softmax", {any(x), Any::integer(-1)}); }
  // Where the driver is a real one: what is expected.
  template <class F>
  int64_t launches_of(F&& run, int64_t expected) {
    const int64_t before = kernel_launches();
    run();
    return before < 0 ? expected : kernel_launches() - before;
  }
  void expect_near(const Floats& got, const Floats& expected) {
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 1e-5F) << i;
  }
};

TEST_F(CudaEager, composites_are_fused) {
  const Ref<Tensor> x = random({8, 64}, 1), there = on_gpu(x);
  softmax(there);
  Ref<Tensor> out;
  EXPECT_EQ(launches_of([&] { out = softmax(there); }, 1), 1);
  ASSERT_TRUE(out) << error;
  expect_near(data(*out), data(*softmax(x)));
}

TEST_F(CudaEager, strided_operands_are_those_of_another_program) {
  const Ref<Tensor> x = random({8, 6}, 1), there = on_gpu(x);
  const int64_t order[] = {1, 0};
  const auto transposed = [&](const Ref<Tensor>& t) { return called("permute", {any(t), Any::dims(order)}); };
  softmax(there);
  expect_near(data(*softmax(transposed(there))), data(*softmax(transposed(x))));
}

TEST_F(CudaEager, an_operand_may_be_left_out) {
  const Ref<Tensor> x = random({8, 6}, 1), weight = random({6}, 2);
  const int64_t size[] = {6};
  for (const bool scaled : {false, true}) {
    const auto normed = [&](const Ref<Tensor>& t, const Ref<Tensor>& w) {
      return called("layer_norm", {any(t), Any::dims(size), scaled ? any(w) : Any(), Any(), Any::real(1e-5)});
    };
    expect_near(data(*normed(on_gpu(x), on_gpu(weight))), data(*normed(x, weight)));
  }
}

// Programs for sizes that are others at each call would be compiled each time.
TEST_F(CudaEager, of_very_many_shapes_are_taken_apart) {
  int64_t fused = 0;
  for (int64_t n = 2; n < 40; n++) {
    const Ref<Tensor> x = random({2, n}, 1), there = on_gpu(x);
    softmax(there);
    Ref<Tensor> out;
    fused += launches_of([&] { out = softmax(there); }, 1) == 1;
    expect_near(data(*out), data(*softmax(x)));
  }
  if (kernel_launches() >= 0) {
    EXPECT_EQ(fused, 16);
  }
}

// The loss's backward, and the rule of gelu, which is many lines: a kernel each.
TEST_F(CudaEager, gradients_are_fused) {
  const auto gradient = [&](const Ref<Tensor>& x) {
    EagerScope tape(context->scope_environment(), true);
    Tensor* loss = op(tape, "sum", {any(op(tape, "gelu", {any(x)}))});
    Values wrt;
    wrt.push(x);
    int64_t launches = 0;
    Ref<Tensor> out;
    launches = launches_of([&] { out = (*tape.grad(loss, wrt))[0].tensor; }, 2);
    EXPECT_EQ(tape.status(), nullptr);
    return std::pair(data(*out), launches);
  };
  const Ref<Tensor> x = random({8, 6}, 1), there = on_gpu(x);
  gradient(there);
  const auto [found, launches] = gradient(there);
  EXPECT_LE(launches, 2);
  expect_near(found, gradient(x).first);
}

TEST_F(CudaEager, the_gradient_of_a_tensor_given_twice_is_the_sum) {
  const auto gradient = [&](const Ref<Tensor>& x) {
    EagerScope tape(context->scope_environment(), true);
    Tensor* loss = op(tape, "sum", {any(op(tape, "hypot", {any(x), any(x)}))});
    Values wrt;
    wrt.push(x);
    return data(*(*tape.grad(loss, wrt))[0].tensor);
  };
  const Ref<Tensor> x = random({8, 6}, 1);
  expect_near(gradient(on_gpu(x)), gradient(x));
}

TEST_F(CudaEager, a_step_of_an_optimizer_is_one_program) {
  const auto moved = [&](const Ref<Tensor>& a, const Ref<Tensor>& b, int64_t& launches) {
    Values params, grads;
    for (const Ref<Tensor>& t : {a, b}) params.push(t), grads.push(Ref<Tensor>(called("mul", {any(t), Any::real(2)})));
    const auto optimizer = make<Optimizer>(context->module_environment(), "AdamW", params, nullptr);
    EagerSteps steps(context, *optimizer);
    for (int i = 0; i < 3; i++) {
      EagerScope scope(context->scope_environment(), false);
      launches = launches_of([&] { steps.step(scope, grads); }, 1);
      EXPECT_EQ(scope.status(), nullptr);
    }
    Floats all = data(*a);
    for (float f : data(*b)) all.push_back(f);
    return all;
  };
  const auto make_two = [&] { return std::pair(random({8, 6}, 1), random({5}, 2)); };
  int64_t launches = 0;
  const auto [a, b] = make_two();
  const Floats found = moved(on_gpu(a), on_gpu(b), launches);
  EXPECT_LE(launches, 6);  // taken apart, it is more than a dozen a parameter
  const auto [c, d] = make_two();
  expect_near(found, moved(c, d, launches));
}

// What a program refuses is refused in the words of the optimizer.
TEST_F(CudaEager, a_step_with_a_gradient_of_another_shape_changes_nothing) {
  const Ref<Tensor> x = on_gpu(random({8, 6}, 1));
  const Floats before = data(*x);
  Values params, grads;
  params.push(x), grads.push(on_gpu(random({6, 8}, 2)));
  const auto optimizer = make<Optimizer>(context->module_environment(), "SGD", params, nullptr);
  EagerSteps steps(context, *optimizer);
  EagerScope scope(context->scope_environment(), false);
  steps.step(scope, grads);
  ASSERT_NE(scope.status(), nullptr);
  EXPECT_NE(std::string(scope.status()->message()).find("gradient"), std::string::npos) << scope.status()->message();
  EXPECT_EQ(data(*x), before);
}

TEST_F(CudaEager, gradients_on_a_tape_are_those_of_the_cpu) {
  const auto gradient = [&](const Ref<Tensor>& x, const Ref<Tensor>& weight) {
    EagerScope tape(context->scope_environment(), true);
    const int64_t size[] = {6};
    Tensor* normed = op(tape, "layer_norm", {any(x), Any::dims(size), any(weight), Any(), Any::real(1e-5)});
    Tensor* loss = op(tape, "sum", {any(op(tape, "mul", {any(op(tape, "gelu", {any(normed)})), any(x)}))});
    Values wrt;
    wrt.push(weight);
    return data(*(*tape.grad(loss, wrt))[0].tensor);
  };
  const Ref<Tensor> x = random({8, 6}, 1), weight = random({6}, 2);
  expect_near(gradient(on_gpu(x), on_gpu(weight)), gradient(x, weight));
}

// Gradients that are those of what an op is made of, whether for some arguments or always, and gradients of gradients.
TEST_F(CudaEager, gradients_of_decompositions_are_taken_by_running_them_again) {
  const auto gradient = [&](const Ref<Tensor>& x, const Ref<Tensor>& target, const Ref<Tensor>& weight) {
    EagerScope tape(context->scope_environment(), true);
    Tensor* loss = op(tape, "cross_entropy", {any(x), any(target), any(weight)});  // its rule has no gradient of the weights
    Tensor* var = op(tape, "norm", {any(x), Any::real(1), Any(), Any::boolean(false)});
    Tensor* sum = op(tape, "add", {any(loss), any(op(tape, "mul", {any(var), Any::real(0.1)}))});
    Values wrt;
    wrt.push(x), wrt.push(weight);
    const Values& first = *tape.grad(sum, wrt);
    EXPECT_EQ(tape.status(), nullptr);
    Tensor* squares = op(tape, "sum", {any(op(tape, "mul", {any(first[0].tensor), any(first[0].tensor)}))});
    const Values& second = *tape.grad(squares, wrt);
    EXPECT_EQ(tape.status(), nullptr);
    Floats all;
    for (const Values* v : {&first, &second})
      for (size_t i : {0, 1})
        for (float f : data(*(*v)[i].tensor)) all.push_back(f);
    return all;
  };
  const Ref<Tensor> x = random({8, 6}, 1, 0.5, 1), target = integers({8}, {0, 1, 2, 3, 4, 5, 0, 1}), weight = random({6}, 2, 0.5, 1);
  expect_near(gradient(on_gpu(x), on_gpu(target), on_gpu(weight)), gradient(x, target, weight));
}

TEST_F(CudaEager, gradients_of_gradients_go_through_ops_of_gradients) {
  const auto gradient = [&](const Ref<Tensor>& q, const Ref<Tensor>& k, const Ref<Tensor>& v) {
    EagerScope tape(context->scope_environment(), true);
    const auto squares = [&](Tensor* t) { return op(tape, "sum", {any(op(tape, "mul", {any(t), any(t)}))}); };
    Tensor* out = op(tape, "scaled_dot_product_attention", {any(q), any(k), any(v), Any(), Any::real(0), Any::boolean(true)});
    Values wrt;
    wrt.push(q), wrt.push(k), wrt.push(v);
    const Values& first = *tape.grad(squares(out), wrt);
    const Values& second = *tape.grad(squares(first[0].tensor.get()), wrt);
    EXPECT_EQ(tape.status(), nullptr);
    Floats all;
    for (size_t i : {0, 1, 2})
      for (float f : data(*second[i].tensor)) all.push_back(f);
    return all;
  };
  const Ref<Tensor> q = random({1, 2, 5, 8}, 1), k = random({1, 2, 5, 8}, 2), v = random({1, 2, 5, 8}, 3);
  expect_near(gradient(on_gpu(q), on_gpu(k), on_gpu(v)), gradient(q, k, v));
}

TEST_F(CudaEager, mistakes_are_reported_as_on_the_cpu) {
  const Ref<Tensor> x = random({8, 6}, 1), weight = random({4, 5}, 2);
  const auto refused = [&](const Ref<Tensor>& t, const Ref<Tensor>& w) {
    called("linear", {any(t), any(w), Any()});
    return error.substr(0, error.find(';'));
  };
  EXPECT_EQ(refused(on_gpu(x), on_gpu(weight)), refused(x, weight));
  EXPECT_NE(error.find("features"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder::test
