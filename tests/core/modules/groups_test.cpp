// Optimisers and schedules over several groups of parameters. Covers groups.
#include "fixture.h"

namespace thunder {
namespace {

struct Groups : Modules {
  Ref<Tensor> a = tensor({1}, {1}), b = tensor({1}, {1}), c = tensor({1}, {1});
  Ref<Tensor> one = tensor({1}, {1});

  static Values list(const std::vector<Ref<Tensor>>& tensors) {
    Values out;
    out.open(false, {});
    for (auto& t : tensors) out.push(t);
    out.close();
    return out;
  }
  static Values map(const std::vector<std::pair<const char*, Ref<Tensor>>>& tensors) {
    Values out;
    out.open(true, {});
    for (auto& [name, t] : tensors) out.key(name), out.push(t);
    out.close();
    return out;
  }
  static Options rate(double lr) {
    Options o;
    o.set("lr", Any::real(lr));
    return o;
  }
  // SGD over { a, b } at 0.5 and { c } at 0.25.
  Ref<Optimizer> two_groups(const Values& first, const Values& second) {
    const Options half = rate(0.5), quarter = rate(0.25);
    auto optimizer = make<Optimizer>(environment, "SGD", &half);
    optimizer->add_group(environment, first, nullptr);
    optimizer->add_group(environment, second, &quarter);
    return optimizer;
  }
  void step(Optimizer& optimizer, const Values& grads) {
    eager([&](Scope& s, const Values&, Values&) { optimizer.step(s, grads); }, {});
  }
};

TEST_F(Groups, each_moves_by_its_own_rate) {
  auto optimizer = two_groups(list({a, b}), list({c}));
  step(*optimizer, list({one, one, one}));
  EXPECT_EQ(error, "");
  EXPECT_EQ(floats(*a)[0], 0.5f);
  EXPECT_EQ(floats(*b)[0], 0.5f);
  EXPECT_EQ(floats(*c)[0], 0.75f);
  Values nested;
  nested.open(false, {});
  for (auto& group : {std::vector{one, one}, std::vector{one}}) {
    nested.open(false, {});
    for (auto& t : group) nested.push(t);
    nested.close();
  }
  nested.close();
  step(*optimizer, nested);
  EXPECT_EQ(error, "");
  EXPECT_EQ(floats(*a)[0], 0.0f);
  EXPECT_EQ(floats(*c)[0], 0.5f);
}

TEST_F(Groups, gradients_of_a_map_are_found_by_name) {
  auto optimizer = two_groups(map({{"z", a}, {"y", b}}), map({{"x", c}}));
  step(*optimizer, map({{"x", tensor({1}, {4})}, {"y", tensor({1}, {2})}, {"z", one}}));
  EXPECT_EQ(error, "");
  EXPECT_EQ(floats(*a)[0], 0.5f);
  EXPECT_EQ(floats(*b)[0], 0.0f);
  EXPECT_EQ(floats(*c)[0], 0.0f);
  step(*optimizer, map({{"x", one}, {"y", one}}));
  EXPECT_NE(error.find("SGD: the gradients are {\"x\":*,\"y\":*}, but the parameters have the names"), std::string::npos) << error;
  step(*optimizer, list({one}));
  EXPECT_NE(error.find("SGD: the gradients are [*], without names, but the parameters have"), std::string::npos) << error;
}

TEST_F(Groups, have_options_of_their_own) {
  Options base, decayed;
  base.set("lr", Any::real(0.5)), base.set("momentum", Any::real(0.9));
  decayed.set("weight_decay", Any::real(0.25));
  auto optimizer = make<Optimizer>(environment, "SGD", list({a}), &base);
  optimizer->add_group(environment, list({b}), &decayed);
  EXPECT_EQ(optimizer->get_f64("param_groups.0.weight_decay"), 0);
  EXPECT_EQ(optimizer->get_f64("param_groups.1.weight_decay"), 0.25);
  EXPECT_EQ(optimizer->get_f64("param_groups.1.momentum"), 0.9) << "as the optimizer was made";
  step(*optimizer, list({one, one}));
  EXPECT_EQ(floats(*a)[0], 0.5f);
  EXPECT_EQ(floats(*b)[0], 1 - 0.5f * 1.25f);
  EXPECT_EQ(optimizer->text(),
            "SGD (\n"
            "Parameter Group 0\n    lr: 0.5\n    momentum: 0.9\n    dampening: 0.0\n    weight_decay: 0.0\n    nesterov: False\n    maximize: False\n"
            "Parameter Group 1\n    lr: 0.5\n    momentum: 0.9\n    dampening: 0.0\n    weight_decay: 0.25\n    nesterov: False\n    maximize: False\n"
            ")");
}

TEST_F(Groups, one_more_makes_another_program_and_a_new_rate_does_not) {
  auto optimizer = make<Optimizer>(environment, "Adam", list({a}), nullptr);
  bool both = false;
  auto f = compile([&](Scope& s, const Values& in, Values& out) {
    optimizer->step(s, both ? list({in[0].tensor, in[0].tensor}) : list({in[0].tensor}));
    out.push(in[0].tensor);
  });
  run(*f, {one});
  run(*f, {one});
  EXPECT_EQ(f->reports().statistics().misses, 1u);
  optimizer->add_group(environment, list({b}), nullptr);
  both = true;
  run(*f, {one});
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_NEAR(floats(*b)[0], 1 - 1e-3, 1e-6) << "its first step, whatever the others have behind them";
  EXPECT_EQ(optimizer->get_f64("param_groups.0.step"), 3);
  EXPECT_EQ(optimizer->get_f64("param_groups.1.step"), 1);
  optimizer->set_f64("param_groups.1.lr", 0.5);
  run(*f, {one});
  EXPECT_EQ(f->reports().statistics().misses, 2u);
  EXPECT_LT(floats(*b)[0], 0.6f);
}

TEST_F(Groups, follow_a_schedule_each_from_its_own_rate) {
  auto optimizer = two_groups(list({a, b}), list({c}));
  Options gamma;
  gamma.set("gamma", Any::real(0.5));
  LrScheduler schedule(environment, "ExponentialLR", optimizer, &gamma);
  schedule.start();
  EXPECT_EQ(schedule.last_lr(), (std::vector{0.5, 0.25}));
  schedule.step();
  EXPECT_EQ(schedule.last_lr(), (std::vector{0.25, 0.125}));
  EXPECT_EQ(optimizer->get_f64("param_groups.0.lr"), 0.25);
  EXPECT_EQ(optimizer->get_f64("param_groups.1.lr"), 0.125);
}

TEST_F(Groups, refuse_what_cannot_be) {
  auto optimizer = two_groups(map({{"w", a}}), map({{"v", b}}));
  auto added = [&](const Values& params, const Options* options) {
    return thrown([&] { optimizer->add_group(environment, params, options); });
  };
  EXPECT_EQ(added(map({{"u", a}}), nullptr), "SGD: parameters 'w' and 'u' are one tensor; give it once");
  EXPECT_NE(added(map({{"w", c}}), nullptr).find("an earlier group has a parameter 'w'"), std::string::npos);
  const Options negative = rate(-1);
  EXPECT_NE(added(map({{"u", c}}), &negative).find("lr must not be negative, got -1"), std::string::npos);
  EXPECT_EQ(added(Values(), nullptr), "SGD: the parameter list is empty");
  EXPECT_EQ(optimizer->group_count(), 2u);
  step(*optimizer, map({{"w", one}, {"v", one}}));
  EXPECT_EQ(error, "") << "what was refused has changed nothing";
  EXPECT_NE(thrown([&] { optimizer->set_f64("lr", 1); }).find("'param_groups.0.lr'"), std::string::npos);
  EXPECT_NE(thrown([&] { optimizer->get_f64("param_groups.2.lr"); }).find("there is no parameter group 2"),
            std::string::npos);
  EXPECT_NE(thrown([&] { optimizer->get_f64("param_groups.x"); }).find("param_groups.GROUP.NAME"), std::string::npos);
  EXPECT_NE(thrown([&] { optimizer->set(environment, "param_groups.1.weight_decay", -1); }).find("must not be negative"),
            std::string::npos);
  const Options half = rate(0.5);
  Optimizer none(environment, "SGD", &half);
  step(none, Values());
  EXPECT_EQ(error, "SGD: there are no parameters yet; add a group");
}

}  // namespace
}  // namespace thunder
