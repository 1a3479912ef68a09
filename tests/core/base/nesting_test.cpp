#include "base/nesting.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"

namespace thunder::tests {
namespace {

// Alternates between two names until it is refused; gives the message.
std::string alternate(size_t levels = 0) {
  try {
    const Nesting inside(levels % 2 ? "ping" : "pong");
    return alternate(levels + 1);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::invalid_argument);
    EXPECT_TRUE(e.status()->names_callers());
    return e.message();
  }
}

template <class F>
void on_thread(size_t stack_bytes, F&& body) {
  pthread_attr_t attributes;
  pthread_t thread;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
  auto run = [](void* f) -> void* { return (*static_cast<std::remove_reference_t<F>*>(f))(), nullptr; };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Nesting, is_refused_with_the_cycle_that_has_no_end) {
  for (int again = 0; again < 2; again++)  // what was refused has left nothing behind
    EXPECT_EQ(alternate(), "calls are nested 1001 deep, at most 1000 are possible: pong -> ping -> pong");
}

TEST(Nesting, of_ops_is_refused_earlier) {
  std::string message;
  std::vector<std::unique_ptr<Nesting>> inside;
  try {
    while (true) inside.push_back(std::make_unique<Nesting>("softmax", Nesting::Of::op));
  } catch (const Error& e) {
    message = e.message();
  }
  while (!inside.empty()) inside.pop_back();
  EXPECT_EQ(message, "calls are nested 101 deep, ops nest at most 100 deep: softmax -> softmax");
}

TEST(Nesting, without_a_cycle_shows_the_innermost_calls) {
  std::vector<std::string> names;
  for (int i = 0; i < 1001; i++) names.push_back(cat("f", i));
  std::string message;
  std::vector<std::unique_ptr<Nesting>> inside;
  try {
    for (const std::string& name : names) inside.push_back(std::make_unique<Nesting>(name));
  } catch (const Error& e) {
    message = e.message();
  }
  while (!inside.empty()) inside.pop_back();
  EXPECT_NE(message.find(": f993 -> f994 -> "), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("f1000")) << message;
}

TEST(Nesting, ends_before_a_small_stack_does) {
  std::string message;
  on_thread(64 << 10, [&] { message = alternate(); });
  EXPECT_NE(message.find("bytes left of this thread's stack do not hold another level: "), std::string::npos) << message;
}

TEST(Nesting, measures_each_thread_by_its_own_stack) {
  size_t small = 0, large = 0;
  on_thread(128 << 10, [&] { small = stack_left(); });
  on_thread(4 << 20, [&] { large = stack_left(); });
  EXPECT_LT(small, size_t{512} << 10);  // a stack that was kept from another thread may be up to four times as large
  EXPECT_GT(large, size_t{3} << 20);
}

TEST(WithStack, runs_here_where_there_is_room_and_else_on_a_thread_that_has_it) {
  pthread_t where{};
  with_stack(1 << 16, [&] { where = pthread_self(); });
  EXPECT_TRUE(pthread_equal(where, pthread_self()));
  size_t left = 0;
  on_thread(64 << 10, [&] { with_stack(1 << 20, [&] { left = stack_left(); }); });
  EXPECT_GE(left, size_t{1} << 20);
}

TEST(WithStack, gives_back_what_was_thrown) {
  std::string message;
  on_thread(64 << 10, [&] {
    try {
      with_stack(1 << 20, [] { fail(Code::not_found, "nothing is here"); });
    } catch (const Error& e) {
      message = e.message();
    }
  });
  EXPECT_EQ(message, "nothing is here");
}

}  // namespace
}  // namespace thunder::tests
