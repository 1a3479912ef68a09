// Losses as modules, against their ops.
#include "fixture.h"

namespace thunder {
namespace {

struct Losses : Modules {
  Ref<Tensor> x = wave({4, 3});
  Ref<Tensor> classes = integers({4}, {0, 2, 1, 2});

  // The module, eager and compiled, gives what the op does.
  void expect_op(const Ref<Module>& m, const Ref<Tensor>& target, std::string_view name, std::vector<Any> rest) {
    auto wanted = eager(
        [&](Scope& s, const Values& in, Values& out) {
          std::vector<Any> args{any(in[0].tensor), any(in[1].tensor)};
          args.insert(args.end(), rest.begin(), rest.end());
          out.push(Ref<Tensor>(s.invoke(name, args, nullptr, nullptr, 0, nullptr)));
        },
        {x, target});
    ASSERT_TRUE(wanted) << error;
    auto is = eager(m, {x, target});
    ASSERT_TRUE(is) << error;
    EXPECT_EQ(floats(*is), floats(*wanted));
    EXPECT_EQ(floats(*run(*compile(m), {x, target})), floats(*wanted));
  }
};

TEST_F(Losses, are_the_ops_with_their_options) {
  expect_op(module("CrossEntropyLoss"), classes, "cross_entropy", {});
  expect_op(module("NLLLoss"), classes, "nll_loss", {});
  expect_op(module("MSELoss"), wave({4, 3}, 1), "mse_loss", {});
  expect_op(module("MSELoss", {Any::string("sum")}), wave({4, 3}, 1), "mse_loss", {Any::string("sum")});
  expect_op(module("CrossEntropyLoss", {Any(), Any::integer(2), Any::string("none"), Any::real(0.1)}), classes,
            "cross_entropy", {Any(), Any::integer(2), Any::string("none"), Any::real(0.1)});
}

TEST_F(Losses, weights_of_classes_are_a_buffer) {
  auto weight = tensor({3}, {1, 2, 3});
  auto m = module("CrossEntropyLoss", {Any::tensor(weight.get())});
  EXPECT_EQ(m->find_tensor("weight")->tensor, weight);
  EXPECT_EQ(m->find_tensor("weight")->role, Role::buffer);
  expect_op(m, classes, "cross_entropy", {any(weight.get())});
  expect_op(module("NLLLoss", {Any::tensor(weight.get())}), classes, "nll_loss", {any(weight.get())});
}

TEST_F(Losses, refuse_what_makes_no_sense) {
  EXPECT_EQ(thrown([&] { module("MSELoss", {Any::string("avg")}); }),
            "MSELoss: reduction must be 'mean', 'sum' or 'none', got 'avg'");
  EXPECT_EQ(thrown([&] { module("NLLLoss", {Any::real(1)}); }),
            "NLLLoss: argument 'weight' must be a tensor or None, got the float 1");
  EXPECT_FALSE(eager(module("MSELoss"), {x}));
  EXPECT_NE(error.find("MSELoss: argument 'target' is missing"), std::string::npos) << error;
}

}  // namespace
}  // namespace thunder
