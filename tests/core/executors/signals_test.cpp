// Signals that arrive while products are computed. Covers base/signals and the library of onednn.
// covers: core/executors/cpu/products/onednn.cpp
#include <csignal>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "executors/cpu/products/onednn.h"
#include "support/functions.h"

namespace thunder::test {
namespace {

std::atomic<int> arrived{0};

// SIGALRM every millisecond, with a handler that uses its frame.
struct Signals : CompiledTest {
  struct sigaction before {};
  void SetUp() override {
    struct sigaction action {};
    action.sa_handler = [](int) {
      volatile char frame[512];
      for (auto& byte : frame) byte = 1;
      arrived++;
    };
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
    arrived = 0;
    every(1000);
  }
  void TearDown() override {
    every(0);
    sigaction(SIGALRM, &before, nullptr);
  }
  static void every(int microseconds) {
    itimerval timer{};
    timer.it_interval.tv_usec = timer.it_value.tv_usec = microseconds;
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  // How long; THUNDER_SIGNAL_SECONDS for more.
  static bool goes_on(std::chrono::steady_clock::time_point since) {
    const char* told = std::getenv("THUNDER_SIGNAL_SECONDS");
    return std::chrono::steady_clock::now() - since < std::chrono::seconds(told ? std::atoi(told) : 2);
  }
};

TEST_F(Signals, do_not_corrupt_products) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor.get()), any(in[1].tensor.get())})));
  });
  const auto a = random({1500, 1500}, 1), b = random({1500, 1500}, 2);
  const Floats expected = run(*f, {a.get(), b.get()});
  ASSERT_FALSE(expected.empty()) << error;
  const auto start = std::chrono::steady_clock::now();
  int calls = 0;
  while (goes_on(start)) {
    ASSERT_EQ(run(*f, {a.get(), b.get()}), expected) << "call " << calls;
    calls++;
  }
  EXPECT_GT(arrived, 20) << calls << " calls";
}

// A step of training: products of both kinds, behind each other, and what is between them.
TEST_F(Signals, do_not_corrupt_training_steps) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* const w = in[1].tensor.get();
    Tensor* const y = op(s, "matmul", {any(op(s, "relu", {any(op(s, "matmul", {any(in[0].tensor.get()), any(w)}))})), any(in[2].tensor.get())});
    Values wrt;
    wrt.push(Ref<Tensor>(w));
    Values* gradients = s.grad(op(s, "mean", {any(op(s, "mul", {any(y), any(y)}))}), wrt);
    out.push(Ref<Tensor>(op(s, "sub", {any(w), any((*gradients)[0].tensor.get())})));
  });
  const auto x = random({256, 512}, 1), w = random({512, 512}, 2), v = random({512, 256}, 3);
  const Floats expected = run(*f, {x.get(), w.get(), v.get()});
  ASSERT_FALSE(expected.empty()) << error;
  const auto start = std::chrono::steady_clock::now();
  while (goes_on(start)) ASSERT_EQ(run(*f, {x.get(), w.get(), v.get()}), expected);
  EXPECT_GT(arrived, 20);
}

TEST(OnednnLibrary, versions_before_3_11_2_move_the_stack_pointer) {
  for (auto [major, minor, patch] : {std::tuple(2, 6, 3), {3, 5, 9}, {3, 11, 1}}) EXPECT_TRUE(Library::moves_stack(major, minor, patch));
  for (auto [major, minor, patch] : {std::tuple(3, 11, 2), {3, 12, 0}, {4, 0, 0}}) EXPECT_FALSE(Library::moves_stack(major, minor, patch));
}

// The library's threads take no signals: a host's handler runs on the host's threads.
TEST_F(Signals, are_delivered_to_the_callers_threads) {
  static std::atomic<bool> elsewhere{false};
  static const pthread_t caller = pthread_self();
  struct sigaction action {};
  action.sa_handler = [](int) {
    if (!pthread_equal(pthread_self(), caller)) elsewhere = true;
    arrived++;
  };
  ASSERT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
  context->use_threads(3);
  auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "exp", {any(in[0].tensor.get())}))); });
  const auto x = random({1 << 20}, 1);
  const auto start = std::chrono::steady_clock::now();
  while (arrived < 200 && goes_on(start)) run(*f, {x.get()});
  EXPECT_GT(arrived, 20);
  EXPECT_FALSE(elsewhere);
}

}  // namespace
}  // namespace thunder::test
