#include "base/thread_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"

namespace thunder {
namespace {

// Long enough to meet the next loop of a program that is running, short enough not to be seen in a profile.
constexpr int kSpins = 2000;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns once `value` is no longer `old`.
void wait_for_change(const std::atomic<int32_t>& value, int32_t old) {
  for (int i = 0; i < kSpins; i++) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

Status* run_part(ThreadPool::Body body, int64_t begin, int64_t end, void* arg) noexcept {
  try {
    try {
      return body(begin, end, arg);
    } catch (const Error& e) {
      return Ref<Status>(e.status()).detach();
    } catch (const std::bad_alloc&) {
      return out_of_memory_status();
    } catch (const std::exception& e) {
      return new Status(Code::internal, e.what());
    } catch (...) {
      return new Status(Code::internal, "a part of a parallel loop threw an unknown exception");
    }
  } catch (...) {
    return out_of_memory_status();
  }
}

// A page that the kernel empties in a forked child: asks "am I the process that made this?" without a system call.
class ForkMark {
 public:
  ForkMark() {
#ifdef MADV_WIPEONFORK
    void* page = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (::madvise(page, kBytes, MADV_WIPEONFORK) != 0) {
      ::munmap(page, kBytes);
      return;
    }
    mark_ = static_cast<volatile char*>(page);
    *mark_ = 1;
#endif
  }
  ~ForkMark() {
    if (mark_) ::munmap(const_cast<char*>(mark_), kBytes);
  }
  bool supported() const { return mark_ != nullptr; }
  bool forked() const { return !mark_ || *mark_ == 0; }

 private:
  static constexpr size_t kBytes = 4096;
  volatile char* mark_ = nullptr;
};

}  // namespace

struct ThreadPool::State {
  explicit State(size_t wanted) {
    if (wanted < 2 || !mark.supported()) return;
    failures.resize(wanted);
    threads.reserve(wanted - 1);
    try {
      for (size_t i = 1; i < wanted; i++) threads.emplace_back([this, i] { work(i); });
    } catch (const std::exception&) {
      // The threads that did start are the pool.
    }
  }

  void work(size_t worker) {
    for (int32_t seen = 0;;) {
      wait_for_change(round, seen);
      seen = round.load(std::memory_order_acquire);
      if (stop) return;
      run(worker);
      if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1) pending.notify_one();
    }
  }

  void run(size_t part) {
    const auto i = static_cast<int64_t>(part);
    if (i >= parts) return;
    // The first n % parts parts have one item more; written so that nothing overflows for any n.
    const int64_t size = n / parts, longer = n % parts;
    const int64_t begin = i * size + std::min(i, longer);
    failures[part] = run_part(body, begin, begin + size + (i < longer), arg);
  }

  void start_round() {
    pending.store(static_cast<int32_t>(threads.size()), std::memory_order_relaxed);
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
  }

  ForkMark mark;
  std::vector<std::thread> threads;
  std::vector<Status*> failures;
  std::atomic<bool> busy{false};
  // What the workers read is written before `round` changes and not again until `pending` is back at zero.
  alignas(64) std::atomic<int32_t> round{0};
  alignas(64) std::atomic<int32_t> pending{0};
  bool stop = false;
  int64_t n = 0, parts = 0;
  Body body = nullptr;
  void* arg = nullptr;
};

ThreadPool::ThreadPool(size_t threads) : state_(new State(threads)) {}

ThreadPool::~ThreadPool() {
  // A child has copies of threads that do not run in it; to join or destroy them would wait for ever.
  if (state_->mark.forked() && !state_->threads.empty()) return;
  state_->stop = true;
  state_->start_round();
  for (auto& thread : state_->threads) thread.join();
  delete state_;
}

size_t ThreadPool::threads() const { return state_->threads.size() + 1; }

Status* ThreadPool::parallel_for(int64_t n, int64_t grain, Body body, void* arg) noexcept {
  if (n <= 0) return nullptr;
  State& s = *state_;
  const int64_t parts = std::min(static_cast<int64_t>(threads()), n / std::max<int64_t>(1, grain));
  if (parts < 2 || s.mark.forked() || s.busy.exchange(true, std::memory_order_acquire))
    return run_part(body, 0, n, arg);
  s.n = n, s.parts = parts, s.body = body, s.arg = arg;
  s.start_round();
  s.run(0);
  for (int32_t left; (left = s.pending.load(std::memory_order_acquire)) != 0;) wait_for_change(s.pending, left);
  Status* first = nullptr;
  for (int64_t i = 0; i < parts; i++) {
    Status* failure = std::exchange(s.failures[static_cast<size_t>(i)], nullptr);
    if (!first) first = failure;
    else if (failure) failure->release();
  }
  s.busy.store(false, std::memory_order_release);
  return first;
}

}  // namespace thunder
