// Gradients of what draws random numbers: the backward sees the numbers that the forward drew.
#include "support/functions.h"

namespace thunder::test {
namespace {

using RandomGradient = CompiledTest;

Tensor* sum(Scope& s, Tensor* t) { return op(s, "prims.sum", {any(t), Any::dims({})}); }
Tensor* gradient(Scope& s, Tensor* loss, Tensor* of) {
  Values wrt;
  wrt.push(Ref<Tensor>(of));
  return (*s.grad(loss, wrt))[0].tensor.get();
}

TEST_F(RandomGradient, passes_through_the_elements_that_dropout_kept) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "dropout", {any(x), Any::real(0.5)});
    // y is 2x or 0, so the gradient of the sum of its squares is 4y.
    Tensor* dx = gradient(s, sum(s, op(s, "mul", {any(y), any(y)})), x);
    out.push(Ref<Tensor>(op(s, "sub", {any(dx), any(op(s, "mul", {any(y), Any::real(4)}))})));
  });
  auto x = tensor({8}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(run(*f, {x.get()}), Floats(8, 0)) << error;
}

TEST_F(RandomGradient, of_attention_uses_the_weights_that_were_kept) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor *x = in[0].tensor.get(), *v = in[1].tensor.get();
    Tensor* y = op(s, "scaled_dot_product_attention", {any(x), any(x), any(v), Any(), Any::real(0.5)});
    Tensor* loss = sum(s, y);
    // The loss is linear in the values.
    Tensor* same = sum(s, op(s, "mul", {any(gradient(s, loss, v)), any(v)}));
    out.push(Ref<Tensor>(op(s, "div", {any(same), any(loss)})));
  });
  auto x = tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), v = tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Floats ratio = run(*f, {x.get(), v.get()});
  ASSERT_EQ(ratio.size(), 1u) << error;
  EXPECT_NEAR(ratio[0], 1, 1e-6);
}

}  // namespace
}  // namespace thunder::test
