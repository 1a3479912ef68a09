// Ranks in threads of this process: what collectives give, and what each rank is told when they disagree or do not
// come.
// covers: core/scale/collective.cpp core/scale/world_run.cpp core/scale/world_wait.cpp
#include "scale/world.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "support/thread_engine.h"

namespace thunder::scale {
namespace {

using test::on_ranks;
using test::thread_world;
using test::ThreadHub;

template <class T>
struct Memory {
  std::vector<T> data;
  int64_t size, stride = 1;
  Memory(std::vector<T> d, DType dtype) : data(std::move(d)), size(static_cast<int64_t>(data.size())), dtype(dtype) {}
  DType dtype;
  Buffer buffer() { return {data.data(), &size, &stride, 1, dtype}; }
};

void run(World& world, CollectiveCall call) {
  if (Status* failed = world.run(call)) throw Error(Ref<Status>::adopt(failed));
}

void all_reduce(World& world, std::string_view axis, Memory<float>& x) {
  run(world, {Collective::all_reduce, axis, world.size(axis), RankReduction::sum, 0, x.buffer(), x.buffer()});
}

TEST(World, adds_up_over_the_ranks_of_an_axis) {
  for (const int64_t n : {0, 1, 7, 1000}) {
    ThreadHub hub;
    const auto failures = on_ranks(6, [&](int64_t rank) {
      const auto world = thread_world(hub, rank, 6);
      world->add_axes("data=2,tensor=3");
      EXPECT_EQ(world->index("data"), rank / 3);
      EXPECT_EQ(world->index("tensor"), rank % 3);
      Memory<float> x(std::vector<float>(static_cast<size_t>(n), static_cast<float>(rank)), DType::f32), y = x, z = x;
      all_reduce(*world, "data", x), all_reduce(*world, "tensor", y), all_reduce(*world, "world", z);
      for (int64_t i = 0; i < n; i++) {
        EXPECT_EQ(x.data[static_cast<size_t>(i)], static_cast<float>(rank % 3 * 2 + 3));
        EXPECT_EQ(y.data[static_cast<size_t>(i)], static_cast<float>(rank / 3 * 9 + 3));
        EXPECT_EQ(z.data[static_cast<size_t>(i)], 15);
      }
    });
    EXPECT_EQ(failures, std::vector<std::string>(6));
  }
}

TEST(World, gathers_scatters_and_broadcasts_in_the_order_of_ranks) {
  ThreadHub hub;
  const auto failures = on_ranks(3, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 3);
    Memory<int64_t> own({rank, 10 + rank}, DType::i64), all(std::vector<int64_t>(6), DType::i64);
    run(*world, {Collective::all_gather, "world", 3, RankReduction::sum, 0, own.buffer(), all.buffer()});
    EXPECT_EQ(all.data, (std::vector<int64_t>{0, 10, 1, 11, 2, 12}));
    Memory<int64_t> part({0, 0}, DType::i64);
    run(*world, {Collective::reduce_scatter, "world", 3, RankReduction::max, 0, all.buffer(), part.buffer()});
    EXPECT_EQ(part.data, (std::vector<int64_t>{rank, 10 + rank}));
    run(*world, {Collective::broadcast, "world", 3, RankReduction::sum, 2, own.buffer(), part.buffer()});
    EXPECT_EQ(part.data, (std::vector<int64_t>{2, 12}));
    world->barrier("world");
  });
  EXPECT_EQ(failures, std::vector<std::string>(3));
}

TEST(World, exchanges_a_part_with_each_rank) {
  ThreadHub hub;
  const auto failures = on_ranks(3, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 3);
    Memory<int64_t> own({rank, 10 + rank, 20 + rank}, DType::i64), got(std::vector<int64_t>(3), DType::i64);
    run(*world, {Collective::all_to_all, "world", 3, RankReduction::sum, 0, own.buffer(), got.buffer()});
    EXPECT_EQ(got.data, (std::vector<int64_t>{10 * rank, 10 * rank + 1, 10 * rank + 2}));
  });
  EXPECT_EQ(failures, std::vector<std::string>(3));
}

// Ranks that neither send nor receive are there, too: an order that differs is an error on all of them.
TEST(World, passes_values_on_and_gives_zeros_where_none_come) {
  ThreadHub hub;
  const std::vector<Dim> sources = {0, 1}, targets = {1, 2}, back = {1, 0};
  const auto failures = on_ranks(4, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 4);
    for (auto& to : {targets, back}) {
      Memory<float> own({static_cast<float>(rank) + 1}, DType::f32), got({-1}, DType::f32);
      CollectiveCall call{Collective::ppermute, "world", 4, RankReduction::sum, 0, own.buffer(), got.buffer()};
      call.sources = sources, call.targets = to;
      run(*world, call);
      const float forward[] = {0, 1, 2, 0}, swapped[] = {2, 1, 0, 0};
      EXPECT_EQ(got.data[0], (to == targets ? forward : swapped)[rank]);
    }
    Memory<float> x({5}, DType::f32), y({-1}, DType::f32);
    run(*world, {Collective::barrier, "world", 4, RankReduction::sum, 0, x.buffer(), y.buffer()});
    EXPECT_EQ(y.data, x.data);
  });
  EXPECT_EQ(failures, std::vector<std::string>(4));
}

TEST(World, tells_every_rank_what_the_others_call_and_goes_on) {
  ThreadHub hub;
  const auto failures = on_ranks(3, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 3);
    Memory<float> x(std::vector<float>(rank == 1 ? 4 : 5, 1), DType::f32), y({1, 2}, DType::f32);
    std::string told;
    try {
      all_reduce(*world, "world", x);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::invalid_argument);
      told = e.message();
    }
    all_reduce(*world, "world", y);
    EXPECT_EQ(y.data, (std::vector<float>{3, 6}));
    fail(Code::internal, told);
  });
  for (const std::string& told : failures)
    EXPECT_EQ(told, "the ranks of axis 'world' disagree: ranks 0, 2: all_reduce(f32[5], sum); rank 1: "
                    "all_reduce(f32[4], sum)");
}

TEST(World, starts_several_collectives_and_waits_for_them_later) {
  ThreadHub hub;
  const auto failures = on_ranks(2, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 2);
    const auto k = static_cast<float>(rank);
    Memory<float> x({k, 1}, DType::f32), y({2 * k}, DType::f32), x_sum({0, 0}, DType::f32), y_sum({0}, DType::f32);
    const auto start = [&](Memory<float>& in, Memory<float>& out) {
      EXPECT_EQ(world->start({Collective::all_reduce, "world", 2, RankReduction::sum, 0, in.buffer(), out.buffer()}), nullptr);
    };
    start(x, x_sum), start(y, y_sum);
    EXPECT_EQ(world->wait(y_sum.data.data(), false), nullptr);
    EXPECT_EQ(y_sum.data, std::vector<float>{2});
    EXPECT_EQ(world->wait(x_sum.data.data(), true), nullptr);
    EXPECT_EQ(x_sum.data, (std::vector<float>{1, 2}));
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

CollectiveCall sum_of(Memory<float>& x, Memory<float>& y, bool more) {
  CollectiveCall call{Collective::all_reduce, "world", 2, RankReduction::sum, 0, x.buffer(), y.buffer()};
  call.more = more;
  return call;
}

// Those that have `more` begin with the next one, and with what else the ranks do before it.
TEST(World, begins_several_collectives_together) {
  for (const bool all : {true, false}) {
    ThreadHub hub;
    const auto failures = on_ranks(2, [&](int64_t rank) {
      const auto world = thread_world(hub, rank, 2);
      Memory<float> a({1, 2}, DType::f32), b({3}, DType::f32), c({4, 5, 6}, DType::f32), x = a, y = b, z = c;
      ASSERT_FALSE(world->start(sum_of(a, x, true)));
      ASSERT_FALSE(world->start(sum_of(b, y, true)));
      if (!all) world->barrier("world");
      ASSERT_FALSE(world->start(sum_of(c, z, false)));
      ASSERT_FALSE(world->wait(y.data.data(), false));
      EXPECT_EQ(y.data, (std::vector<float>{6}));
      ASSERT_FALSE(world->wait(z.data.data(), false));
      ASSERT_FALSE(world->wait(x.data.data(), true));
      EXPECT_EQ(x.data, (std::vector<float>{2, 4}));
      EXPECT_EQ(z.data, (std::vector<float>{8, 10, 12}));
      ASSERT_FALSE(world->start(sum_of(a, x, true)));  // a wait begins it, too
      ASSERT_FALSE(world->wait(x.data.data(), true));
      EXPECT_EQ(x.data, (std::vector<float>{2, 4}));
    });
    EXPECT_EQ(failures, std::vector<std::string>(2));
  }
}

TEST(World, tells_which_of_several_collectives_differ) {
  ThreadHub hub;
  const auto failures = on_ranks(2, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 2);
    Memory<float> a({1, 2}, DType::f32), b(std::vector<float>(rank ? 3 : 4), DType::f32), x = a, y = b;
    ASSERT_FALSE(world->start(sum_of(a, x, true)));
    ASSERT_FALSE(world->start(sum_of(b, y, false)));
    Status* failed = world->wait(x.data.data(), true);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->message(), "the ranks of axis 'world' disagree: rank 0: all_reduce(f32[2], sum), all_reduce(f32[4], sum); "
                                 "rank 1: all_reduce(f32[2], sum), all_reduce(f32[3], sum)");
    failed->release();
    all_reduce(*world, "world", a);  // all can go on
    EXPECT_EQ(a.data, (std::vector<float>{2, 4}));
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(World, ranks_that_disagree_leave_out_what_they_started_behind_it) {
  ThreadHub hub;
  const auto failures = on_ranks(2, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 2);
    std::vector<Memory<float>> in, out;
    for (int64_t i = 0; i < 3 + rank; i++) {  // one has more of them
      in.emplace_back(std::vector<float>(static_cast<size_t>(i == 1 ? 1 + rank : 1), 1), DType::f32);
      out.push_back(in.back());
    }
    for (size_t i = 0; i < in.size(); i++)
      EXPECT_EQ(world->start({Collective::all_reduce, "world", 2, RankReduction::sum, 0, in[i].buffer(), out[i].buffer()}),
                nullptr);
    Status* const told = world->wait(out.back().data.data(), true);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->message(), "the ranks of axis 'world' disagree: rank 0: all_reduce(f32[1], sum); rank 1: all_reduce(f32[2], sum)");
    told->release();
    Memory<float> x({3}, DType::f32);
    all_reduce(*world, "world", x);
    EXPECT_EQ(x.data[0], 6);
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(World, what_a_rank_that_gave_up_had_started_is_not_waited_for) {
  ThreadHub hub;
  const auto began = Clock::now();
  const auto failures = on_ranks(2, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 2, 60);
    world->barrier("world");
    Memory<float> x({1}, DType::f32), y({0}, DType::f32);
    if (rank == 1) {
      world->give_up_after(*make<Status>(Code::out_of_memory, "no memory for 3 bytes"));
      return std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    for (int i = 0; i < 2; i++)
      if (Status* failed = world->start({Collective::all_reduce, "world", 2, RankReduction::sum, 0, x.buffer(), y.buffer()}))
        throw Error(Ref<Status>::adopt(failed));
    if (Status* failed = world->wait(y.data.data(), true)) throw Error(Ref<Status>::adopt(failed));
  });
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(10));
  EXPECT_NE(failures[0].find("waits in vain: rank 1 gave up: this rank stopped"), std::string::npos) << failures[0];
}

// What rank 0 of two is told, where rank 1 does something else than the second of its collectives.
template <class F>
std::pair<Code, std::string> told_waiting(ThreadHub& hub, double timeout, F&& instead) {
  std::pair<Code, std::string> told{Code::ok, ""};
  const auto failures = on_ranks(2, [&](int64_t rank) {
    auto world = thread_world(hub, rank, 2, timeout);
    Memory<float> x({1}, DType::f32);
    all_reduce(*world, "world", x);
    if (rank == 1) return instead(world);
    try {
      all_reduce(*world, "world", x);
    } catch (const Error& e) {
      told = {e.code(), e.message()};
    }
    all_reduce(*world, "world", x);
  });
  EXPECT_EQ(failures[0].find("the ranks cannot communicate any more: all_reduce"), 0u) << failures[0];
  EXPECT_EQ(failures[1], "");
  return told;
}

TEST(World, a_rank_that_is_late_is_an_error_that_says_where_it_is) {
  ThreadHub hub;
  const auto [code, text] = told_waiting(hub, 0.3, [](auto&) { std::this_thread::sleep_for(std::chrono::seconds(1)); });
  EXPECT_EQ(code, kDeadlineExceeded);
  EXPECT_EQ(text.find("all_reduce(f32[1], sum) over axis 'world': rank 0 of 2 waited 0.3 seconds for rank 1, which has "
                      "been in its own code for 0."),
            0u)
      << text;
  EXPECT_NE(text.find(", after its collective 1, all_reduce(f32[1], sum) over axis 'world'"), text.npos) << text;
}

TEST(World, a_rank_that_leaves_is_an_error_at_once) {
  ThreadHub hub;
  const auto began = Clock::now();
  const auto [code, text] = told_waiting(hub, 60, [](auto& world) { world.reset(); });
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(10));
  EXPECT_EQ(code, kUnavailable);
  EXPECT_EQ(text, "all_reduce(f32[1], sum) over axis 'world': rank 0 of 2 waits in vain: rank 1 left after its "
                  "collective 1, all_reduce(f32[1], sum) over axis 'world'");
}

TEST(World, a_rank_that_does_not_answer_is_stopped_or_dead) {
  ThreadHub hub;
  const auto [code, text] = told_waiting(hub, 0.3, [&](auto&) {
    hub.mute = 1;
    std::this_thread::sleep_for(std::chrono::seconds(2));
  });
  EXPECT_EQ(code, kDeadlineExceeded);
  EXPECT_NE(text.find("waited 0.3 seconds for rank 1, which does not answer: it is stopped, or dead"), text.npos) << text;
}

TEST(World, a_rank_that_compiles_is_not_late) {
  ThreadHub hub;
  const auto failures = on_ranks(2, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 2, 0.2);
    Memory<float> x({1}, DType::f32);
    if (rank == 1) {
      world->compiles(true);
      std::this_thread::sleep_for(std::chrono::seconds(1));
      world->compiles(false);
    }
    all_reduce(*world, "world", x);
    EXPECT_EQ(x.data[0], 2);
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(World, a_rank_that_gave_up_is_an_error_of_the_others_at_once) {
  for (const int64_t ranks : {2, 4}) {
    ThreadHub hub;
    const auto began = Clock::now();
    const auto failures = on_ranks(ranks, [&](int64_t rank) {
      const auto world = thread_world(hub, rank, ranks, 60);
      Memory<float> x({1}, DType::f32);
      all_reduce(*world, "world", x);
      if (rank == 1) world->give_up_after(*make<Status>(Code::out_of_memory, "no memory for 3 bytes"));
      all_reduce(*world, "world", x);
    });
    EXPECT_LT(Clock::now() - began, std::chrono::seconds(10));
    for (size_t rank = 0; rank < failures.size(); rank++)
      EXPECT_NE(failures[rank].find("this rank stopped in a program with collectives: no memory for 3 bytes"),
                std::string::npos)
          << rank << ": " << failures[rank];
    EXPECT_NE(failures[0].find(" waits in vain: rank 1 gave up: "), std::string::npos) << failures[0];
  }
}

TEST(World, what_the_host_stops_is_given_up_on_all_ranks) {
  ThreadHub hub;
  Interrupts interrupts(nullptr, nullptr);
  const auto began = Clock::now();
  const auto failures = on_ranks(2, [&](int64_t rank) {
    scale::WorldOptions options;
    options.timeout = 60, options.interrupts = rank ? nullptr : &interrupts;
    World world(std::make_shared<test::ThreadEngine>(hub), scale::ProcessPlace{"a test", rank, 2, rank}, options);
    world.barrier("world");
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      interrupts.request();
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      world.barrier("world");  // rank 0 had come to this one before it was stopped
    }
    world.barrier("world");
  });
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(10));
  EXPECT_EQ(failures[0], "interrupted");
  EXPECT_NE(failures[1].find("waits in vain: rank 0 gave up: interrupted"), std::string::npos) << failures[1];
}

TEST(World, ranks_that_make_other_meshes_are_told) {
  ThreadHub hub;
  const auto failures = on_ranks(2, [&](int64_t rank) {
    thread_world(hub, rank, 2)->add_axes(rank ? "data=2" : "tensor=2");
  });
  for (const std::string& told : failures)
    EXPECT_EQ(told, "the ranks of axis 'world' disagree: rank 0: mesh tensor=2; rank 1: mesh data=2");
}

TEST(World, keeps_an_axis_as_it_is) {
  World alone(nullptr, {}, {});
  alone.add_axes("data=-1");
  alone.add_axes("data=1");
  EXPECT_THROW(alone.add_axes("data=1,tensor=1"), Error);
  EXPECT_EQ(alone.description(), "rank 0 of 1; data=1");
  try {
    alone.size("date");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "there is no axis 'date' (did you mean 'data'?); this context has: data, world");
  }
}

TEST(World, writes_the_tensor_of_one_rank_into_the_others) {
  ThreadHub hub;
  const auto failures = on_ranks(3, [&](int64_t rank) {
    const auto world = thread_world(hub, rank, 3);
    TensorType type;
    type.dtype = DType::f32, type.shape = {2, 2};
    const Ref<Tensor> t = Tensor::empty(default_allocator(), type);
    auto* data = reinterpret_cast<float*>(t->data());
    for (int i = 0; i < 4; i++) data[i] = static_cast<float>(rank * 10 + i);
    world->broadcast("world", *t, 1);
    for (int i = 0; i < 4; i++) EXPECT_EQ(data[i], static_cast<float>(10 + i));
    world->broadcast("world", *t, 3);
  });
  for (const std::string& told : failures)
    EXPECT_EQ(told, "broadcast: root must be a rank of axis 'world', from 0 to 2, got 3");
}

}  // namespace
}  // namespace thunder::scale
