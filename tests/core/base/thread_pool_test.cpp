#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/text.h"

namespace thunder {
namespace {

struct Parts {
  std::mutex mutex;
  std::vector<std::pair<int64_t, int64_t>> ranges;

  static Status* note(int64_t begin, int64_t end, void* arg) {
    auto* self = static_cast<Parts*>(arg);
    std::lock_guard lock(self->mutex);
    self->ranges.emplace_back(begin, end);
    return nullptr;
  }
  // In order and without gaps.
  void sort() { std::sort(ranges.begin(), ranges.end()); }
};

Status* add_one(int64_t begin, int64_t end, void* arg) {
  for (int64_t i = begin; i < end; i++) static_cast<int*>(arg)[i]++;
  return nullptr;
}

TEST(ThreadPool, visits_each_item_once) {
  ThreadPool pool(4);
  for (int64_t n : {0, 1, 2, 3, 4, 5, 7, 1000, 1001}) {
    std::vector<int> seen(static_cast<size_t>(n));
    for (int round = 0; round < 50; round++) ASSERT_EQ(pool.parallel_for(n, 1, add_one, seen.data()), nullptr);
    EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(n), 50)) << n;
  }
}

TEST(ThreadPool, divides_by_count_alone) {
  ThreadPool pool(3);
  ASSERT_EQ(pool.threads(), 3u);
  Parts parts;
  pool.parallel_for(8, 1, Parts::note, &parts);
  parts.sort();
  EXPECT_EQ(parts.ranges, (std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 6}, {6, 8}}));
}

TEST(ThreadPool, does_not_overflow_on_the_largest_count) {
  ThreadPool pool(3);
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  Parts parts;
  pool.parallel_for(most, 1, Parts::note, &parts);
  parts.sort();
  ASSERT_EQ(parts.ranges.size(), 3u);
  EXPECT_EQ(parts.ranges[0].second, parts.ranges[1].first);
  EXPECT_EQ(parts.ranges[1].second, parts.ranges[2].first);
  EXPECT_EQ(parts.ranges[2].second, most);
}

TEST(ThreadPool, runs_few_items_in_the_caller) {
  ThreadPool pool(4);
  Parts parts;
  pool.parallel_for(199, 100, Parts::note, &parts);
  EXPECT_EQ(parts.ranges, (std::vector<std::pair<int64_t, int64_t>>{{0, 199}}));
  parts.ranges.clear();
  pool.parallel_for(200, 100, Parts::note, &parts);
  EXPECT_EQ(parts.ranges.size(), 2u);
}

TEST(ThreadPool, runs_a_loop_inside_a_loop_in_place) {
  ThreadPool pool(2);
  struct Outer {
    ThreadPool* pool;
    std::atomic<int64_t> sum{0};
  } outer{&pool};
  pool.parallel_for(
      4, 1,
      [](int64_t begin, int64_t end, void* arg) {
        auto* o = static_cast<Outer*>(arg);
        auto add = [](int64_t b, int64_t e, void* a) -> Status* {
          static_cast<Outer*>(a)->sum += e - b;
          return nullptr;
        };
        for (int64_t i = begin; i < end; i++) o->pool->parallel_for(10, 1, add, o);
        return static_cast<Status*>(nullptr);
      },
      &outer);
  EXPECT_EQ(outer.sum, 40);
}

TEST(ThreadPool, returns_the_first_failure_and_drops_the_rest) {
  ThreadPool pool(3);
  Ref<Status> failure = Ref<Status>::adopt(pool.parallel_for(
      3, 1,
      [](int64_t begin, int64_t, void*) -> Status* {
        return begin == 0 ? nullptr : new Status(Code::backend, cat("part ", begin));
      },
      nullptr));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message(), "part 1");
  int items[3] = {};
  EXPECT_EQ(pool.parallel_for(3, 1, add_one, items), nullptr) << "a failure must not stick";
}

TEST(ThreadPool, turns_exceptions_into_statuses) {
  ThreadPool pool(2);
  auto run = [&](ThreadPool::Body body) { return Ref<Status>::adopt(pool.parallel_for(2, 1, body, nullptr)); };
  auto ours = run([](int64_t, int64_t, void*) -> Status* { fail(Code::backend, "ours"); });
  auto standard = run([](int64_t, int64_t, void*) -> Status* { throw std::runtime_error("theirs"); });
  auto memory = run([](int64_t, int64_t, void*) -> Status* { throw std::bad_alloc(); });
  auto strange = run([](int64_t, int64_t, void*) -> Status* { throw 3; });
  EXPECT_EQ(ours->code(), Code::backend);
  EXPECT_EQ(standard->message(), "a part of a parallel loop threw an exception: theirs");
  EXPECT_EQ(memory->code(), Code::out_of_memory);
  EXPECT_EQ(strange->code(), Code::callback);
}

TEST(ThreadPool, serves_several_callers_at_once) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 4; c++)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; round++) {
        std::vector<int> seen(64);
        pool.parallel_for(64, 1, add_one, seen.data());
        if (seen != std::vector<int>(64, 1)) wrong++;
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

#if defined(__SANITIZE_THREAD__)
constexpr bool kForkIsChecked = false;  // the sanitizer's own runtime may hang in the child of a threaded process
#else
constexpr bool kForkIsChecked = true;
#endif

TEST(ThreadPool, starts_threads_of_its_own_in_a_forked_child) {
  if (!kForkIsChecked) GTEST_SKIP() << "ThreadSanitizer does not support threads and fork";
  for (int attempt = 0; attempt < 20; attempt++) {
    auto* pool = new ThreadPool(3);
    int items[6] = {};
    pool->parallel_for(6, 1, add_one, items);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);
      Parts parts;
      pool->parallel_for(6, 1, add_one, items);
      pool->parallel_for(6, 1, Parts::note, &parts);
      delete pool;
      ::_exit(items[0] == 2 && items[5] == 2 && parts.ranges.size() == 3 ? 0 : 1);
    }
    int outcome = -1;
    ASSERT_EQ(::waitpid(child, &outcome, 0), child);
    EXPECT_EQ(outcome, 0);
    delete pool;
  }
}

TEST(ThreadPool, sleeps_and_wakes) {
  ThreadPool pool(3);
  for (int pause : {0, 1, 5}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    std::vector<int> seen(10);
    pool.parallel_for(10, 1, add_one, seen.data());
    EXPECT_EQ(seen, std::vector<int>(10, 1)) << pause;
  }
}

#ifdef __linux__
TEST(ThreadPool, leaves_the_caller_its_processor) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "there is one processor";
  ThreadPool pool(2);
  const auto body = [](int64_t begin, int64_t, void* arg) -> Status* { return static_cast<int*>(arg)[begin] = sched_getcpu(), nullptr; };
  int at[2];
  ASSERT_EQ(pool.parallel_for(2, 1, body, at), nullptr);  // whoever is first decides which processors there are
  for (int round = 0; round < 4; round++)
    for (int cpu = 0, seen = 0; seen < 2; cpu++) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      seen++;
      // A thread that calls from this processor, as if the system had moved the caller here.
      std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        ASSERT_EQ(pool.parallel_for(2, 1, body, at), nullptr);
        EXPECT_EQ(at[0], cpu);
        EXPECT_NE(at[1], cpu);
      }).join();
    }
}
#endif

TEST(ThreadPool, leaves_out_threads_without_a_part) {
  ThreadPool pool(4);
  std::vector<int> seen(4);
  for (int round = 0; round < 1000; round++) pool.parallel_for(1 + round % 4, 1, add_one, seen.data());
  EXPECT_EQ(seen, (std::vector<int>{1000, 750, 500, 250}));
}

TEST(ThreadPool, changes_its_number_of_threads) {
  ThreadPool pool(2);
  Parts parts;
  pool.parallel_for(12, 1, Parts::note, &parts);
  EXPECT_EQ(parts.ranges.size(), 2u);
  pool.resize(3);
  parts.ranges.clear();
  pool.parallel_for(12, 1, Parts::note, &parts);
  EXPECT_EQ(parts.ranges.size(), 3u);
  pool.resize(0);
  EXPECT_EQ(pool.threads(), 1u);
}

TEST(ThreadPool, keeps_its_threads_when_as_many_are_asked_for_again) {
  ThreadPool pool(2);
  const auto worker = [&pool] {
    pid_t id = 0;
    pool.parallel_for(2, 1, [](int64_t begin, int64_t, void* id) -> Status* {
      if (begin == 1) *static_cast<pid_t*>(id) = gettid();
      return nullptr;
    }, &id);
    return id;
  };
  const pid_t before = worker();
  pool.resize(2);
  EXPECT_EQ(worker(), before);
}

// A host's pool that runs the parts one after the other, last first.
struct Backwards {
  int calls = 0, destroyed = 0;
  ThreadPool::Host host() {
    return {[](size_t parts, void (*part)(size_t, void*), void* arg, void* user) {
              static_cast<Backwards*>(user)->calls++;
              while (parts-- > 0) part(parts, arg);
            },
            4, this, [](void* user) { static_cast<Backwards*>(user)->destroyed++; }};
  }
};

TEST(ThreadPool, uses_the_hosts_threads) {
  Backwards backwards;
  {
    ThreadPool pool(2);
    pool.set_host(backwards.host());
    EXPECT_EQ(pool.threads(), 4u);
    Parts parts;
    pool.parallel_for(8, 1, Parts::note, &parts);
    EXPECT_EQ(parts.ranges, (std::vector<std::pair<int64_t, int64_t>>{{6, 8}, {4, 6}, {2, 4}, {0, 2}}));
    pool.parallel_for(3, 2, Parts::note, &parts);
    EXPECT_EQ(backwards.calls, 1) << "one part needs nobody";
    auto failure = Ref<Status>::adopt(pool.parallel_for(
        4, 1, [](int64_t begin, int64_t, void*) -> Status* { return new Status(Code::backend, cat("part ", begin)); }, nullptr));
    EXPECT_EQ(failure->message(), "part 0");
    pool.resize(1);
    EXPECT_EQ(backwards.destroyed, 1);
    pool.set_host(backwards.host());
  }
  EXPECT_EQ(backwards.destroyed, 2);
}

TEST(ThreadPool, turns_what_a_hosts_pool_throws_into_a_status) {
  ThreadPool pool(2);
  for (auto* run : {+[](size_t, void (*)(size_t, void*), void*, void*) { throw 7; },
                    +[](size_t parts, void (*part)(size_t, void*), void* arg, void*) {
                      while (parts-- > 0) part(parts, arg);
                      throw std::runtime_error("no more work");
                    }}) {
    pool.set_host({run, 4, nullptr, nullptr});
    const auto failure = Ref<Status>::adopt(
        pool.parallel_for(8, 1, [](int64_t, int64_t, void*) -> Status* { return new Status(Code::backend, "a part"); }, nullptr));
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), Code::callback);
    EXPECT_NE(failure->message().find("the host's thread pool threw"), std::string::npos) << failure->message();
  }
}

}  // namespace
}  // namespace thunder
