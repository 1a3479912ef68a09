// LBFGS, its line search and the vectors that it works on (joint): against minima that are known, and against what a
// step must leave when its function fails.
// covers: core/modules/closure_steps.cpp
#include "core/modules/fixture.h"
#include "modules/optimizers/line_search.h"

namespace thunder {
namespace {

using Setting = std::pair<const char*, Any>;
constexpr char kWolfe[] = "strong_wolfe";

struct Lbfgs : Modules {
  Ref<Tensor> a = tensor({2}, Floats{-1.5f, 2}), b = tensor({1}, Floats{0.5f});
  int evaluations = 0, fail_at = 0;

  Ref<Optimizer> optimizer(std::string_view kind, const std::vector<Setting>& settings) {
    Values params;
    params.push(a), params.push(b);
    Options o;
    for (auto& [name, value] : settings) o.set(name, value);
    return make<Optimizer>(environment, kind, params, &o);
  }
  // Rosenbrock's function of a's elements, and (b - 3)^2, with their gradients by the tape.
  Ref<Status> rosenbrock(Scope& s, const Values&, Values& out) {
    if (++evaluations == fail_at) return make<Status>(Code::callback, "no more");
    const auto element = [&](int64_t i) { return op(s, "select", {any(a), Any::integer(0), Any::integer(i)}); };
    Tensor *x = element(0), *y = element(1);
    Tensor *valley = op(s, "sub", {any(y), any(op(s, "square", {any(x)}))}),
           *rest = op(s, "sub", {any(x), Any::real(1.0)});
    Tensor* other = op(s, "sum", {any(op(s, "square", {any(op(s, "sub", {any(b), Any::real(3.0)}))}))});
    Tensor* sum = op(s, "add",
                     {any(op(s, "mul", {any(op(s, "square", {any(valley)})), Any::real(100.0)})),
                      any(op(s, "square", {any(rest)}))});
    Tensor* loss = op(s, "add", {any(sum), any(other)});
    Values wrt;
    wrt.push(a), wrt.push(b);
    Values* gradients = s.grad(loss, wrt);
    if (s.status()) return s.status();
    out.push(Ref<Tensor>(loss));
    out.open(false, {});
    for (size_t i = 0; i < gradients->size(); i++) out.push((*gradients)[i].tensor);
    out.close();
    return {};
  }
  // The loss before the step, or NaN, with `error` set.
  double step(Optimizer& opt, bool taped = false) {
    EagerScope scope(context->scope_environment(), taped);
    Lambda closure([this](Scope& s, const Values& in, Values& out) {
      if (Ref<Status> failed = rosenbrock(s, in, out)) s.fail(failed);
    });
    Tensor* loss = opt.step(scope, closure);
    error = scope.status() ? scope.status()->message() : "";
    return loss ? static_cast<double>(floats(*loss)[0]) : std::nan("");
  }
};

TEST_F(Lbfgs, finds_the_end_of_a_curved_valley) {
  auto opt = optimizer("LBFGS", {{"max_iter", Any::integer(60)}, {"line_search_fn", Any::string(kWolfe)}});
  EXPECT_FLOAT_EQ(static_cast<float>(step(*opt)), 100 * 0.25f * 0.25f + 2.5f * 2.5f + 2.5f * 2.5f);
  EXPECT_EQ(error, "");
  expect_near(floats(*a), {1, 1}, 1e-4f);
  expect_near(floats(*b), {3}, 1e-4f);
  EXPECT_EQ(opt->get_f64("step"), 1);
  EXPECT_EQ(opt->get_f64("func_evals"), evaluations);
  EXPECT_EQ(opt->get_f64("max_eval"), 75);
  const int before = evaluations;
  EXPECT_NEAR(step(*opt), 0, 1e-6);
  EXPECT_LT(evaluations - before, 10) << "it is there";
}

TEST_F(Lbfgs, goes_on_from_its_state_to_the_bit) {
  const std::vector<Setting> settings = {
      {"max_iter", Any::integer(4)}, {"history_size", Any::integer(3)}, {"line_search_fn", Any::string(kWolfe)}};
  auto opt = optimizer("LBFGS", settings);
  for (int i = 0; i < 3; i++) step(*opt);
  auto kept_a = dense_copy(default_allocator(), *a), kept_b = dense_copy(default_allocator(), *b);
  auto again = optimizer("LBFGS", settings);
  Values from, to;
  list_state(*opt->state(), from), list_state(*again->state(), to);
  ASSERT_EQ(from.structure(), to.structure());
  for (size_t i = 0; i < from.size(); i++) copy_strided(from[i].tensor->buffer(), to[i].tensor->buffer());
  for (int i = 0; i < 3; i++) step(*opt);
  const std::string end = bytes(*a) + bytes(*b);
  copy_strided(kept_a->buffer(), a->buffer()), copy_strided(kept_b->buffer(), b->buffer());
  for (int i = 0; i < 3; i++) step(*again);
  EXPECT_EQ(bytes(*a) + bytes(*b), end);
}

TEST_F(Lbfgs, a_function_that_fails_leaves_the_last_iteration) {
  for (const bool search : {false, true}) {
    std::vector<Setting> settings = {{"lr", Any::real(1e-3)}};
    if (search) settings.push_back({"line_search_fn", Any::string(kWolfe)});
    auto opt = optimizer("LBFGS", settings);
    evaluations = 0, fail_at = 2;
    const std::string before = bytes(*a) + bytes(*b);
    step(*opt);
    EXPECT_EQ(error, "no more");
    EXPECT_EQ(bytes(*a) + bytes(*b), before);
    fail_at = 0;
    const double first = step(*opt);
    EXPECT_EQ(error, "");
    EXPECT_LT(step(*opt), first) << "and goes on from there";
  }
}

TEST_F(Lbfgs, other_kinds_evaluate_once) {
  auto opt = optimizer("SGD", {{"lr", Any::real(0.5)}});
  for (const bool taped : {false, true}) {
    evaluations = 0;
    const float was = floats(*b)[0];
    step(*opt, taped);
    EXPECT_EQ(error, "");
    EXPECT_EQ(evaluations, 1);
    EXPECT_NEAR(floats(*b)[0], was - 0.5f * 2 * (was - 3), 1e-5f);
  }
}

TEST_F(Lbfgs, refuses_what_makes_no_sense) {
  auto opt = optimizer("LBFGS", {});
  eager([&](Scope& s, const Values& in, Values&) { opt->step(s, in); }, {a, b});
  EXPECT_NE(error.find("LBFGS: a step evaluates the loss as often as it needs"), std::string::npos) << error;
  step(*opt, true);
  EXPECT_NE(error.find("call step() outside of compiled functions and tapes"), std::string::npos) << error;
  Values more;
  more.push(wave({2}));
  EXPECT_EQ(thrown([&] { opt->add_group(environment, more, nullptr); }),
            "LBFGS: its parameters are one group; there is one already");
  EXPECT_EQ(thrown([&] {
              optimizer("LBFGS", {{"line_search_fn", Any::string("armijo")}});
            }),
            "LBFGS: line_search_fn must be 'strong_wolfe' or None, got 'armijo'");
  EXPECT_EQ(thrown([&] {
              optimizer("LBFGS", {{"history_size", Any::integer(0)}});
            }),
            "LBFGS: history_size must be positive, got 0");
}

TEST_F(Lbfgs, refuses_what_is_no_loss_with_gradients) {
  auto opt = optimizer("LBFGS", {});
  const auto error_of = [&](const Lambda::Body& body) {
    EagerScope scope(context->scope_environment(), false);
    Lambda closure(body);
    EXPECT_EQ(opt->step(scope, closure), nullptr);
    return scope.status()->message();
  };
  EXPECT_EQ(error_of([&](Scope&, const Values&, Values& out) { out.push(b); }),
            "LBFGS: the function must give the loss and the gradients, got *");
  EXPECT_EQ(error_of([&](Scope&, const Values&, Values& out) { out.push(a), out.push(a), out.push(b); }),
            "LBFGS: the loss must be a real tensor of one element, got f32[2]");
  EXPECT_EQ(error_of([&](Scope&, const Values&, Values& out) { out.push(b), out.push(b), out.push(b); }),
            "LBFGS: the gradient of '0' is f32[1], the parameter f32[2]");
}

TEST(CubicMinimum, is_that_of_a_parabola_and_within_bounds) {
  const auto parabola = [](double x) { return LinePoint{x, (x - 2) * (x - 2), 2 * (x - 2)}; };
  EXPECT_NEAR(cubic_minimum(parabola(0), parabola(5), 0, 5), 2, 1e-12);
  EXPECT_NEAR(cubic_minimum(parabola(5), parabola(0), 0, 5), 2, 1e-12);
  EXPECT_EQ(cubic_minimum(parabola(0), parabola(1), 0, 1), 1);
  EXPECT_EQ(cubic_minimum({0, 0, 1}, {1, 0.9, 1}, 0, 1), 0.5) << "there is none";
}

}  // namespace
}  // namespace thunder
