#include "base/side_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <stdexcept>
#include <vector>

namespace thunder::test {
namespace {

TEST(SideThreads, do_each_piece_once_whoever_does_it) {
  for (const size_t threads : {0, 1, 3}) {
    SideThreads side(threads);
    std::vector<std::atomic<int>> done(20);
    std::vector<std::shared_ptr<SideThreads::Work>> pieces;
    for (auto& d : done) pieces.push_back(side.begin([&d] { d++; }));
    for (size_t i = pieces.size(); i-- > 0;) side.wait(pieces[i]), side.wait(pieces[i]);
    for (auto& d : done) EXPECT_EQ(d, 1);
  }
}

TEST(SideThreads, give_an_error_to_all_who_wait) {
  SideThreads side(1);
  const auto fails = side.begin([] { throw std::runtime_error("no"); });
  for (int again = 0; again < 2; again++) EXPECT_THROW(side.wait(fails), std::runtime_error);
  const auto next = side.begin([] {});
  EXPECT_NO_THROW(side.wait(next));
}

TEST(SideThreads, go_on_while_the_caller_does) {
  SideThreads side(1);
  std::mutex mutex;
  std::condition_variable told;
  bool begun = false, free = false;
  const auto work = side.begin([&] {
    std::unique_lock lock(mutex);
    begun = true;
    told.notify_all();
    told.wait(lock, [&] { return free; });
  });
  std::unique_lock lock(mutex);
  told.wait(lock, [&] { return begun; });  // by another thread, since nobody has waited for the work
  free = true;
  lock.unlock();
  told.notify_all();
  side.wait(work);
}

TEST(SideThreads, drop_what_was_not_begun) {
  std::atomic<int> done{0};
  {
    SideThreads side(1);
    for (int i = 0; i < 100; i++) side.begin([&] { done++; });
  }
  const int at_the_end = done;
  EXPECT_LE(at_the_end, 100);
  EXPECT_EQ(done, at_the_end);
}

}  // namespace
}  // namespace thunder::test
