// Background work: each piece runs once, on a worker thread or on the thread that waits for it.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace thunder {

class SideThreads {
 public:
  // A piece of work.
  class Work {
   public:
    explicit Work(std::function<void()> run) : run_(std::move(run)) {}

   private:
    friend class SideThreads;
    void run() noexcept;

    std::mutex mutex_;  // held by who does it
    std::function<void()> run_;  // empty: it is done
    std::exception_ptr error_;
  };

  // The largest number of threads; they end when nothing is left to do. 0: the thread that waits does the work.
  explicit SideThreads(size_t threads) : workers_(threads) {}
  // Waits for what is being done, and drops what was not begun.
  ~SideThreads();
  SideThreads(const SideThreads&) = delete;

  // Pieces are begun in the order in which they are given. Any thread.
  std::shared_ptr<Work> begin(std::function<void()> run);
  // Waits for the work, or does it if no thread has begun. Throws what it threw, each time. Any thread.
  void wait(const std::shared_ptr<Work>& work);
  // Whether it was done. Any thread.
  bool is_done(Work& work) const;

 private:
  struct Worker {
    std::thread thread;
    bool running = false;
  };
  void start_worker();
  void work(Worker& self) noexcept;

  std::mutex mutex_;  // of what follows
  std::deque<Worker> workers_;
  std::deque<std::shared_ptr<Work>> queue_;  // what no worker has taken
};

}  // namespace thunder
