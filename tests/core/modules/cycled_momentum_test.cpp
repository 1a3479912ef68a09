// Momentum as a number that schedules write: covers modules/cycled_momentum and its part of lr_scheduler.
#include "fixture.h"
#include "modules/lr_scheduler.h"

namespace thunder {
namespace {

struct CycledMomentum : Modules {
  Ref<Optimizer> optimizer(std::string_view kind) {
    Values params;
    params.push(tensor({1}, {1}));
    return make<Optimizer>(environment, kind, params, nullptr);
  }
  Ref<LrScheduler> cycle(Ref<Optimizer> of, bool momentum = true) {
    Options o;
    o.set("base_lr", Any::real(0.1)), o.set("max_lr", Any::real(1)), o.set("step_size_up", Any::integer(2));
    o.set("cycle_momentum", Any::boolean(momentum));
    auto made = make<LrScheduler>(environment, "CyclicLR", std::move(of), &o);
    made->start();
    return made;
  }
};

TEST_F(CycledMomentum, falls_as_the_rate_rises) {
  for (const char* kind : {"SGD", "Adam", "RMSprop"}) {
    auto of = optimizer(kind);
    auto schedule = cycle(of);
    for (double wanted : {0.9, 0.85, 0.8, 0.85, 0.9}) {
      EXPECT_NEAR(of->get_f64("momentum"), wanted, 1e-12) << kind;
      schedule->step();
    }
  }
}

TEST_F(CycledMomentum, gives_those_without_the_tensors_that_it_takes) {
  auto of = optimizer("SGD");
  EXPECT_EQ(of->state()->find_tensor("momentum_buffer.0"), nullptr);
  cycle(of);
  EXPECT_NE(of->state()->find_tensor("momentum_buffer.0"), nullptr);
  cycle(of);  // once more changes nothing
}

TEST_F(CycledMomentum, is_left_alone_or_refused_where_there_is_none) {
  auto of = optimizer("SGD");
  cycle(of, false);
  EXPECT_EQ(of->get_f64("momentum"), 0);
  EXPECT_NE(thrown([&] { cycle(optimizer("Adagrad")); }).find("Adagrad: has neither momentum nor betas"), std::string::npos);
}

}  // namespace
}  // namespace thunder
