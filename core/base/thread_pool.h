// A few threads that stay, to run the parts of one loop at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thunder {

class Status;

class ThreadPool {
 public:
  // One part of a loop. An exception that leaves it becomes a status in the thread that threw.
  using Body = Status* (*)(int64_t begin, int64_t end, void* arg);

  // `threads` counts the caller's; fewer are used when the system refuses to start them.
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const;

  // Divides [0, n) into as many equal parts as there are threads, each of at least `grain` items, runs them, and
  // returns the first part's failure, owned, or null. Any thread may call. The caller runs the whole loop itself
  // when there is one part, when the pool is busy (so also inside a body), and in a forked child, which has no
  // threads. The division depends on nothing but n, grain and threads().
  Status* parallel_for(int64_t n, int64_t grain, Body body, void* arg) noexcept;

 private:
  struct State;
  State* state_;
};

}  // namespace thunder
