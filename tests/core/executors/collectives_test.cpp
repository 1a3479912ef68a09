// Contexts in threads as the ranks of a world: compiled collectives, their gradients, and both lines where ranks disagree.
#include "executors/collectives.h"

#include "support/functions.h"
#include "support/thread_engine.h"

namespace thunder {
namespace {

using test::any;
using test::Floats;
using test::on_ranks;
using test::thread_world;
using test::ThreadHub;

// One rank: a context in that world.
struct Rank {
  Ref<Context> context = test::seeded_context();
  std::shared_ptr<scale::World> world;
  Rank(ThreadHub& hub, int64_t rank, int64_t ranks) : world(thread_world(hub, rank, ranks)) {
    world->add_axes("data=-1");
    rank_axes(context->registry()).set(world);
    context->use_threads(1);
  }
  Ref<Tensor> tensor(const Floats& data) {
    TensorType t;
    t.dtype = DType::f32, t.shape = {static_cast<int64_t>(data.size())};
    auto out = Tensor::empty(context->allocator(), t);
    std::copy(data.begin(), data.end(), reinterpret_cast<float*>(out->data()));
    return out;
  }
  // The first result of the compiled function.
  Floats run(test::Lambda::Body body, const Ref<Tensor>& in, std::string* executor = nullptr) {
    const auto f = make<Compiled>(context, Ref<Function>::adopt(new test::Lambda(std::move(body))), nullptr);
    Tensor *given = in.get(), *out = nullptr;
    if (Status* failed = f->call_tensors(&given, 1, &out, 1)) throw Error(Ref<Status>::adopt(failed));
    if (executor) *executor = test::CompiledTest::executor_of(*f, "prims.all_reduce");
    const Ref<Tensor> kept = Ref<Tensor>::adopt(out);
    return test::CompiledTest::data(*kept);
  }
};

TEST(CollectivesExecutor, runs_them_in_programs_and_differentiates_them) {
  ThreadHub hub;
  const auto failures = on_ranks(3, [&](int64_t n) {
    Rank rank(hub, n, 3);
    const auto k = static_cast<float>(n + 1);
    std::string executor;
    const auto x = rank.tensor({1, 2, 3});
    // The gradient by a common x of the mean over ranks of sum((k x)^2), which is 2 k^2 x on each.
    const auto gradient = [&](Scope& s, const Values& in, Values& out) {
      Tensor* common = test::op(s, "pvary", {any(in[0].tensor), Any::string("data")});
      Tensor* y = test::op(s, "mul", {any(common), Any::real(k)});
      Tensor* sum = test::op(s, "sum", {any(test::op(s, "mul", {any(y), any(y)}))});
      Tensor* loss = test::op(s, "all_reduce", {any(sum), Any::string("data"), Any::string("mean")});
      out.assign(*s.grad(loss, in));
    };
    const Floats found = rank.run(gradient, x, &executor);
    const float factor = 2.0f * (1 + 4 + 9) / 3;
    for (size_t i = 0; i < 3; i++) EXPECT_NEAR(found[i], factor * static_cast<float>(i + 1), 1e-4f);
    EXPECT_EQ(executor, "collectives");
  });
  EXPECT_EQ(failures, std::vector<std::string>(3));
}

TEST(CollectivesExecutor, ranks_that_disagree_get_the_lines_of_all) {
  ThreadHub hub;
  const auto failures = on_ranks(2, [&](int64_t n) {
    Rank rank(hub, n, 2);
    const auto body = [&](Scope& s, const Values& in, Values& out) {
      const std::vector<Any> args{any(in[0].tensor), Any::string("data"), Any::string(n ? "max" : "sum")};
      out.push(Ref<Tensor>(s.invoke("all_reduce", args, nullptr, nullptr, 0, n ? "right.c:7" : "left.c:3")));
    };
    rank.run(body, rank.tensor({1, 2}));
  });
  for (size_t n = 0; n < 2; n++) {
    EXPECT_NE(failures[n].find("the ranks of axis 'data' disagree: rank 0: all_reduce(f32[2], sum) [at left.c:3]; rank 1: "
                               "all_reduce(f32[2], max) [at right.c:7]"),
              std::string::npos)
        << failures[n];
    EXPECT_NE(failures[n].find(n ? "[at right.c:7, run by executor" : "[at left.c:3, run by executor"), std::string::npos)
        << failures[n];
  }
}

TEST(CollectivesExecutor, a_step_that_failed_has_written_nothing) {
  ThreadHub hub;
  const auto failures = on_ranks(2, [&](int64_t n) {
    Rank rank(hub, n, 2);
    const auto w = rank.tensor({5, 6}), other = rank.tensor(n ? Floats{1, 2} : Floats{1, 2, 3});
    const auto body = [&](Scope& s, const Values& in, Values& out) {
      test::op(s, "mul_", {any(w), Any::real(2)});
      Tensor* sum = test::op(s, "sum", {any(test::op(s, "all_reduce", {any(in[0].tensor), Any::string("data")}))});
      test::op(s, "add_", {any(w), any(sum)});
      out.push(Ref<Tensor>(sum));
    };
    EXPECT_THROW(rank.run(body, other), Error);
    EXPECT_EQ(test::CompiledTest::data(*w), (Floats{5, 6}));
    rank.run(body, rank.tensor({1}));
    EXPECT_EQ(test::CompiledTest::data(*w), (Floats{12, 14}));
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

}  // namespace
}  // namespace thunder
