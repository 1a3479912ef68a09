// Copies of modules, and modules of another dtype.
#include "fixture.h"

namespace thunder {
namespace {

struct ModuleCopies : Modules {
  Ref<Module> tied() {
    auto net = module("Module"), fc = module("Linear", {Any::integer(3), Any::integer(2)});
    net->add("a", fc);
    net->add("b", fc);
    net->add("norm", module("BatchNorm2d", {Any::integer(2)}));
    net->set_tensor("again", fc->find_tensor("weight")->tensor, Role::parameter);
    return net;
  }
  static size_t states(Module& m) {
    Values v;
    list_state(m, v);
    return v.size();
  }
};

TEST_F(ModuleCopies, share_nothing_and_keep_ties) {
  auto net = tied();
  net->find("norm")->set_training(false);
  auto copy = net->copy(context->allocator());
  EXPECT_EQ(states(*copy), states(*net));
  EXPECT_EQ(copy->find("a"), copy->find("b"));
  EXPECT_NE(copy->find("a"), net->find("a"));
  const Tensor* weight = copy->find_tensor("a.weight")->tensor.get();
  EXPECT_EQ(copy->find_tensor("again")->tensor.get(), weight);
  EXPECT_NE(weight, net->find_tensor("a.weight")->tensor.get());
  EXPECT_EQ(floats(*weight), floats(*net->find_tensor("a.weight")->tensor));
  EXPECT_EQ(copy->find_tensor("norm.running_mean")->role, Role::buffer);
  EXPECT_FALSE(copy->find("norm")->training());
  EXPECT_TRUE(copy->training());
  const Floats before = floats(*net->find_tensor("a.weight")->tensor);
  reinterpret_cast<float*>(weight->data())[0] += 1;
  EXPECT_EQ(floats(*net->find_tensor("a.weight")->tensor), before);
}

TEST_F(ModuleCopies, compute_the_same) {
  auto net = sequential({module("Linear", {Any::integer(3), Any::integer(4)}), module("Tanh")});
  auto copy = net->copy(context->allocator());
  auto x = wave({2, 3});
  EXPECT_EQ(floats(*eager(copy, {x})), floats(*eager(net, {x})));
  EXPECT_EQ(floats(*run(*compile(copy), {x})), floats(*run(*compile(net), {x})));
}

TEST_F(ModuleCopies, another_dtype_is_that_of_real_tensors) {
  auto net = tied();
  const Floats before = floats(*net->find_tensor("a.weight")->tensor);
  net->to(context->scope_environment(), DType::f64);
  auto weight = net->find_tensor("a.weight")->tensor;
  EXPECT_EQ(weight->type().dtype, DType::f64);
  EXPECT_EQ(reinterpret_cast<double*>(weight->data())[0], static_cast<double>(before[0]));
  EXPECT_EQ(net->find_tensor("again")->tensor, weight) << "ties stay";
  EXPECT_EQ(net->find_tensor("norm.running_var")->tensor->type().dtype, DType::f64);
  EXPECT_EQ(net->find_tensor("norm.num_batches_tracked")->tensor->type().dtype, DType::i64);
  net->to(context->scope_environment(), DType::f64);
  EXPECT_EQ(net->find_tensor("a.weight")->tensor, weight) << "nothing to do";
  EXPECT_EQ(thrown([&] { net->to(context->scope_environment(), DType::i64); }),
            "to: a module's dtype must be float16, bfloat16, float32 or float64, got i64");
  EXPECT_NE(thrown([&] { net->to(context->scope_environment(), static_cast<DType>(7)); }).find("the unknown 7"),
            std::string::npos);
  EXPECT_EQ(net->find_tensor("a.weight")->tensor, weight);
}

TEST_F(ModuleCopies, another_dtype_is_another_program) {
  auto net = sequential({module("Linear", {Any::integer(3), Any::integer(2)})});
  auto f = compile(net);
  auto x = wave({2, 3});
  const Floats f32 = floats(*run(*f, {x}));
  net->to(context->scope_environment(), DType::bf16);
  auto y = run(*f, {eager([](Scope& s, const Values& in, Values& out) {
                      Any bf16;
                      bf16.kind = ArgKind::dtype, bf16.dtype = DType::bf16;
                      out.push(Ref<Tensor>(op(s, "to", {any(in[0].tensor), bf16})));
                    },
                    {x})});
  ASSERT_TRUE(y);
  EXPECT_EQ(y->type().dtype, DType::bf16);
  EXPECT_EQ(f->reports().statistics().misses, 2u);
}

}  // namespace
}  // namespace thunder
