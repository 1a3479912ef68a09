// A few threads that stay, to run the parts of one loop at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace thunder {

class Status;

class ThreadPool {
 public:
  // One part of a loop. An exception that leaves it becomes a status in the thread that threw.
  using Body = Status* (*)(int64_t begin, int64_t end, void* arg);

  // Threads of somebody else's. `run` calls part(0) ... part(parts - 1), each once, on any threads, and returns when
  // all have returned; it may be called by several threads at a time, and inside a part.
  struct Host {
    void (*run)(size_t parts, void (*part)(size_t index, void* arg), void* arg, void* user) = nullptr;
    size_t threads = 0;
    void* user = nullptr;
    void (*destroy)(void* user) = nullptr;  // once; may be null
  };

  // `threads` counts the caller's; they start with the first loop that needs them, pinned to processors of their own
  // where there are enough: one that a caller turns up on is given up for the one that the last caller had. Fewer are
  // used when the system refuses to start them.
  explicit ThreadPool(size_t threads) { resize(threads); }
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Requires, of both: no loop is running.
  void resize(size_t threads);
  void set_host(const Host& host);

  size_t threads() const { return host_.run ? host_.threads : wanted_; }

  // Divides [0, n) into as many equal parts as there are threads, each of at least `grain` items, runs them, and
  // returns the first part's failure, owned, or null. Any thread may call. The caller runs the whole loop itself
  // when there is one part, and when the pool is busy (so also inside a body): it has a processor already, and to
  // wait for others would be slower. A forked child starts threads of its own. The division depends on nothing but
  // n, grain and threads().
  Status* parallel_for(int64_t n, int64_t grain, Body body, void* arg) noexcept;

 private:
  struct Team;
  Team* team() noexcept;
  Status* run_hosted(int64_t n, int64_t parts, Body body, void* arg) noexcept;
  void release_threads();

  size_t wanted_ = 1;
  Host host_;
  std::atomic<Team*> team_{nullptr};
};

}  // namespace thunder
