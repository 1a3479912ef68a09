// Steps that leave parameters alone: each parameter counts its own. Covers gradient_steps.
#include "fixture.h"

namespace thunder {
namespace {

struct GradientSteps : Modules {
  const std::string path = testing::TempDir() + "/thunder_gradient_steps_" + std::to_string(::getpid()) + ".safetensors";
  ~GradientSteps() override { std::remove(path.c_str()); }

  Ref<Optimizer> adam(std::span<const Ref<Tensor>> parameters) {
    Values params;
    params.open(false, {});
    for (const auto& p : parameters) params.push(p);
    params.close();
    Options o;
    o.set("lr", Any::real(0.1));
    return make<Optimizer>(environment, "Adam", params, &o);
  }
  // A step with these gradients; null for none.
  void step(Optimizer& optimizer, std::span<const Ref<Tensor>> gradients) {
    eager([&](Scope& s, const Values&, Values&) {
      Values grads;
      grads.open(false, {});
      for (const auto& g : gradients) g ? grads.push(g) : grads.push(Any());
      grads.close();
      optimizer.step(s, grads);
    }, {});
    ASSERT_EQ(error, "");
  }
};

TEST_F(GradientSteps, number_those_of_each_parameter) {
  const Ref<Tensor> both[] = {wave({3}), wave({3}, 1)}, alone[] = {wave({3}, 1)};
  auto first = adam(both), other = adam(alone);
  const Ref<Tensor> gradients[] = {wave({3}, 2), wave({3}, 3)}, one[] = {wave({3}, 2), nullptr};
  step(*first, one);
  EXPECT_EQ(first->state()->find_tensor("skipped.0"), nullptr) << "none was skipped";
  step(*first, gradients);
  step(*first, gradients);
  step(*other, std::span(gradients).subspan(1));
  step(*other, std::span(gradients).subspan(1));
  EXPECT_EQ(floats(*both[1]), floats(*alone[0]));
}

TEST_F(GradientSteps, that_were_skipped_are_in_files_and_are_none_where_a_file_has_no_count) {
  const Ref<Tensor> params[] = {wave({3}), wave({3}, 1)}, one[] = {wave({3}, 2), nullptr};
  auto skipped = adam(params), plain = adam(params);
  step(*skipped, one);
  const auto count = [](Optimizer& optimizer) {
    const Module::NamedSlot* slot = optimizer.state()->find_tensor("skipped.1");
    return slot ? *reinterpret_cast<const double*>(slot->tensor->data()) : -1;
  };
  save_module(*plain->state(), path);
  load_module(*skipped->state(), path, true, context->allocator());
  EXPECT_EQ(count(*skipped), 0);
  step(*skipped, one);
  save_module(*skipped->state(), path);
  EXPECT_EQ(count(*plain), -1);
  load_module(*plain->state(), path, true, context->allocator());
  EXPECT_EQ(count(*plain), 1);
}

}  // namespace
}  // namespace thunder
