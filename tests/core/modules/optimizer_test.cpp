// Optimisers against their formulas in double, eager and compiled.
// covers: core/modules/optimizers.cpp core/modules/optimizers/*.cpp
#include "fixture.h"

namespace thunder {
namespace {

using Doubles = std::vector<double>;

struct Optimizers : Modules {
  using Setting = std::pair<const char*, Any>;
  static Options options(const std::vector<Setting>& settings) {
    Options o;
    for (auto& [name, value] : settings) o.set(name, value);
    return o;
  }
  Floats gradient(int step) { return floats(*wave({6}, static_cast<float>(step))); }

  // Parameters after five steps.
  Floats after_five(std::string_view kind, const std::vector<Setting>& settings, bool compiled) {
    auto p = wave({6});
    Values params;
    params.open(true, {});
    params.key("fc.weight"), params.push(p);
    params.close();
    Options o = options(settings);
    Optimizer optimizer(environment, kind, params, &o);
    auto body = [&](Scope& s, const Values& in, Values& out) {
      Values grads;
      grads.open(true, {});
      grads.key("fc.weight"), grads.push(in[0].tensor);
      grads.close();
      optimizer.step(s, grads);
      out.push(in[0].tensor);
    };
    auto f = compile(body);
    for (int t = 1; t <= 5; t++) {
      auto g = tensor({6}, gradient(t));
      if (compiled)
        run(*f, {g});
      else
        eager(body, {g});
      EXPECT_EQ(error, "");
    }
    if (compiled) {
      EXPECT_EQ(f->reports().statistics().misses, 1u);
    }
    EXPECT_EQ(optimizer.get_f64("step"), 5);
    return floats(*p);
  }
  // The same by `formula(p, g, t)`, for each element on its own.
  template <class Formula>
  void expect_formula(std::string_view kind, const std::vector<Setting>& settings, Formula formula) {
    Floats start = floats(*wave({6})), wanted;
    for (size_t i = 0; i < start.size(); i++) {
      Formula own = formula;
      double p = start[i];
      for (int t = 1; t <= 5; t++) p = own(p, static_cast<double>(gradient(t)[i]), t);
      wanted.push_back(static_cast<float>(p));
    }
    const Floats eager_result = after_five(kind, settings, false);
    expect_near(eager_result, wanted, 2e-6f);
    EXPECT_EQ(eager_result, after_five(kind, settings, true)) << "eager and compiled agree to the bit";
    EXPECT_NE(eager_result, start);
  }
};

TEST_F(Optimizers, sgd_steps_against_the_gradient) {
  expect_formula("SGD", {{"lr", Any::real(0.1)}}, [](double p, double g, int) { return p - 0.1 * g; });
  expect_formula("SGD", {{"lr", Any::real(0.1)}, {"weight_decay", Any::real(0.2)}},
                 [](double p, double g, int) { return p - 0.1 * (g + 0.2 * p); });
}

TEST_F(Optimizers, sgd_keeps_momentum) {
  for (double dampening : {0.0, 0.4})
    expect_formula("SGD", {{"lr", Any::real(0.1)}, {"momentum", Any::real(0.9)}, {"dampening", Any::real(dampening)}},
                   [=, buffer = 0.0](double p, double g, int t) mutable {
                     buffer = t == 1 ? g : 0.9 * buffer + (1 - dampening) * g;
                     return p - 0.1 * buffer;
                   });
  expect_formula("SGD", {{"lr", Any::real(0.1)}, {"momentum", Any::real(0.9)}, {"nesterov", Any::boolean(true)}},
                 [buffer = 0.0](double p, double g, int) mutable {
                   buffer = 0.9 * buffer + g;
                   return p - 0.1 * (g + 0.9 * buffer);
                 });
}

struct AdamFormula {
  double lr, b1, b2, eps, l2, decay;
  bool amsgrad = false;
  double m = 0, v = 0, most = 0;
  double operator()(double p, double g, int t) {
    g += l2 * p;
    p -= lr * decay * p;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    most = std::max(most, v);
    const double root = std::sqrt((amsgrad ? most : v) / (1 - std::pow(b2, t)));
    return p - lr * (m / (1 - std::pow(b1, t))) / (root + eps);
  }
};

TEST_F(Optimizers, adam_follows_its_formula) {
  expect_formula("Adam", {}, AdamFormula{1e-3, 0.9, 0.999, 1e-8, 0, 0});
  expect_formula("Adam", {{"lr", Any::real(0.05)}, {"weight_decay", Any::real(0.1)}},
                 AdamFormula{0.05, 0.9, 0.999, 1e-8, 0.1, 0});
  expect_formula("Adam", {{"lr", Any::real(0.05)}, {"amsgrad", Any::boolean(true)}},
                 AdamFormula{0.05, 0.9, 0.999, 1e-8, 0, 0, true});
}

TEST_F(Optimizers, adamw_decays_apart_from_the_moments) {
  expect_formula("AdamW", {}, AdamFormula{1e-3, 0.9, 0.999, 1e-8, 0, 0.01});
  const double betas[] = {0.8, 0.95};
  Any list;
  list.kind = ArgKind::reals, list.count = 2, list.fs = betas;
  expect_formula("AdamW",
                 {{"lr", Any::real(0.05)}, {"betas", list}, {"eps", Any::real(1e-3)}, {"weight_decay", Any::real(0.3)}},
                 AdamFormula{0.05, 0.8, 0.95, 1e-3, 0, 0.3});
}

TEST_F(Optimizers, a_new_learning_rate_changes_no_program) {
  auto p = tensor({1}, {1});
  Values params;
  params.push(p);
  Options o = options({{"lr", Any::real(0.5)}});
  Optimizer optimizer(environment, "SGD", params, &o);
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    optimizer.step(s, in);
    out.push(in[0].tensor);
  });
  auto g = tensor({1}, {1});
  run(*f, {g});
  EXPECT_EQ(floats(*p)[0], 0.5f);
  optimizer.set_f64("lr", 0.25);
  run(*f, {g});
  EXPECT_EQ(floats(*p)[0], 0.25f);
  EXPECT_EQ(f->reports().statistics().misses, 1u);
  EXPECT_EQ(optimizer.get_f64("lr"), 0.25);
}

TEST_F(Optimizers, a_whole_training_step_is_one_program_like_eager) {
  std::string results[2];
  for (bool compiled : {false, true}) {
    seed(11);
    auto net = sequential({module("Linear", {Any::integer(4), Any::integer(8)}), module("ReLU"),
                           module("Dropout", {Any::real(0.2)}), module("Linear", {Any::integer(8), Any::integer(3)})});
    Values params;
    list_parameters(*net, params);
    Optimizer optimizer(environment, "AdamW", params, nullptr);
    optimizer.set_f64("lr", 0.05);
    auto body = [&](Scope& s, const Values& in, Values& out) {
      Values x;
      x.push(in[0].tensor);
      Tensor* loss = op(s, "cross_entropy", {any((*module_call(s, *net, x))[0].tensor), any(in[1].tensor)});
      optimizer.step(s, *clip_grad_norm(s, *s.grad(loss, params), 1, nullptr));
      out.push(Ref<Tensor>(loss));
    };
    auto f = compile(body);
    auto x = wave({5, 4});
    auto y = integers({5}, {0, 1, 2, 1, 0});
    float first = 0, last = 0;
    for (int i = 0; i < 30; i++) {
      auto loss = compiled ? run(*f, {x, y}) : eager(body, {x, y}, true);
      ASSERT_TRUE(loss) << error;
      (i ? last : first) = floats(*loss)[0];
    }
    EXPECT_LT(last, first / 2);
    for (size_t i = 0; i < params.size(); i++) results[compiled] += bytes(*params[i].tensor);
    if (compiled) {
      EXPECT_EQ(f->reports().statistics().misses, 1u);
    }
  }
  EXPECT_EQ(results[0].size(), results[1].size());
  for (size_t i = 0; i + 4 <= results[0].size(); i += 4) {
    float a, b;
    std::memcpy(&a, results[0].data() + i, 4), std::memcpy(&b, results[1].data() + i, 4);
    EXPECT_NEAR(a, b, 1e-4f);
  }
}

TEST_F(Optimizers, moments_have_the_dtype_of_their_parameter) {
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32, DType::f64})
    for (const OptimizerRow& row : optimizer_rows()) {
      if (row.minimize) continue;
      TensorType type;
      type.dtype = dtype, type.shape = {2, 2};
      Values params;
      params.push(Tensor::empty(context->allocator(), type));
      Optimizer optimizer(environment, row.name, params, nullptr);
      for (auto& slot : optimizer.state()->tensors())
        if (slot.name.ends_with(".0") && slot.tensor->type().rank()) {
          EXPECT_EQ(slot.tensor->type().dtype, dtype) << row.name << " " << slot.name;
        }
    }
}

// The step sees moments of f32 that have not been rounded yet, as PyTorch's fused AdamW does: what is written is what
// one step on f32 tensors of the same values gives, rounded once.
TEST_F(Optimizers, moments_of_bf16_are_computed_in_f32_and_rounded_where_they_are_stored) {
  const auto rounded = [&](const Ref<Tensor>& t, DType dtype) {
    Any to;
    to.kind = ArgKind::dtype, to.dtype = dtype;
    return eager([&](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "prims.convert", {any(in[0].tensor), to})));
    }, {t});
  };
  std::vector<float> stepped[2][3];
  for (const bool half : {false, true}) {
    const DType dtype = half ? DType::bf16 : DType::f32;
    auto p = rounded(tensor({3}, {1, -0.5f, 0.25f}), dtype);
    Values params;
    params.push(p);
    Optimizer optimizer(environment, "AdamW", params, nullptr);
    Tensor *mean = optimizer.state()->find_tensor("exp_avg.0")->tensor.get(),
           *square = optimizer.state()->find_tensor("exp_avg_sq.0")->tensor.get();
    auto g = rounded(tensor({3}, {0.75f, 3, -0.125f}), dtype);
    eager([&](Scope& s, const Values& in, Values&) { optimizer.step(s, in); }, {g});
    ASSERT_EQ(error, "");
    size_t next = 0;
    for (Tensor* t : {p.get(), mean, square})
      stepped[half][next++] = floats(*rounded(rounded(Ref<Tensor>(t), DType::bf16), DType::f32));
  }
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(stepped[0][i], stepped[1][i]) << i;
}

TEST_F(Optimizers, leave_parameters_without_a_gradient_alone) {
  auto a = tensor({1}, {1}), b = tensor({1}, {1});
  Values params, grads;
  params.push(a), params.push(b);
  grads.push(Any{}), grads.push(tensor({1}, {1}));
  Optimizer optimizer(environment, "SGD", params, nullptr);
  eager([&](Scope& s, const Values&, Values&) { optimizer.step(s, grads); }, {});
  EXPECT_EQ(error, "");
  EXPECT_EQ(floats(*a)[0], 1);
  EXPECT_NE(floats(*b)[0], 1);
}

TEST_F(Optimizers, refuse_what_does_not_fit) {
  auto p = tensor({2}, {1, 2});
  Values params, twice, none;
  params.push(p);
  twice.push(p), twice.push(p);
  auto make = [&](std::string_view kind, const Values& values, const std::vector<Setting>& settings) {
    return thrown([&] {
      Options o = options(settings);
      Optimizer(environment, kind, values, &o);
    });
  };
  EXPECT_EQ(make("AdamX", params, {}), "unknown optimizer 'AdamX' (did you mean 'AdamW'?)");
  EXPECT_NE(make("AdamW", params, {{"wieght_decay", Any::real(0)}}).find("'weight_decay'"), std::string::npos);
  EXPECT_NE(make("AdamW", params, {{"lr", Any::real(-1)}}).find("lr must not be negative, got -1"), std::string::npos);
  EXPECT_NE(make("SGD", params, {{"nesterov", Any::boolean(true)}}).find("nesterov"), std::string::npos);
  EXPECT_NE(make("SGD", twice, {}).find("'0' and '1' are one tensor"), std::string::npos);
  Values whole;
  whole.push(integers({1}, {1}));
  EXPECT_NE(make("SGD", whole, {}).find("got i64[1]"), std::string::npos);

  Optimizer optimizer(environment, "SGD", params, nullptr);
  Values wrong_shape;
  wrong_shape.push(tensor({1}, {1}));
  eager([&](Scope& s, const Values&, Values&) { optimizer.step(s, wrong_shape); }, {});
  EXPECT_EQ(error, "SGD: the gradient of '0' is f32[1], the parameter f32[2]");
  eager([&](Scope& s, const Values&, Values&) { optimizer.step(s, none); }, {});
  EXPECT_EQ(error, "SGD: the gradients are none, but the parameters have the names 0");
  EXPECT_EQ(floats(*p), (Floats{1, 2}));
  EXPECT_EQ(optimizer.get_f64("step"), 0) << "a refused step does not count";

  EXPECT_NE(thrown([&] { optimizer.set(environment, "weight_decay", -1); }).find("weight_decay must not be negative"),
            std::string::npos);
  EXPECT_EQ(optimizer.get_f64("weight_decay"), 0);
  EXPECT_NE(thrown([&] { optimizer.set(environment, "stepp", 1); }).find("did you mean 'step'?"), std::string::npos);
}

}  // namespace
}  // namespace thunder
