// Options of an optimizer that change after it was made: eager steps have them, programs are guarded by them.
#include "fixture.h"

namespace thunder {
namespace {

struct GroupOptions : Modules {
  Ref<Tensor> parameter = tensor({2}, {1, 2});
  Values gradient_of(float value) {
    Values grads;
    grads.push(tensor({2}, {value, value}));
    return grads;
  }
  Values parameters() {
    Values params;
    params.push(parameter);
    return params;
  }
};

TEST_F(GroupOptions, next_step_has_the_option_that_was_set) {
  Optimizer optimizer(environment, "SGD", parameters(), nullptr);
  optimizer.set(environment, "lr", 1);
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    optimizer.step(s, gradient_of(0));
    out.push(in[0].tensor);
  });
  const Ref<Tensor> x = tensor({1}, {0});
  run(*f, {x});
  EXPECT_EQ(floats(*parameter), (Floats{1, 2}));
  optimizer.set(environment, "weight_decay", 0.5);
  run(*f, {x});
  EXPECT_EQ(floats(*parameter), (Floats{0.5f, 1}));
  run(*f, {x});
  EXPECT_EQ(floats(*parameter), (Floats{0.25f, 0.5f}));
  EXPECT_EQ(f->reports().statistics().misses, 2u) << "one program a value";
  optimizer.set(environment, "weight_decay", 0);
  run(*f, {x});
  EXPECT_EQ(floats(*parameter), (Floats{0.25f, 0.5f}));
}

TEST_F(GroupOptions, numbers_of_lists_have_places) {
  Optimizer optimizer(environment, "Adam", parameters(), nullptr);
  optimizer.set(environment, "betas.0", 0.5);
  EXPECT_EQ(optimizer.get_f64("betas.0"), 0.5);
  EXPECT_EQ(optimizer.get_f64("betas.1"), 0.999);
  EXPECT_NE(thrown([&] { optimizer.set(environment, "betas", 1); }).find("'betas.0' is the first"), std::string::npos);
  EXPECT_NE(thrown([&] { optimizer.set(environment, "betas.2", 1); }).find("there is no number 2"), std::string::npos);
  EXPECT_NE(thrown([&] { optimizer.set(environment, "betas.0", 1.5); }).find("must lie in [0, 1)"), std::string::npos);
  EXPECT_EQ(optimizer.get_f64("betas.0"), 0.5) << "a refused value changes nothing";
}

TEST_F(GroupOptions, momentum_that_is_turned_on_has_its_state) {
  Optimizer optimizer(environment, "SGD", parameters(), nullptr);
  optimizer.set(environment, "lr", 1);
  optimizer.set(environment, "momentum", 0.5);
  auto step = [&](Scope& s, const Values&, Values&) { optimizer.step(s, gradient_of(1)); };
  eager(step, {});
  eager(step, {});
  EXPECT_EQ(error, "");
  EXPECT_EQ(floats(*parameter), (Floats{1 - 1 - 1.5f, 2 - 1 - 1.5f}));
}

}  // namespace
}  // namespace thunder
