// Programs and the modules that they read: what recompiles, what does not.
#include "fixture.h"

namespace thunder {
namespace {

struct Access : Modules {
  Ref<Tensor> x = wave({3, 4});
};

TEST_F(Access, compiles_twice_for_any_number_of_changes_of_mode) {
  auto net = sequential({module("Linear", {Any::integer(4), Any::integer(5)}), module("Dropout", {Any::real(0.5)})});
  auto f = compile(net);
  for (int i = 0; i < 3; i++) {
    net->set_training(true);
    run(*f, {x});
    net->set_training(false);
    run(*f, {x});
    run(*f, {x});
  }
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_EQ(f->reports().last_miss(), "module '1': training is false, was true");
}

TEST_F(Access, ignores_a_mode_that_nothing_reads) {
  auto net = sequential({module("Linear", {Any::integer(4), Any::integer(5)}), module("ReLU")});
  auto f = compile(net);
  run(*f, {x});
  net->set_training(false);
  run(*f, {x});
  EXPECT_EQ(f->reports().statistics().misses, 1u);
}

TEST_F(Access, recompiles_when_a_tensor_is_replaced_and_not_when_it_is_written) {
  auto net = sequential({module("Linear", {Any::integer(4), Any::integer(2)})});
  auto f = compile(net);
  run(*f, {x});
  Tensor& weight = *net->find_tensor("0.weight")->tensor;
  std::fill_n(reinterpret_cast<float*>(weight.data()), 8, 0.0f);
  weight.bump();
  auto zeros = run(*f, {x});
  EXPECT_EQ(f->reports().statistics().misses, 1u);
  auto bias = floats(*net->find_tensor("0.bias")->tensor);
  EXPECT_EQ(floats(*zeros), (Floats{bias[0], bias[1], bias[0], bias[1], bias[0], bias[1]}));

  net->find("0")->set_tensor("weight", wave({2, 4}), Role::parameter);
  auto moved = run(*f, {x});
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_EQ(f->reports().last_miss(), "tensor '0.weight' of a module was replaced");
  EXPECT_NE(floats(*moved), floats(*zeros));
}

TEST_F(Access, recompiles_when_an_absent_tensor_appears) {
  auto net = module("Linear", {Any::integer(4), Any::integer(2), Any::boolean(false)});
  auto f = compile(net);
  auto before = floats(*run(*f, {x}));
  net->set_tensor("bias", tensor({2}, {10, 10}), Role::parameter);
  auto after = floats(*run(*f, {x}));
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_EQ(f->reports().last_miss(), "tensor 'bias' of a module was absent, is f32[2]");
  EXPECT_NEAR(after[0], before[0] + 10, 1e-5);
}

TEST_F(Access, recompiles_when_children_change) {
  auto net = sequential({module("Identity")});
  auto f = compile(net);
  EXPECT_EQ(floats(*run(*f, {x})), floats(*x));
  net->add("1", module("ReLU"));
  EXPECT_GE(floats(*run(*f, {x}))[3], 0);
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  net->add("1", module("Identity"));
  EXPECT_EQ(floats(*run(*f, {x})), floats(*x));
  EXPECT_EQ(f->reports().statistics().misses, 3u);
}

TEST_F(Access, guards_inner_reads_under_the_module_that_the_user_called) {
  auto inner = module("Linear", {Any::integer(4), Any::integer(2)});
  auto net = module("Module");
  net->add("fc", inner);
  // The body reaches the child by a pointer of its own; it is still read as a part of net.
  net->set_forward(Ref<Function>::adopt(
      new Lambda([inner](Scope& s, const Values& in, Values& out) { out.assign(*module_call(s, *inner, in)); })));
  auto f = compile(net);
  run(*f, {x});
  EXPECT_EQ(f->reports().traces().front().inputs.back().name, "fc.bias");
  net->add("fc", module("Identity"));
  run(*f, {x});
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_EQ(f->reports().last_miss(), "module Module: a child was added or replaced");
}

TEST_F(Access, sees_a_shared_child_replaced_under_one_of_its_names) {
  auto shared = module("ReLU"), block = module("Module"), net = module("Module");
  block->add("a", shared);
  block->add("b", shared);
  net->add("block", block);
  net->set_forward(Ref<Function>::adopt(new Lambda(
      [&](Scope& s, const Values& in, Values& out) { out.assign(*module_call(s, *net->find("block.b"), in)); })));
  auto f = compile(net);
  EXPECT_NE(floats(*run(*f, {x})), floats(*x));
  block->add("b", module("Identity"));
  EXPECT_EQ(floats(*run(*f, {x})), floats(*x));
}

TEST_F(Access, recompiles_for_another_forward) {
  auto net = module("ReLU");
  auto f = compile(net);
  run(*f, {x});
  net->set_forward(Ref<Function>::adopt(new Lambda([](Scope&, const Values& in, Values& out) { out.assign(in); })));
  EXPECT_EQ(floats(*run(*f, {x})), floats(*x));
  EXPECT_EQ(f->reports().last_miss(), "module ReLU: its forward was replaced");
}

TEST_F(Access, reads_by_path_and_names_the_nearest_tensor) {
  auto net = module("Module");
  net->add("fc1", module("Linear", {Any::integer(4), Any::integer(2)}));
  auto y = eager(
      [&](Scope& s, const Values&, Values& out) { out.push(Ref<Tensor>(module_tensor(s, *net, "fc1.weight"))); }, {});
  EXPECT_EQ(y.get(), net->find_tensor("fc1.weight")->tensor.get());
  eager([&](Scope& s, const Values&,
            Values&) { EXPECT_EQ(module_tensor(s, *net, "fc1.wieght")->kind(), Tensor::Kind::failed); },
        {});
  EXPECT_EQ(error, "Module: no tensor 'fc1.wieght' in this module (did you mean 'fc1.weight'?)");
}

TEST_F(Access, says_that_a_module_has_no_forward) {
  EXPECT_EQ(eager(module("Module"), {x}).get(), nullptr);
  EXPECT_EQ(error, "Module: this module has no forward; set one");
}

TEST_F(Access, gives_a_tied_parameter_one_gradient) {
  auto net = module("Module"), a = module("Linear", {Any::integer(4), Any::integer(4), Any::boolean(false)}),
       b = module("Linear", {Any::integer(4), Any::integer(4), Any::boolean(false)});
  b->set_tensor("weight", a->find_tensor("weight")->tensor, Role::parameter);
  net->add("a", a);
  net->add("b", b);
  Values params;
  list_parameters(*net, params);
  ASSERT_EQ(params.size(), 1u);
  EXPECT_EQ(params.structure(), "{\"a.weight\":*}");
  auto body = [&](Scope& s, const Values& in, Values& out) {
    Values* y = module_call(s, *b, *module_call(s, *a, in));
    Tensor* loss = op(s, "prims.sum", {any((*y)[0].tensor), Any::dims({})});
    out.push((*s.grad(loss, params))[0].tensor);
  };
  auto f = compile(body);
  // With y = x W' W', d(sum y)/dW = 1 (x W')  + (W 1)... : the compiled and the taped gradient agree, and are not that
  // of one use.
  expect_near(floats(*run(*f, {x})), floats(*eager(body, {x}, true)), 1e-5f);
  auto one_use = [&](Scope& s, const Values& in, Values& out) {
    auto copy = tensor({4, 4}, floats(*params[0].tensor));
    Tensor* h = op(s, "linear", {any((*module_call(s, *a, in))[0].tensor), any(copy)});
    out.push((*s.grad(op(s, "prims.sum", {any(h), Any::dims({})}), params))[0].tensor);
  };
  EXPECT_NE(floats(*eager(one_use, {x}, true)), floats(*run(*f, {x})));
}

TEST_F(Access, keeps_an_inputs_structure_for_a_custom_forward) {
  auto net = module("Module");
  net->set_forward(Ref<Function>::adopt(new Lambda([](Scope&, const Values& in, Values& out) { out.assign(in); })));
  auto f = make<Compiled>(context, module_function(net), nullptr);
  Values in, out;
  in.open(true, {});
  in.key("x"), in.push(x);
  in.close();
  ASSERT_EQ(f->call(in, out), nullptr);
  EXPECT_EQ(out.structure(), "{\"x\":*}");
}

}  // namespace
}  // namespace thunder
