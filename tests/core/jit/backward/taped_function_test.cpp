#include "jit/backward/taped_function.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

struct Taped : CompiledTest {
  // The product of both inputs, and the exponential of the first.
  Ref<TapedFunction> function() {
    auto f = Ref<Function>::adopt(new Lambda([](Scope& s, const Values& in, Values& out) {
      Tensor *x = in[0].tensor.get(), *y = in[1].tensor.get();
      out.push(Ref<Tensor>(op(s, "mul", {any(x), any(y)})));
      out.push(Ref<Tensor>(op(s, "exp", {any(x)})));
    }));
    const Ref<CompileOptions> options = by_line();
    options->update_settings();
    return make<TapedFunction>(CompileSetup{context, options}, f);
  }
};

TEST_F(Taped, gives_the_gradients_that_are_wanted_of_the_results_that_are_reached) {
  const auto f = function();
  auto x = tensor({2}, {1, 2}), y = tensor({2}, {3, 4}), c = tensor({2}, {10, 100});
  EXPECT_EQ(run(*f->gradient({true, false}, {true, false})->compiled(), {x.get(), y.get(), c.get()}), (Floats{30, 400}));
  EXPECT_EQ(run(*f->gradient({true, false}, {false, true})->compiled(), {x.get(), y.get(), c.get()}), (Floats{10, 200}));
  Tensor* both[2] = {};
  Tensor* in[] = {x.get(), y.get(), c.get(), c.get()};
  ASSERT_EQ(f->gradient({true, true}, {true, true})->compiled()->call_tensors(in, 4, both, 2), nullptr);
  EXPECT_FLOAT_EQ(data(*both[0])[0], 30 + 10 * std::exp(1.f));
  EXPECT_EQ(data(*both[1]), (Floats{10, 200}));
  for (Tensor* t : both) t->release();
}

TEST_F(Taped, is_compiled_once_for_each_choice) {
  const auto f = function();
  EXPECT_EQ(f->gradient({true, false}, {true, false}), f->gradient({true, false}, {true, false}));
  EXPECT_FALSE(f->gradient({true, false}, {true, false}) == f->gradient({true, true}, {true, false}));
}

TEST_F(Taped, is_a_line_of_the_tape_that_calls_it) {
  const auto f = function();
  EagerScope tape(context->scope_environment(), true);
  auto x = tensor({2}, {1, 2});
  TapedInputs in;
  in.push(tape.enter(x.get()));
  Leaf three;
  three.kind = ArgKind::real, three.f = 3;
  in.push(three);
  const std::vector<ValueId> results = call_recorded(tape.builder(), f, in);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(data(*tape.builder().tensor(results[0])), (Floats{3, 6}));
  ASSERT_EQ(tape.builder().tape().size(), 1u);
  EXPECT_EQ(tape.builder().tape()[0]->op->name(), "compiled");
}

}  // namespace
}  // namespace thunder::test
