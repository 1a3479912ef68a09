// Records which parts of loops the threads of a pool run, and when, for timelines.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/thread_pool.h"

namespace thunder {

// Watches while it lives. One at a time in a process: another one waits until it may begin.
class ThreadWatch {
 public:
  explicit ThreadWatch(const ThreadPool& of);
  ~ThreadWatch();
  ThreadWatch(const ThreadWatch&) = delete;

  struct Part {
    std::thread::id thread;
    int64_t begin, end;  // nanoseconds of the steady clock
  };
  // The intervals since the last time this was called.
  std::vector<Part> take();

  // A loop of a pool, from before its parts run until they have: it tells the pool's watch of them, if there is one.
  class Loop {
   public:
    explicit Loop(const ThreadPool& pool) {
      if (any_.load(std::memory_order_relaxed)) [[unlikely]]
        find(pool);
    }
    ~Loop() {
      if (counted_) [[unlikely]]
        leave();
    }
    Loop(const Loop&) = delete;
    void wrap_body(ThreadPool::Body& body, void*& arg) {
      if (watch_) [[unlikely]]
        body_ = std::exchange(body, run), arg_ = std::exchange(arg, this);
    }

   private:
    void find(const ThreadPool& pool);
    static void leave();
    static Status* run(int64_t begin, int64_t end, void* self);
    ThreadWatch* watch_ = nullptr;
    bool counted_ = false;
    ThreadPool::Body body_ = nullptr;
    void* arg_ = nullptr;
  };

 private:
  void add(int64_t begin, int64_t end);

  static std::atomic<bool> any_;

  const ThreadPool& pool_;
  std::mutex mutex_;
  std::vector<Part> parts_;
};

}  // namespace thunder
