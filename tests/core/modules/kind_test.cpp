// Every kind: its forward against ops by hand, its initial values, its gradients, eager against compiled.
// covers: core/modules/kinds/*.cpp
#include "fixture.h"

namespace thunder {
namespace {

struct Kinds : Modules {
  using Body = Lambda::Body;
  Tensor* get(const Ref<Module>& m, std::string_view name) { return m->find_tensor(name)->tensor.get(); }

  // The module, eager and compiled, gives what `by_hand` makes of its input.
  void expect_same(const Ref<Module>& m, const Ref<Tensor>& x, const std::function<Tensor*(Scope&, Tensor*)>& by_hand) {
    auto wanted = eager(
        [&](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(by_hand(s, in[0].tensor.get()))); }, {x});
    ASSERT_TRUE(wanted) << error;
    auto is = eager(m, {x});
    ASSERT_TRUE(is) << error;
    EXPECT_EQ(floats(*is), floats(*wanted));
    auto f = compile(m);
    EXPECT_EQ(floats(*run(*f, {x})), floats(*wanted));
  }
  // The loss of which gradients are taken weighs elements differently, so that none cancel.
  Body gradient(const Ref<Module>& m, const Ref<Values>& params, size_t which) {
    return [=, this](Scope& s, const Values& in, Values& out) {
      Tensor* y = (*module_call(s, *m, in))[0].tensor.get();
      Shape64 sizes;
      for (Dim d : y->type().shape) sizes.push_back(d.value());
      auto weights = wave(sizes, 0.3f);
      Tensor* loss = op(s, "prims.sum", {any(op(s, "mul", {any(y), any(weights)})), Any::dims({})});
      out.push((*s.grad(loss, *params))[which].tensor);
    };
  }
  // Each parameter's gradient, compiled and taped, against differences of the loss.
  void expect_gradients(const Ref<Module>& m, const Ref<Tensor>& x) {
    auto params = make<Values>();
    list_parameters(*m, *params);
    for (size_t i = 0; i < params->size(); i++) {
      auto taped = eager(gradient(m, params, i), {x}, true);
      ASSERT_TRUE(taped) << error;
      auto f = compile(gradient(m, params, i));
      expect_near(floats(*run(*f, {x})), floats(*taped), 1e-5f);
      Tensor& p = *(*params)[i].tensor;
      auto* data = reinterpret_cast<float*>(p.data());
      const auto at = static_cast<size_t>(p.elements() / 2);
      const float kept = data[at], step = 0.02f;
      data[at] = kept + step;
      const double up = loss(m, x);
      data[at] = kept - step;
      const double down = loss(m, x);
      data[at] = kept;
      EXPECT_NEAR(floats(*taped)[at], (up - down) / (2 * step), 0.02) << params->paths()[i];
    }
  }
  double loss(const Ref<Module>& m, const Ref<Tensor>& x) {
    auto y = eager(m, {x});
    Shape64 sizes;
    for (Dim d : y->type().shape) sizes.push_back(d.value());
    auto values = floats(*y), weights = floats(*wave(sizes, 0.3f));
    double sum = 0;
    for (size_t i = 0; i < values.size(); i++) sum += static_cast<double>(values[i]) * weights[i];
    return sum;
  }
  static Any ints(const Shape64& list) { return Any::dims(list); }
};

TEST_F(Kinds, linear_is_the_op) {
  auto m = module("Linear", {Any::integer(4), Any::integer(3)});
  auto x = wave({2, 4});
  expect_same(m, x, [&](Scope& s, Tensor* in) {
    return op(s, "linear", {any(in), any(get(m, "weight")), any(get(m, "bias"))});
  });
  expect_gradients(m, x);
  auto bare = module("Linear", {Any::integer(4), Any::integer(3), Any::boolean(false)});
  EXPECT_EQ(bare->find_tensor("bias"), nullptr);
  expect_same(bare, x, [&](Scope& s, Tensor* in) { return op(s, "linear", {any(in), any(get(bare, "weight"))}); });
}

TEST_F(Kinds, linear_starts_uniform_within_the_root_of_its_inputs) {
  seed(7);
  auto m = module("Linear", {Any::integer(100), Any::integer(50)});
  for (auto* name : {"weight", "bias"}) {
    Floats w = floats(*get(m, name));
    auto [low, high] = std::minmax_element(w.begin(), w.end());
    EXPECT_GE(*low, -0.1f);
    EXPECT_LT(*high, 0.1f);
    EXPECT_LT(*low, -0.08f);
    EXPECT_GT(*high, 0.08f);
  }
  double mean = 0, square = 0;
  for (float v : floats(*get(m, "weight"))) mean += v / 5000, square += v * v / 5000.0;
  EXPECT_NEAR(mean, 0, 0.003);
  EXPECT_NEAR(square, 0.01 / 3, 0.0002);
}

TEST_F(Kinds, the_seed_decides_the_first_weights) {
  std::vector<std::string> made;
  for (int64_t s : {1, 1, 2}) {
    seed(s);
    auto a = module("Linear", {Any::integer(3), Any::integer(2)}),
         b = module("Linear", {Any::integer(3), Any::integer(2)});
    EXPECT_NE(bytes(*get(a, "weight")), bytes(*get(b, "weight"))) << "modules draw one after the other";
    made.push_back(bytes(*get(a, "weight")) + bytes(*get(b, "bias")));
  }
  EXPECT_EQ(made[0], made[1]);
  EXPECT_NE(made[0], made[2]);
}

TEST_F(Kinds, embedding_looks_rows_up) {
  seed(3);
  auto m = module("Embedding", {Any::integer(200), Any::integer(50)});
  auto x = integers({2, 3}, {0, 7, 199, 7, 1, 2});
  expect_same(m, x, [&](Scope& s, Tensor* in) { return op(s, "embedding", {any(in), any(get(m, "weight"))}); });
  double mean = 0, square = 0;
  for (float v : floats(*get(m, "weight"))) mean += v / 10000, square += v * v / 10000.0;
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(square, 1, 0.05);

  auto padded = module("Embedding", {Any::integer(4), Any::integer(2), Any::integer(-1)});
  Floats w = floats(*get(padded, "weight"));
  EXPECT_EQ(Floats(w.end() - 2, w.end()), (Floats{0, 0}));
  EXPECT_NE(w[0], 0);
  EXPECT_NE(thrown([&] {
              module("Embedding", {Any::integer(4), Any::integer(2), Any::integer(4)});
            }).find("[-4, 4), got 4"),
            std::string::npos);
}

TEST_F(Kinds, norms_are_the_ops) {
  const Shape64 last{4};
  auto x = wave({3, 4});
  auto layer = module("LayerNorm", {Any::integer(4)});
  expect_same(layer, x, [&](Scope& s, Tensor* in) {
    return op(s, "layer_norm",
              {any(in), ints(last), any(get(layer, "weight")), any(get(layer, "bias")), Any::real(1e-5)});
  });
  EXPECT_EQ(floats(*get(layer, "weight")), (Floats{1, 1, 1, 1}));
  EXPECT_EQ(floats(*get(layer, "bias")), (Floats{0, 0, 0, 0}));
  expect_gradients(layer, x);
  auto rms = module("RMSNorm", {ints(last)});
  expect_same(rms, x, [&](Scope& s, Tensor* in) {
    return op(s, "rms_norm", {any(in), ints(last), any(get(rms, "weight"))});
  });
  expect_gradients(rms, x);
  auto bare = module("LayerNorm", {ints(last), Any::real(0.5), Any::boolean(false)});
  EXPECT_TRUE(bare->tensors().empty());
  expect_same(bare, x, [&](Scope& s, Tensor* in) {
    return op(s, "layer_norm", {any(in), ints(last), Any(), Any(), Any::real(0.5)});
  });
}

TEST_F(Kinds, batch_norm_moves_its_statistics_while_training) {
  auto x = wave({4, 2, 3, 3});
  Floats values = floats(*x);
  double mean[2] = {}, square[2] = {};
  for (size_t i = 0; i < values.size(); i++) mean[i / 9 % 2] += values[i] / 36.0;
  for (size_t i = 0; i < values.size(); i++)
    square[i / 9 % 2] += (values[i] - mean[i / 9 % 2]) * (values[i] - mean[i / 9 % 2]);
  for (bool compiled : {false, true}) {
    auto m = module("BatchNorm2d", {Any::integer(2)});
    auto f = compile(m);
    auto call = [&] { return compiled ? run(*f, {x}) : eager(m, {x}); };
    auto y = call();
    ASSERT_TRUE(y) << error;
    call();
    for (size_t c = 0; c < 2; c++) {
      EXPECT_NEAR(floats(*get(m, "running_mean"))[c], mean[c] * 0.19, 1e-5) << compiled;
      EXPECT_NEAR(floats(*get(m, "running_var"))[c], 0.81 + square[c] / 35 * 0.19, 1e-4) << compiled;
    }
    EXPECT_EQ(*reinterpret_cast<int64_t*>(get(m, "num_batches_tracked")->data()), 2);
    EXPECT_NEAR(floats(*y)[0], (values[0] - mean[0]) / std::sqrt(square[0] / 36 + 1e-5), 1e-4);

    m->set_training(false);
    const Floats kept = floats(*get(m, "running_mean")), variance = floats(*get(m, "running_var"));
    EXPECT_NEAR(floats(*call())[0], (values[0] - kept[0]) / std::sqrt(variance[0] + 1e-5), 1e-4);
    EXPECT_EQ(floats(*get(m, "running_mean")), kept);
    if (compiled) {
      EXPECT_EQ(f->reports().statistics().misses, 2u);
    }
  }
  auto m = module("BatchNorm2d", {Any::integer(2)});
  expect_gradients(m, x);
  EXPECT_FALSE(eager(m, {wave({4, 2})}));
  EXPECT_NE(error.find("f32[4, 2]"), std::string::npos) << error;
}

TEST_F(Kinds, convolutions_are_the_ops) {
  const Shape64 two{2}, one_two{1, 2}, kernel{3, 2};
  auto m = module("Conv2d", {Any::integer(2), Any::integer(4), ints(kernel), ints(two), ints(one_two), Any::integer(1),
                             Any::integer(2)});
  EXPECT_EQ(name(get(m, "weight")->type()), "f32[4, 1, 3, 2]");
  auto x = wave({2, 2, 5, 6});
  expect_same(m, x, [&](Scope& s, Tensor* in) {
    return op(s, "conv2d",
              {any(in), any(get(m, "weight")), any(get(m, "bias")), ints({2, 2}), ints(one_two), ints({1, 1}),
               Any::integer(2)});
  });
  expect_gradients(m, x);
  for (float w : floats(*get(m, "weight"))) EXPECT_LE(std::abs(w), 1 / std::sqrt(6.0f));
  auto square = module("Conv2d", {Any::integer(1), Any::integer(2), Any::integer(3)});
  EXPECT_EQ(name(get(square, "weight")->type()), "f32[2, 1, 3, 3]");
  EXPECT_NE(thrown([&] {
              module("Conv2d", {Any::integer(3), Any::integer(4), Any::integer(3), Any::integer(1), Any::integer(0),
                                Any::integer(1), Any::integer(2)});
            }).find("multiples of groups, got 3, 4 and 2"),
            std::string::npos);
  auto pool = module("MaxPool2d", {Any::integer(2)});
  expect_same(pool, x, [&](Scope& s, Tensor* in) { return op(s, "max_pool2d", {any(in), ints({2, 2})}); });
  expect_same(module("Flatten"), x, [&](Scope& s, Tensor* in) { return op(s, "flatten", {any(in), Any::integer(1)}); });
}

TEST_F(Kinds, activations_are_the_ops) {
  auto x = wave({3, 4});
  for (auto [kind, name] :
       {std::pair("ReLU", "relu"), {"SiLU", "silu"}, {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"GELU", "gelu"}})
    expect_same(module(kind), x, [&](Scope& s, Tensor* in) { return op(s, name, {any(in)}); });
  expect_same(module("GELU", {Any::string("tanh")}), x, [&](Scope& s, Tensor* in) {
    return op(s, "gelu", {any(in), Any::string("tanh")});
  });
  expect_same(module("Softmax", {Any::integer(0)}), x, [&](Scope& s, Tensor* in) {
    return op(s, "softmax", {any(in), Any::integer(0)});
  });
  expect_same(module("Identity"), x, [&](Scope&, Tensor* in) { return in; });
}

TEST_F(Kinds, a_forward_that_is_an_op_takes_inputs_options_and_tensors_by_their_names) {
  auto x = wave({2, 4, 3}), y = wave({2, 4, 3}, 1);
  auto norm = module("GroupNorm", {Any::integer(2), Any::integer(4), Any::real(0.5)});
  expect_same(norm, x, [&](Scope& s, Tensor* in) {
    return op(s, "group_norm", {any(in), Any::integer(2), any(get(norm, "weight")), any(get(norm, "bias")), Any::real(0.5)});
  });
  expect_gradients(norm, x);
  auto distance = module("PairwiseDistance", {Any::real(1)});
  auto wanted = eager([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "pairwise_distance", {any(in[0].tensor), any(in[1].tensor), Any::real(1)})));
  }, {x, y});
  EXPECT_EQ(floats(*eager(distance, {x, y})), floats(*wanted));
  EXPECT_EQ(floats(*run(*compile(distance), {x, y})), floats(*wanted));
  EXPECT_FALSE(eager(distance, {x}));
  EXPECT_EQ(error.substr(0, 43), "PairwiseDistance: argument 'x2' is missing;");
}

TEST_F(Kinds, an_option_inplace_writes_the_input) {
  auto x = tensor({2}, {-1, 2});
  EXPECT_EQ(floats(*eager(module("ReLU", {Any::boolean(true)}), {x})), (Floats{0, 2}));
  EXPECT_EQ(floats(*x), (Floats{0, 2}));
}

TEST_F(Kinds, dropout_acts_while_training_alone) {
  auto x = tensor({1000}, Floats(1000, 1));
  auto m = module("Dropout", {Any::real(0.25)});
  auto f = compile(m);
  for (bool compiled : {false, true}) {
    m->set_training(true);
    Floats y = floats(*(compiled ? run(*f, {x}) : eager(m, {x})));
    const auto kept = std::count_if(y.begin(), y.end(), [](float v) { return std::abs(v - 4 / 3.0f) < 1e-6f; });
    EXPECT_EQ(std::count(y.begin(), y.end(), 0.0f) + kept, 1000);
    EXPECT_NEAR(static_cast<double>(kept), 750, 60);
    m->set_training(false);
    EXPECT_EQ(floats(*(compiled ? run(*f, {x}) : eager(m, {x}))), floats(*x));
  }
  EXPECT_NE(thrown([&] { module("Dropout", {Any::real(1.5)}); }).find("p must lie in [0, 1], got 1.5"),
            std::string::npos);
}

TEST_F(Kinds, sequential_chains_and_nests) {
  auto inner = sequential({module("Linear", {Any::integer(4), Any::integer(4)}), module("ReLU")});
  auto net = sequential({inner, module("Linear", {Any::integer(4), Any::integer(2)})});
  auto x = wave({3, 4});
  expect_same(net, x, [&](Scope& s, Tensor* in) {
    Tensor* h =
        op(s, "relu", {any(op(s, "linear", {any(in), any(get(net, "0.0.weight")), any(get(net, "0.0.bias"))}))});
    return op(s, "linear", {any(h), any(get(net, "1.weight")), any(get(net, "1.bias"))});
  });
  expect_gradients(net, x);
}

TEST_F(Kinds, unknown_names_and_wrong_arguments_are_told) {
  EXPECT_EQ(thrown([&] {
              module("Linaer", {Any::integer(1), Any::integer(1)});
            }),
            "unknown module kind 'Linaer' (did you mean 'Linear'?)");
  EXPECT_NE(thrown([&] { module("Linear", {Any::integer(1)}); }).find("Linear: argument 'out_features' is missing"),
            std::string::npos);
  EXPECT_NE(thrown([&] {
              module("Linear", {Any::integer(1), Any::string("x")});
            }).find("'out_features' must be"),
            std::string::npos);
  auto t = tensor({1}, {1});
  EXPECT_NE(thrown([&] { module("Linear", {Any::integer(1), any(t)}); }).find("got a tensor"), std::string::npos);
  EXPECT_NE(thrown([&] {
              module("Linear", {Any::integer(1), Any::integer(-1)});
            }).find("must not be negative, got 1 and -1"),
            std::string::npos);
  const char* names[] = {"in_features", "out_featuers"};
  const Any args[] = {Any::integer(1), Any::integer(2)};
  EXPECT_NE(thrown([&] { make_module(environment, "Linear", args, names); }).find("did you mean 'out_features'?"),
            std::string::npos);
  EXPECT_FALSE(eager(module("ReLU"), {wave({2}), wave({2})}));
  EXPECT_EQ(error, "ReLU: takes one tensor, got 2 values: *,*");
}

TEST_F(Kinds, every_kind_is_documented) {
  for (auto& kind : context->module_kinds().all()) EXPECT_FALSE(kind->doc().empty()) << kind->name();
}

}  // namespace
}  // namespace thunder
