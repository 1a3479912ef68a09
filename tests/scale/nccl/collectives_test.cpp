// Collectives of values on a GPU: on a world of one through whichever NCCL is here, and between ranks in threads through the
// stand-in.
// covers: core/scale/nccl/launch.cpp core/scale/nccl/library.cpp
#include "scale/nccl/rank_threads.h"

#include "scale/nccl/library.h"
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace thunder::test {
namespace {

using scale::nccl::Library;

// Why the test cannot run here; "": it can.
std::string absence(Context& context) {
  if (std::string why = context.devices().absence(cuda(0)); !why.empty()) return why;
  try {
    return Library::open(), "";
  } catch (const Error& e) {
    return e.message();
  }
}

#if __has_include(<nccl.h>)
TEST(Nccl, constants_are_those_of_its_header) {
  using namespace scale::nccl;
  EXPECT_EQ(sizeof(UniqueId), sizeof(ncclUniqueId));
  EXPECT_EQ(kRemoteError, static_cast<int>(ncclRemoteError));
  EXPECT_EQ(kInProgress, static_cast<int>(ncclInProgress));
  EXPECT_EQ(kSum, static_cast<int>(ncclSum));
  EXPECT_EQ(kMax, static_cast<int>(ncclMax));
  EXPECT_EQ(kMin, static_cast<int>(ncclMin));
  EXPECT_EQ(kInt8, static_cast<int>(ncclInt8));
  EXPECT_EQ(kUint8, static_cast<int>(ncclUint8));
  EXPECT_EQ(kInt32, static_cast<int>(ncclInt32));
  EXPECT_EQ(kUint32, static_cast<int>(ncclUint32));
  EXPECT_EQ(kInt64, static_cast<int>(ncclInt64));
  EXPECT_EQ(kUint64, static_cast<int>(ncclUint64));
  EXPECT_EQ(kFloat32, static_cast<int>(ncclFloat32));
  EXPECT_EQ(kFloat64, static_cast<int>(ncclFloat64));
  EXPECT_EQ(offsetof(Config, blocking), offsetof(ncclConfig_t, blocking));
  EXPECT_EQ(offsetof(Config, net_name), offsetof(ncclConfig_t, netName));
  EXPECT_EQ(offsetof(Config, split_share), offsetof(ncclConfig_t, splitShare));
  EXPECT_EQ(Config().magic, ncclConfig_t(NCCL_CONFIG_INITIALIZER).magic);
}
#endif

// Every collective, of values on the GPU and on the CPU.
TEST(Nccl, a_world_of_one_gives_what_it_is_given) {
  if (const std::string why = absence(*seeded_context()); !why.empty()) GTEST_SKIP() << why;
  const Rank alone("", 0, 1);
  alone.world->add_axes("data=1");
  const Floats x = {1, -2, 3.5f};
  for (const Device device : {cuda(0), Device::cpu}) {
    for (const Collective what : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::broadcast,
                                  Collective::all_to_all, Collective::barrier})
      EXPECT_EQ(alone.run(what, "data", alone.floats(x, device), x.size()), x) << static_cast<int>(what);
    EXPECT_EQ(alone.pass(alone.floats(x, device), {0}, {0}), x);
    EXPECT_EQ(alone.pass(alone.floats(x, device), {}, {}), Floats(x.size()));
  }
  alone.world->barrier("data");
  EXPECT_NE(alone.world->description().find("nccl: " + Library::report()), std::string::npos) << alone.world->description();
}

// Compiled, the operand and the result stay on the GPU, and the collective is the executor's.
TEST(Nccl, a_compiled_collective_stays_on_the_device) {
  if (const std::string why = absence(*seeded_context()); !why.empty()) GTEST_SKIP() << why;
  Rank alone("", 0, 1);
  rank_axes(alone.context->registry()).set(alone.world);
  const Ref<Compiled> f = make<Compiled>(
      alone.context, Ref<Function>::adopt(new Lambda([](Scope& s, const Values& in, Values& out) {
        Tensor* sum = op(s, "all_reduce", {any(op(s, "exp", {any(in[0].tensor)})), Any::string("world"), Any::string("mean")});
        out.push(Ref<Tensor>(op(s, "log", {any(sum)})));
      })),
      nullptr);
  const Ref<Tensor> x = alone.floats({0, 1, 2});
  Tensor *in = x.get(), *result = nullptr;
  for (int i = 0; i < 3; i++) {
    Status* const failed = f->call_tensors(&in, 1, &result, 1);
    ASSERT_FALSE(failed) << failed->message();
    const Ref<Tensor> out = Ref<Tensor>::adopt(result);
    EXPECT_EQ(out->type().device, cuda(0));
    const Floats found = Rank::data(out);
    for (size_t k = 0; k < 3; k++) EXPECT_NEAR(found[k], static_cast<float>(k), 1e-5f);
  }
  EXPECT_EQ(CompiledTest::executor_of(*f, "prims.all_reduce"), "collectives");
}

struct Ranks : testing::Test {
  FakeNccl fake;
  void SetUp() override {
    if (!fake.is_there()) GTEST_SKIP() << "several ranks of one device need the stand-in for NCCL (CTest's nccl)";
    complaints = fake.complaints();
  }
  void TearDown() override {
    if (!fake.is_there()) return;
    fake.late(1), fake.never(0), fake.fail_at(0, 0), fake.lazy(0);
    EXPECT_EQ(fake.complaints(), complaints);
  }
  std::string complaints;
};

TEST_F(Ranks, exchange_values_along_the_axes_of_a_mesh) {
  for (const int64_t late : {0, 1, 7}) {
    fake.late(late);
    const Folder folder;
    const auto failures = on_ranks(4, [&](int64_t r) {
      const Rank rank(folder.path(), r, 4);
      rank.world->add_axes("data=2,tensor=2");
      const float own = static_cast<float>(r), data = static_cast<float>(r / 2), tensor = static_cast<float>(r % 2);
      for (const Device device : {cuda(0), Device::cpu}) {
        EXPECT_EQ(rank.all_reduce({own, 1}, "world", device), (Floats{6, 4}));
        EXPECT_EQ(rank.all_reduce({own, 1}, "data", device), (Floats{2 * tensor + 2, 2}));
        EXPECT_EQ(rank.all_reduce({own, 1}, "tensor", device), (Floats{4 * data + 1, 2}));
        const Ref<Tensor> x = rank.floats({own, -own}, device);
        EXPECT_EQ(rank.run(Collective::all_gather, "world", x, 8), (Floats{0, -0.f, 1, -1, 2, -2, 3, -3}));
        EXPECT_EQ(rank.run(Collective::reduce_scatter, "tensor", x, 1), (Floats{r % 2 ? -(4 * data + 1) : 4 * data + 1}));
        EXPECT_EQ(rank.run(Collective::broadcast, "data", x, 2, 1), (Floats{2 + tensor, -2 - tensor}));
        EXPECT_EQ(rank.run(Collective::all_reduce, "world", x, 2, 0, RankReduction::max), (Floats{3, 0}));
      }
    });
    EXPECT_EQ(failures, std::vector<std::string>(4));
  }
}

TEST_F(Ranks, exchange_parts_and_pass_values_on) {
  for (const int64_t lazy : {0, 1}) {
    fake.lazy(lazy);
    const Folder folder;
    const auto failures = on_ranks(3, [&](int64_t r) {
      const Rank rank(folder.path(), r, 3);
      const float own = static_cast<float>(r);
      for (const Device device : {cuda(0), Device::cpu}) {
        const Ref<Tensor> x = rank.floats({own, 10 + own, 20 + own}, device);
        EXPECT_EQ(rank.run(Collective::all_to_all, "world", x, 3), (Floats{10 * own, 10 * own + 1, 10 * own + 2}));
        EXPECT_EQ(rank.run(Collective::barrier, "world", x, 3), (Floats{own, 10 + own, 20 + own}));
        EXPECT_EQ(rank.pass(x, {0, 1}, {1, 2}), r ? Floats({own - 1, 9 + own, 19 + own}) : Floats(3));
        EXPECT_EQ(rank.pass(x, {2, 1}, {1, 2}), r ? Floats({3 - own, 13 - own, 23 - own}) : Floats(3));
        EXPECT_EQ(rank.pass(x, {1}, {1}), r == 1 ? Floats({1, 11, 21}) : Floats(3));
      }
    });
    EXPECT_EQ(failures, std::vector<std::string>(3));
  }
}

// The work of streams is done as late as it may be: what is not ordered before a collective is not there.
TEST_F(Ranks, order_collectives_behind_the_device_s_own_work) {
  fake.lazy(1);
  const Folder folder;
  const auto failures = on_ranks(2, [&](int64_t r) {
    const Rank rank(folder.path(), r, 2);
    Accelerator& device = rank.context->devices().accelerator(cuda(0));
    const Ref<Tensor> x = rank.floats(Floats(100, static_cast<float>(r + 1))), y = rank.floats(Floats(100));
    if (Status* failed = copy_on_device(device, x->buffer(), y->buffer())) throw Error(Ref<Status>::adopt(failed));
    EXPECT_EQ(rank.run(Collective::all_reduce, "world", y, 100), Floats(100, 3));
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

// Five sums that begin together.
void add_five(const Rank& rank, int64_t r) {
  std::vector<Ref<Tensor>> in, out;
  for (size_t k = 0; k < 5; k++) {
    in.push_back(rank.floats(Floats(k + 1, static_cast<float>(r + 1)))), out.push_back(rank.floats(Floats(k + 1)));
    CollectiveCall call{Collective::all_reduce, "world", 2, RankReduction::sum, 0, in[k]->buffer(), out[k]->buffer()};
    call.device = &rank.context->devices().accelerator(cuda(0)), call.more = k < 4;
    if (Status* failed = rank.world->start(call)) throw Error(Ref<Status>::adopt(failed));
  }
  for (size_t k = 0; k < 5; k++)
    if (Status* failed = rank.world->wait(out[k]->data(), k == 4)) throw Error(Ref<Status>::adopt(failed));
  for (size_t k = 0; k < 5; k++) EXPECT_EQ(Rank::data(out[k]), Floats(k + 1, 3));
}

// By whichever thread: the first of a kind is launched by the one that drives engines.
TEST_F(Ranks, launch_once_what_begins_together) {
  for (const int64_t lazy : {0, 1}) {
    fake.lazy(lazy);
    const Folder folder;
    std::atomic<int64_t> before{0};
    const auto failures = on_ranks(2, [&](int64_t r) {
      const Rank rank(folder.path(), r, 2);
      rank.world->barrier("world");
      before = fake.launches();
      rank.world->barrier("world");
      for (int time = 0; time < 3; time++) add_five(rank, r);
    });
    EXPECT_EQ(failures, std::vector<std::string>(2));
    EXPECT_EQ(fake.launches() - before, 2 * 3);
  }
}

// A compiled step of which several collectives run beside the rest, while the work of streams is done as late as it may be.
TEST_F(Ranks, run_collectives_beside_the_lines_of_a_program_and_store_behind_them) {
  for (const int64_t lazy : {0, 1}) {
    fake.lazy(lazy);
    const Folder folder;
    const auto failures = on_ranks(2, [&](int64_t r) {
      Rank rank(folder.path(), r, 2);
      rank_axes(rank.context->registry()).set(rank.world);
      const Ref<Tensor> w = rank.floats(Floats(64));
      const Ref<Compiled> f = make<Compiled>(
          rank.context, Ref<Function>::adopt(new Lambda([&](Scope& s, const Values& in, Values& out) {
            Tensor* x = in[0].tensor.get();
            Tensor* sum = nullptr;
            for (int i = 0; i < 6; i++) {
              x = op(s, "cumsum", {any(op(s, "mul", {any(x), Any::real(0.5)})), Any::integer(0)});
              Tensor* all = op(s, "all_reduce", {any(x), Any::string("world")});
              sum = sum ? op(s, "add", {any(sum), any(all)}) : all;
            }
            op(s, "add_", {any(w), any(sum)});
            out.push(Ref<Tensor>(sum));
          })),
          nullptr);
      Floats x(64, static_cast<float>(r + 1)), expected(64);
      for (int call = 1; call <= 3; call++) {
        Floats y(64, 3);
        if (call == 1)
          for (int i = 0; i < 6; i++) {
            float running = 0;
            for (size_t k = 0; k < 64; k++) y[k] = running += y[k] / 2, expected[k] += y[k];
          }
        const Ref<Tensor> given = rank.floats(x);
        Tensor *in = given.get(), *result = nullptr;
        if (Status* failed = f->call_tensors(&in, 1, &result, 1)) throw Error(Ref<Status>::adopt(failed));
        const Floats found = Rank::data(Ref<Tensor>::adopt(result)), stored = Rank::data(w);
        for (size_t k = 0; k < 64; k++) {
          EXPECT_NEAR(found[k] / expected[k], 1, 1e-5);
          EXPECT_NEAR(stored[k] / (static_cast<float>(call) * expected[k]), 1, 1e-5);
        }
      }
    });
    EXPECT_EQ(failures, std::vector<std::string>(2));
  }
}

TEST_F(Ranks, are_told_that_small_integers_are_not_added_and_go_on) {
  const Folder folder;
  const auto failures = on_ranks(2, [&](int64_t r) {
    const Rank rank(folder.path(), r, 2);
    int16_t x = 1, y = 0;
    const int64_t one = 1;
    const Buffer in{&x, &one, &one, 1, DType::i16}, out{&y, &one, &one, 1, DType::i16};
    Status* const failed = rank.world->run({Collective::all_reduce, "world", 2, RankReduction::sum, 0, in, out});
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->message(),
              "nccl: it has no reductions of i16; convert the tensor to int32 or float32 before, and back behind it");
    failed->release();
    EXPECT_EQ(rank.all_reduce({1}), Floats{2});
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

}  // namespace
}  // namespace thunder::test
