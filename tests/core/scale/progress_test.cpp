// The thread that steps through what is waited for.
#include "scale/progress.h"

#include <gtest/gtest.h>

#include <csignal>

namespace thunder::scale {
namespace {

struct Steps : Task {
  Steps(std::vector<int>& log, int name, int count) : log(log), name(name), left(count) {}
  bool step() override { return log.push_back(name), --left == 0; }
  std::vector<int>& log;
  const int name;
  int left;
};

TEST(Progress, runs_tasks_of_one_owner_one_after_the_other) {
  std::vector<int> log;
  const auto first = std::make_shared<Steps>(log, 1, 3), second = std::make_shared<Steps>(log, 2, 2);
  Progress::get().add(&log, first), Progress::get().add(&log, second);
  EXPECT_TRUE(second->wait_until(Clock::time_point::max()));
  EXPECT_TRUE(first->wait_until(Clock::now()));
  EXPECT_EQ(log, (std::vector<int>{1, 1, 1, 2, 2}));
}

TEST(Progress, what_never_ends_hinders_no_other_owner) {
  std::vector<int> log, other;
  const auto never = std::make_shared<Steps>(log, 1, 1 << 30), short_one = std::make_shared<Steps>(other, 2, 5);
  log.reserve(1 << 20);
  Progress::get().add(&log, never), Progress::get().add(&other, short_one);
  EXPECT_TRUE(short_one->wait_until(Clock::time_point::max()));
  EXPECT_FALSE(never->wait_until(Clock::now()));
  Progress::get().run(&other, [&] { never->left = 1; });
  EXPECT_TRUE(never->wait_until(Clock::time_point::max()));
}

TEST(Progress, gives_what_a_function_threw) {
  try {
    Progress::get().run(this, [] { throw Error(Code::backend, "it broke"); });
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "it broke");
  }
}

// A host's handlers run on the host's threads.
TEST(Progress, takes_no_signals_of_the_host) {
  bool blocked = false;
  Progress::get().run(this, [&] {
    sigset_t set;
    blocked = pthread_sigmask(SIG_BLOCK, nullptr, &set) == 0 && sigismember(&set, SIGALRM) && sigismember(&set, SIGINT);
  });
  EXPECT_TRUE(blocked);
}

}  // namespace
}  // namespace thunder::scale
