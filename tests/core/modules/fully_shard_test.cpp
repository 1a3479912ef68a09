// Parameters of which ranks have a part each, and what is computed from them; also covers tracing_shards.
// covers: core/tracer/tracing_shards.cpp
#include "modules/fully_shard.h"

#include "fixture.h"
#include "support/echo_ranks.h"

namespace thunder {
namespace {

struct Shards : Modules {
  std::shared_ptr<test::EchoRanks> ranks = test::set_echo_ranks(context->registry(), "data", 4);
  Ref<Tensor> w = tensor({2}, {3, 4});

  Shards() {
    w->set_sharding(std::make_shared<const Sharding>(Sharding{"data", 4, 3, 8}));
    rank_axes(context->registry()).note_shards();
  }

  // clip_grad_norm to 1 of what `make` makes of the gradient of sum(w * x) by w, at x = (3, 4).
  Floats clipped(const std::function<Tensor*(Scope&, Tensor*)>& make) {
    auto body = [&](Scope& s, const Values& in, Values& out) {
      Tensor* loss = op(s, "sum", {any(op(s, "mul", {any(in[0].tensor.get()), any(w.get())}))});
      Values wrt, grads;
      wrt.push(w);
      grads.push(Ref<Tensor>(make(s, (*s.grad(loss, wrt))[0].tensor.get())));
      out.assign(*clip_grad_norm(s, grads, 1, nullptr));
    };
    auto f = compile(body);
    Values in, out;
    in.push(tensor({2}, {3, 4}));
    if (Status* failed = f->call(in, out)) throw Error(Ref<Status>::adopt(failed));
    return floats(*out[0].tensor);
  }
};

TEST_F(Shards, have_the_rows_in_order_and_zeros_behind_the_last) {
  const auto whole = tensor({7, 1}, {1, 2, 3, 4, 5, 6, 7});
  const auto part = [&](int64_t ranks, int64_t index) {
    return floats(*shard_of(environment.scope, *whole, {"data", ranks, index, 7}));
  };
  EXPECT_EQ(part(3, 0), (Floats{1, 2, 3}));
  EXPECT_EQ(part(3, 2), (Floats{7, 0, 0}));
  EXPECT_EQ(part(5, 4), (Floats{0, 0}));
  EXPECT_EQ(part(1, 0), (Floats{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Shards, are_clipped_by_the_norm_over_all_ranks) {
  const auto found = clipped([](Scope&, Tensor* g) { return g; });  // the norm is 5 on each of four ranks, 10 together
  EXPECT_NEAR(found[0], 0.3, 1e-6);
  EXPECT_NEAR(found[1], 0.4, 1e-6);
  EXPECT_EQ(ranks->calls.size(), 1u);
}

TEST_F(Shards, stay_shards_when_gradients_are_changed) {
  const auto found = clipped([](Scope& s, Tensor* g) { return op(s, "add", {any(g), any(g)}); });
  EXPECT_NEAR(found[0], 0.3, 1e-6);
  EXPECT_EQ(ranks->calls.size(), 1u);
}

TEST_F(Shards, that_may_be_any_tensor_are_not_clipped) {
  const auto kept = tensor({2}, {3, 4});
  try {
    clipped([&](Scope&, Tensor*) { return kept.get(); });
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.message()).find("clip_grad_norm: '0' may be of a shard"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace thunder
