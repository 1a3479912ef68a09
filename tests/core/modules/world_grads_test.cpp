// Gradients of what the losses of several ranks are together.
#include "modules/world_grads.h"

#include "fixture.h"
#include "support/echo_ranks.h"

namespace thunder {
namespace {

struct RankGrads : Modules {
  std::shared_ptr<test::EchoRanks> ranks = test::set_echo_ranks(context->registry(), "data", 2);
  Ref<Tensor> w = tensor({2}, {1, 2}), v = tensor({3}, {3, 4, 5});

  // Gradients of sum(w * x[0:2]) + sum(v * x) by w, v and x.
  std::vector<Floats> gradients(std::string_view reduction) {
    auto body = [&](Scope& s, const Values& in, Values& out) {
      Tensor* x = in[0].tensor.get();
      Tensor* part = s.invoke("narrow", std::vector<Any>{any(x), Any::integer(0), Any::integer(0), Any::integer(2)}, nullptr, nullptr, 0, nullptr);
      Tensor* loss = op(s, "add", {any(op(s, "sum", {any(op(s, "mul", {any(part), any(w.get())}))})),
                                   any(op(s, "sum", {any(op(s, "mul", {any(x), any(v.get())}))}))});
      Values wrt;
      wrt.push(w), wrt.push(v), wrt.push(in[0].tensor);
      out.assign(*grad_over_ranks(s, loss, wrt, "data", reduction));
    };
    auto f = compile(body);
    Values in, out;
    in.push(tensor({3}, {7, 8, 9}));
    EXPECT_EQ(f->call(in, out), nullptr);
    std::vector<Floats> results;
    for (size_t i = 0; i < out.size(); i++) results.push_back(floats(*out[i].tensor));
    return results;
  }
};

TEST_F(RankGrads, averages_those_of_parameters_together_and_leaves_inputs_alone) {
  const auto found = gradients("mean");
  EXPECT_EQ(found, (std::vector<Floats>{{7, 8}, {7, 8, 9}, {4, 6, 5}}));
  ASSERT_EQ(ranks->calls.size(), 1u);  // small ones travel together
}

TEST_F(RankGrads, of_25_mebibytes_travel_alone) {
  const int64_t large = (int64_t{25} << 20) / 4;
  const auto big = tensor({large}, Floats(static_cast<size_t>(large))),
             less = tensor({large - 1}, Floats(static_cast<size_t>(large - 1)));
  auto body = [&](Scope& s, const Values&, Values& out) {
    Tensor* loss = op(s, "sum", {any(w.get())});
    for (Tensor* t : {less.get(), big.get(), v.get()}) loss = op(s, "add", {any(loss), any(op(s, "sum", {any(t)}))});
    Values wrt;
    wrt.push(less), wrt.push(w), wrt.push(big), wrt.push(v);
    out.assign(*grad_over_ranks(s, loss, wrt, "data", "sum"));
  };
  auto f = compile(body);
  Values in, out;
  ASSERT_EQ(f->call(in, out), nullptr);
  // The small ones fill a bucket together with the one that is an element short.
  ASSERT_EQ(ranks->calls.size(), 2u);
  EXPECT_EQ(floats(*out[2].tensor).back(), 2);
  EXPECT_EQ(floats(*out[0].tensor).back(), 2);
}

TEST_F(RankGrads, of_one_rank_is_the_gradient) {
  ranks->set_ranks(1);
  EXPECT_EQ(gradients("mean"), (std::vector<Floats>{{7, 8}, {7, 8, 9}, {4, 6, 5}}));
  EXPECT_TRUE(ranks->calls.empty());
}

TEST_F(RankGrads, of_the_sum_of_losses_are_sums) {
  EXPECT_EQ(gradients("sum"), (std::vector<Floats>{{14, 16}, {14, 16, 18}, {4, 6, 5}}));
}

}  // namespace
}  // namespace thunder
