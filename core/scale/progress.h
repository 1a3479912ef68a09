// The one thread that drives engines: it steps through what ranks wait for, and sleeps between.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"

namespace thunder::scale {

using Clock = std::chrono::steady_clock;

// Something that takes several steps, none of which waits.
class Task {
 public:
  virtual ~Task() = default;
  // Called by the thread until it is over: true, or it throws.
  virtual bool step() = 0;

  // Waits until it is over, at most until `end`. False: it is not over. Throws what the task threw.
  bool wait_until(Clock::time_point end);
  // The same of one that was given to nobody: the caller's thread steps it.
  bool run_until(Clock::time_point end);

 protected:
  // Of step(): it went on, and what comes next may be over soon.
  void went_on() { went_on_ = true; }

 private:
  friend class Progress;
  bool went_on_ = false;
  void finish(std::exception_ptr failed);

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::exception_ptr failed_;
};

// Something that is looked after as long as it is there.
class Watch {
 public:
  virtual ~Watch() = default;
  // Called by the thread some milliseconds apart, and more often while tasks run. Must not throw.
  virtual void step() = 0;
  // The process exits.
  virtual void leave() = 0;
};

// Starts its thread with the first task. Any thread may call it.
class Progress {
 public:
  // The one of the process. It ends, and calls what at_exit() was given, when the process exits.
  static Progress& get();

  // Tasks of one owner are run one after the other, in the order in which they were given.
  void add(const void* owner, std::shared_ptr<Task> task);
  // Whether all of them are over.
  bool is_idle(const void* owner);
  // Runs `f` on the thread and waits for it, at most until `end`: false, and then `f` may still run. Throws what it
  // threw.
  bool run(const void* owner, std::function<void()> f, Clock::time_point end = Clock::time_point::max());
  // Both by tasks alone.
  void add_watch(std::shared_ptr<Watch> watch) { watches_.push_back(std::move(watch)); }
  void remove_watch(const Watch* watch) {
    std::erase_if(watches_, [&](auto& w) { return w.get() == watch; });
  }
  // Something may never be over: the process does not wait for the thread when it exits.
  void give_up() { given_up_ = true; }
  // Called by the thread when the process exits, in the reverse order.
  void at_exit(std::function<void()> f);

 private:
  void run_thread();
  bool step_all(std::unique_lock<std::mutex>& lock);
  void stop();

  std::mutex mutex_;
  std::condition_variable more_;
  std::map<const void*, std::deque<std::shared_ptr<Task>>> tasks_;
  std::vector<std::function<void()>> at_exit_;
  std::vector<std::shared_ptr<Watch>> watches_;  // the thread's own
  std::thread thread_;
  int process_ = 0;  // in which the thread runs
  bool stopping_ = false;
  std::atomic<bool> given_up_{false};
};

}  // namespace thunder::scale
