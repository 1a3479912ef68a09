// What goes wrong with NCCL: each entry point failing, ranks that never come, collectives that are never over. Nothing hangs, and
// every rank is told.
// covers: core/scale/nccl/group.cpp core/device/cuda/reports.cpp
#include "scale/nccl/group.h"
#include "scale/nccl/rank_threads.h"

namespace thunder::test {
namespace {

using scale::Clock;

constexpr int kInjected = 2;

struct NcclFaults : testing::Test {
  FakeNccl fake;
  void SetUp() override {
    if (!fake.is_there()) GTEST_SKIP() << "faults need the stand-in for NCCL (CTest's nccl)";
  }
  void TearDown() override {
    if (fake.is_there()) fake.late(1), fake.never(0), fake.fail_at(0, 0);
  }

  // A life of two ranks: they join, split, reduce on the GPU and by the CPU's memory, and leave.
  static std::vector<std::string> live(double timeout) {
    const Folder folder;
    return on_ranks(2, [&](int64_t r) {
      const Rank rank(folder.path(), r, 2, timeout);
      rank.world->add_axes("data=1,tensor=2");
      EXPECT_EQ(rank.all_reduce({1}), Floats{2});
      EXPECT_EQ(rank.all_reduce({1}, "world", Device::cpu), Floats{2});
    });
  }
  // What ranks are told when something is never over, within the limit and two seconds.
  std::vector<std::string> told_of(int32_t never) {
    constexpr double kLimit = 0.5;
    fake.never(never);
    const auto began = Clock::now();
    auto failures = live(kLimit);
    EXPECT_LT(Clock::now() - began, std::chrono::duration<double>(kLimit + 2));
    fake.never(0);
    return failures;
  }
};

TEST_F(NcclFaults, an_opening_that_is_never_over_is_an_error) {
  for (const std::string& told : told_of(FAKE_NCCL_INIT))
    EXPECT_EQ(told.find("mesh: engine nccl was not opened in 0.5 seconds on rank "), 0u) << told;
}

TEST_F(NcclFaults, ranks_that_cannot_meet_are_told) {
  for (const int32_t what : {FAKE_NCCL_LAUNCH, FAKE_NCCL_RUN})
    for (const std::string& told : told_of(what))
      EXPECT_EQ(told.find("mesh: the ranks did not meet in 0.5 seconds on rank "), 0u) << told;
}

// Of tensors on the device the host does not wait for it: whoever waits for the device is told, and the communicators end.
TEST_F(NcclFaults, a_collective_that_is_never_over_is_an_error) {
  for (const Device device : {cuda(0), Device::cpu}) {
    const Folder folder;
    const auto began = Clock::now();
    const auto failures = on_ranks(2, [&](int64_t r) {
      const Rank rank(folder.path(), r, 2, 0.5);
      EXPECT_EQ(rank.all_reduce({1}, "world", device), Floats{2});
      rank.world->barrier("world");
      fake.never(FAKE_NCCL_RUN);
      rank.world->barrier("world");
      rank.all_reduce({1}, "world", device);
    });
    fake.never(0);
    EXPECT_LT(Clock::now() - began, std::chrono::seconds(5));
    for (const std::string& told : failures)
      EXPECT_NE(told.find("all_reduce(f32[1], sum) over axis 'world': rank "), told.npos) << told;
  }
}

TEST_F(NcclFaults, what_the_host_has_left_to_the_device_is_an_error_of_its_next_wait) {
  const Folder folder;
  const auto failures = on_ranks(2, [&](int64_t r) {
    const Rank rank(folder.path(), r, 2, 0.5);
    rank.all_reduce({1});
    const Ref<Tensor> x = rank.floats({1}), y = rank.floats({0});
    CollectiveCall call{Collective::all_reduce, "world", 2, RankReduction::sum, 0, x->buffer(), y->buffer()};
    call.device = &rank.context->devices().accelerator(cuda(0));
    rank.world->barrier("world");
    fake.never(FAKE_NCCL_RUN);
    rank.world->barrier("world");
    EXPECT_EQ(rank.world->start(call), nullptr);
    EXPECT_EQ(rank.world->wait(y->data(), false), nullptr);
    try {
      Rank::data(y);
      ADD_FAILURE() << "there is no result";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), scale::kDeadlineExceeded);
      EXPECT_NE(e.message().find("waited 0.5 seconds for others, which have begun it"), std::string::npos) << e.message();
    }
    EXPECT_TRUE(rank.world->broken());
    EXPECT_EQ(Rank::data(x), Floats{1});  // told once; the device works
  });
  fake.never(0);
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST_F(NcclFaults, a_communicator_that_does_not_end_is_left) {
  for (const std::string& told : told_of(FAKE_NCCL_FINALIZE)) EXPECT_EQ(told, "");
}

TEST_F(NcclFaults, a_rank_that_never_comes_is_an_error_of_the_other) {
  const Folder folder;
  const auto began = Clock::now();
  try {
    const Rank first(folder.path(), 0, 2, 0.5);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), scale::kDeadlineExceeded);
    EXPECT_NE(e.message().find("on rank 0 of 2: are all processes started?"), std::string::npos) << e.message();
  }
  EXPECT_LT(Clock::now() - began, std::chrono::milliseconds(2500));
}

TEST_F(NcclFaults, a_rank_that_stays_away_is_an_error_and_its_communicators_end) {
  const Folder folder;
  const auto failures = on_ranks(2, [&](int64_t r) {
    const Rank rank(folder.path(), r, 2, 0.5);
    EXPECT_EQ(rank.all_reduce({1}), Floats{2});
    if (r == 1) return std::this_thread::sleep_for(std::chrono::seconds(1));
    rank.all_reduce({1, 2, 3});
  });
  EXPECT_NE(failures[0].find("all_reduce(f32[3], sum) over axis 'world': rank 0 of 2 waited 0.5 seconds for rank 1"),
            std::string::npos)
      << failures[0];
  EXPECT_EQ(failures[1], "");
}

TEST_F(NcclFaults, each_call_that_fails_is_an_error_and_none_hangs) {
  fake.fail_at(0, 0);
  EXPECT_EQ(live(20), std::vector<std::string>(2));
  FakeCudaCounts counts;
  fake.counts(&counts);
  int told = 0;
  // How often a rank looks is not the same each time; a stride that shares no factor with what repeats finds every kind of call.
  for (int64_t n = 1; n <= counts.calls; n += n < 40 ? 1 : 7) {
    fake.fail_at(n, kInjected);
    const auto began = Clock::now();
    const auto failures = live(0.3);
    EXPECT_LT(Clock::now() - began, std::chrono::seconds(4)) << "call " << n;
    for (const std::string& failure : failures) told += !failure.empty();
  }
  fake.fail_at(0, 0);
  EXPECT_GT(told, 20);
  EXPECT_EQ(live(20), std::vector<std::string>(2));
}

// Below the agreement of ranks, on communicators themselves.
struct Communicators : NcclFaults {
  using Begin = std::function<void(scale::Group&, Rank&, int64_t)>;
  // Opens a communicator for each of two ranks and lets them begin something. What the stand-in then complains of.
  std::string complaints_of(const Begin& begin) {
    const size_t known = std::string(fake.complaints()).size();
    const Folder folder;
    std::vector<std::unique_ptr<Rank>> contexts;
    std::vector<std::unique_ptr<scale::Group>> groups;
    for (int64_t r = 0; r < 2; r++) {
      contexts.push_back(std::make_unique<Rank>("", 0, 1));
      scale::JoinOptions how;
      how.folder = folder.path();
      groups.push_back(scale::nccl_engine(contexts.back()->context->devices())->open({"", r, 2, r}, how));
    }
    until([&] { return static_cast<int>(groups[0]->ready()) & static_cast<int>(groups[1]->ready()); });
    for (size_t r = 0; r < 2; r++) begin(*groups[r], *contexts[r], static_cast<int64_t>(r));
    uint64_t request = 0;
    try {
      until([&] { return static_cast<int>(groups[0]->test(request)) & static_cast<int>(groups[1]->test(request)); });
    } catch (const Error&) {
    }
    for (auto& group : groups) group->abort();
    return std::string(fake.complaints()).substr(known);
  }
  template <class F>
  static void until(F&& f) {
    for (const auto end = Clock::now() + std::chrono::milliseconds(500); !f() && Clock::now() < end;) std::this_thread::yield();
  }
};

TEST_F(Communicators, ranks_that_do_different_things_are_found) {
  float memory[8] = {};
  const std::string found = complaints_of([&](scale::Group& group, Rank&, int64_t r) {
    group.begin({.what = Collective::all_reduce, .in = memory, .out = memory + 4, .count = 2 + r, .dtype = DType::f32});
  });
  EXPECT_NE(found.find("ranks do different things: all_reduce(3 of type 7, op 0), and rank 0 all_reduce(2 of type 7, op 0)"),
            found.npos)
      << found;
}

TEST_F(Communicators, an_operand_that_is_written_too_early_is_found) {
  std::vector<Ref<Tensor>> kept;
  const std::string found = complaints_of([&](scale::Group& group, Rank& rank, int64_t r) {
    const Ref<Tensor> x = rank.floats({1, 2}), y = rank.floats({0, 0}), z = rank.floats({3, 4});
    kept.insert(kept.end(), {x, y, z});
    Accelerator& device = rank.context->devices().accelerator(cuda(0));
    group.begin({.what = Collective::all_reduce, .in = x->buffer().data, .out = y->buffer().data, .count = 2, .dtype = DType::f32,
                 .device = &device});
    if (r == 0) EXPECT_EQ(copy_on_device(device, z->buffer(), x->buffer()), nullptr);
  });
  EXPECT_NE(found.find("the operand of all_reduce(2 of type 7, op 0) was written before it was over"), found.npos) << found;
}

TEST_F(Communicators, one_that_ends_under_a_graph_is_found) {
  using nvidia::Stream;
  const Ref<Context> context = seeded_context();
  auto& device = static_cast<nvidia::CudaDevice&>(context->devices().accelerator(cuda(0)));
  const auto& library = scale::nccl::Library::open();
  const auto& driver = device.driver();
  const size_t known = std::string(fake.complaints()).size();
  scale::nccl::UniqueId id{};
  scale::nccl::Comm comm = nullptr;
  scale::nccl::Config blocking;
  blocking.blocking = 1;
  Stream stream = nullptr;
  nvidia::Graph graph = nullptr;
  const Rank memory("", 0, 1);
  const Ref<Tensor> x = memory.floats({1, 2});
  ASSERT_EQ(device.enter(), nullptr);
  ASSERT_EQ(library.unique_id(&id), 0);
  ASSERT_EQ(library.init(&comm, 1, id, 0, &blocking), 0);
  ASSERT_EQ(driver.stream_create(&stream, nvidia::kNonBlockingStream), 0);
  ASSERT_EQ(driver.capture_begin(stream, nvidia::kRelaxedCapture), 0);
  library.all_reduce(x->buffer().data, x->buffer().data, 2, scale::nccl::kFloat32, scale::nccl::kSum, comm, stream);
  ASSERT_EQ(driver.capture_end(stream, &graph), 0);
  ASSERT_EQ(library.destroy(comm), 0);
  EXPECT_EQ(driver.graph_destroy(graph), 0);
  EXPECT_EQ(driver.stream_destroy(stream), 0);
  EXPECT_EQ(std::string(fake.complaints()).substr(known),
            "fake_nccl: rank 0 of 1: the communicator was destroyed under a live graph that captured it\n");
}

}  // namespace
}  // namespace thunder::test
