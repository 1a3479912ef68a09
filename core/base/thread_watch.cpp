#include "base/thread_watch.h"

#include <atomic>
#include <chrono>

namespace thunder {
namespace {

std::mutex watching;  // held for as long as there is a watch
std::atomic<ThreadWatch*> the_watch{nullptr};
std::atomic<int> watched_loops{0};  // that may know it

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

}  // namespace

std::atomic<bool> ThreadWatch::any_{false};

void ThreadWatch::Loop::find(const ThreadPool& pool) {
  watched_loops++;
  counted_ = true;
  ThreadWatch* const w = the_watch.load();
  if (w && &w->pool_ == &pool) watch_ = w;
}

void ThreadWatch::Loop::leave() { watched_loops--; }

Status* ThreadWatch::Loop::run(int64_t begin, int64_t end, void* self) {
  auto& loop = *static_cast<Loop*>(self);
  const int64_t start = now();
  Status* failed = loop.body_(begin, end, loop.arg_);
  loop.watch_->add(start, now());
  return failed;
}

ThreadWatch::ThreadWatch(const ThreadPool& of) : pool_(of) {
  watching.lock();
  the_watch = this;
  any_ = true;
}

ThreadWatch::~ThreadWatch() {
  any_ = false;
  the_watch = nullptr;
  while (watched_loops.load() > 0) std::this_thread::yield();
  watching.unlock();
}

void ThreadWatch::add(int64_t begin, int64_t end) {
  std::lock_guard lock(mutex_);
  parts_.push_back({std::this_thread::get_id(), begin, end});
}

std::vector<ThreadWatch::Part> ThreadWatch::take() {
  std::lock_guard lock(mutex_);
  return std::exchange(parts_, {});
}

}  // namespace thunder
