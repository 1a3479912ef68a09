// Learning rates over steps, against the formulas: covers lr_scheduler, lr_steps and the rows of
// lr_schedulers.
// covers: core/modules/lr_schedulers.cpp core/modules/lr_steps.cpp
#include <numbers>

#include "fixture.h"

namespace thunder {
namespace {

struct LrSchedulers : Modules {
  Ref<Optimizer> optimizer() {
    Values params;
    params.push(tensor({1}, {1}));
    Options o;
    o.set("lr", Any::real(0.8));
    return make<Optimizer>(environment, "SGD", params, &o);
  }
  std::vector<double> rates(std::string_view kind, std::vector<std::pair<const char*, Any>> options, int steps) {
    Options o;
    for (auto& [name, value] : options) o.set(name, value);
    auto opt = optimizer();
    LrScheduler schedule(environment, kind, opt, &o);
    schedule.start();
    std::vector<double> out{opt->get_f64("lr")};
    for (int i = 1; i < steps; i++) {
      schedule.step();
      out.push_back(opt->get_f64("lr"));
    }
    return out;
  }
  static void expect(const std::vector<double>& is, const std::vector<double>& wanted) {
    ASSERT_EQ(is.size(), wanted.size());
    for (size_t i = 0; i < is.size(); i++) EXPECT_NEAR(is[i], wanted[i], 1e-12) << i;
  }
};

TEST_F(LrSchedulers, step) {
  expect(rates("StepLR", {{"step_size", Any::integer(2)}, {"gamma", Any::real(0.5)}}, 5), {0.8, 0.8, 0.4, 0.4, 0.2});
}
TEST_F(LrSchedulers, exponential) {
  expect(rates("ExponentialLR", {{"gamma", Any::real(0.5)}}, 3), {0.8, 0.4, 0.2});
}
TEST_F(LrSchedulers, linear) {
  expect(rates("LinearLR", {{"start_factor", Any::real(0.25)}, {"total_iters", Any::integer(3)}}, 5),
         {0.2, 0.4, 0.6, 0.8, 0.8});
}
TEST_F(LrSchedulers, cosine) {
  expect(rates("CosineAnnealingLR", {{"T_max", Any::integer(4)}, {"eta_min", Any::real(0.2)}}, 5),
         {0.8, 0.5 + 0.3 * std::cos(std::numbers::pi / 4), 0.5, 0.5 + 0.3 * std::cos(3 * std::numbers::pi / 4), 0.2});
}
TEST_F(LrSchedulers, warmup_then_cosine) {
  expect(rates("WarmupCosineLR", {{"warmup", Any::integer(3)}, {"T_max", Any::integer(5)}}, 7),
         {0.2, 0.4, 0.6, 0.8, 0.4, 0, 0});
}

TEST_F(LrSchedulers, refuse_what_makes_no_sense) {
  EXPECT_NE(thrown([&] { rates("StepLr", {}, 1); }).find("did you mean 'StepLR'?"), std::string::npos);
  EXPECT_NE(thrown([&] { rates("StepLR", {}, 1); }).find("'step_size' is missing"), std::string::npos);
  EXPECT_NE(thrown([&] {
              rates("StepLR", {{"step_size", Any::integer(0)}}, 1);
            }).find("must be positive, got 0"),
            std::string::npos);
}

TEST_F(LrSchedulers, keep_their_position_in_their_state) {
  auto opt = optimizer();
  Options o;
  o.set("gamma", Any::real(0.5));
  LrScheduler schedule(environment, "ExponentialLR", opt, &o);
  schedule.start();
  schedule.step();
  EXPECT_EQ(*reinterpret_cast<double*>(schedule.state()->find_tensor("step")->tensor->data()), 1);
  EXPECT_EQ(*reinterpret_cast<double*>(schedule.state()->find_tensor("base_lr")->tensor->data()), 0.8);
  EXPECT_EQ(schedule.last_lr(), std::vector{0.4});
}

TEST_F(LrSchedulers, later_ones_start_from_the_first_learning_rate) {
  auto opt = optimizer();
  Options first, second;
  first.set("factor", Any::real(0.5));
  second.set("gamma", Any::real(0.25));
  auto a = make<LrScheduler>(environment, "ConstantLR", opt, &first);
  a->start();
  EXPECT_EQ(opt->get_f64("lr"), 0.4);
  auto b = make<LrScheduler>(environment, "ExponentialLR", opt, &second);
  b->start();
  EXPECT_EQ(opt->get_f64("lr"), 0.4);  // which leaves what the other wrote
  const double begins[] = {2};
  Options at;
  Any list;
  list.kind = ArgKind::reals, list.count = 1, list.fs = begins;
  at.set("milestones", list);
  LrScheduler both(environment, "SequentialLR", std::vector{a, b}, &at);
  both.start();
  std::vector<double> rates;
  for (int i = 0; i < 4; i++, both.step()) rates.push_back(opt->get_f64("lr"));
  expect(rates, {0.4, 0.4, 0.8, 0.2});
}

TEST_F(LrSchedulers, beside_one_another_both_count) {
  auto opt = optimizer();
  Options first, second;
  first.set("step_size", Any::integer(2)), first.set("gamma", Any::real(0.5));
  second.set("gamma", Any::real(0.1));
  LrScheduler a(environment, "StepLR", opt, &first), b(environment, "ExponentialLR", opt, &second);
  a.start(), b.start();
  std::vector<double> rates;
  for (int i = 0; i < 4; i++) a.step(), b.step(), rates.push_back(opt->get_f64("lr"));
  expect(rates, {0.08, 0.004, 0.0004, 0.00002});
}

TEST_F(LrSchedulers, go_on_from_a_rate_that_was_set) {
  auto opt = optimizer();
  Options o;
  o.set("gamma", Any::real(0.5));
  LrScheduler schedule(environment, "ExponentialLR", opt, &o);
  schedule.start();
  schedule.step();
  opt->set_f64("lr", 8);
  EXPECT_EQ(schedule.last_lr(), std::vector{0.4});
  schedule.step();
  EXPECT_EQ(opt->get_f64("lr"), 4);
}

TEST_F(LrSchedulers, of_no_first_factor_reach_the_whole_rate) {
  expect(rates("ConstantLR", {{"factor", Any::real(0)}, {"total_iters", Any::integer(2)}}, 4), {0, 0, 0.8, 0.8});
  expect(rates("LinearLR", {{"start_factor", Any::real(0)}, {"total_iters", Any::integer(2)}}, 4), {0, 0.4, 0.8, 0.8});
}

TEST_F(LrSchedulers, a_metric_decides) {
  auto opt = optimizer();
  Options o;
  o.set("patience", Any::integer(1));
  o.set("cooldown", Any::integer(1));
  LrScheduler schedule(environment, "ReduceLROnPlateau", opt, &o);
  schedule.start();
  std::vector<double> rates;
  for (double metric : {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5}) schedule.step(metric), rates.push_back(opt->get_f64("lr"));
  expect(rates, {0.8, 0.8, 0.08, 0.08, 0.08, 0.008, 0.008});
  EXPECT_EQ(*reinterpret_cast<double*>(schedule.state()->find_tensor("best")->tensor->data()), 0.5);
  EXPECT_EQ(thrown([&] { schedule.step(); }), "ReduceLROnPlateau: step needs the metric by which it decides");
}

}  // namespace
}  // namespace thunder
