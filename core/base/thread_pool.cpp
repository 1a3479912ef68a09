#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/cpu_count.h"
#include "base/signals.h"
#include "base/status.h"
#include "base/thread_watch.h"
#include "base/thrown.h"

namespace thunder {
namespace {

// Long enough to meet the next loop of a program that is running, and to wait out a thread that has to be woken, which
// takes a virtual machine 100 us and more: who then sleeps himself has to be woken too, and so on in each loop. Short
// where threads are more than processors.
constexpr auto kSpin = std::chrono::microseconds(200), kSpinTogether = std::chrono::microseconds(20);
constexpr int kLooks = 64;  // between two looks at the clock

constexpr size_t kMost = kMaxThreads;  // what the word that starts a loop has room for

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns once `value` is no longer `old`. Who changes it does so in one step with reading it, and then notifies.
void wait_for_change(const std::atomic<int32_t>& value, int32_t old, std::chrono::microseconds spin) {
  using Clock = std::chrono::steady_clock;
  for (Clock::time_point end{}, now{}; end == Clock::time_point{} || now < end;) {
    for (int i = 0; i < kLooks; i++) {
      if (value.load(std::memory_order_acquire) != old) return;
      relax();
    }
    now = Clock::now();  // not before the first looks: they are what a short loop waits for
    if (end == Clock::time_point{}) end = now + spin;
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

Status* run_part(ThreadPool::Body body, int64_t begin, int64_t end, void* arg) noexcept {
  try {
    return body(begin, end, arg);
  } catch (...) {
    return status_of_thrown("a part of a parallel loop");
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

// The processor that the calling thread runs on; -1: not known.
int this_processor() {
#ifdef __linux__
  return ::sched_getcpu();
#else
  return -1;
#endif
}

// The processors that this process may use, the caller's first.
std::vector<int> processors_from_here() {
  std::vector<int> out = {this_processor()};
#ifdef __linux__
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &set) && i != out[0]) out.push_back(i);
#endif
  return out;
}

// Two threads that are left on one processor cost time slices of the scheduler's. Only a hint: nothing depends on it.
void pin([[maybe_unused]] std::thread& thread, [[maybe_unused]] int processor) {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  ::pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
#endif
}

// One loop, and how it is divided.
struct Loop {
  int64_t n = 0, parts = 0;
  ThreadPool::Body body = nullptr;
  void* arg = nullptr;
  Status** failures = nullptr;  // by part

  void run(size_t part) const {
    // The first n % parts parts have one item more; written so that nothing overflows for any n.
    const auto i = static_cast<int64_t>(part);
    const int64_t size = n / parts, longer = n % parts;
    const int64_t begin = i * size + std::min(i, longer);
    failures[part] = run_part(body, begin, begin + size + (i < longer), arg);
  }
  // The first part's failure; the others are dropped.
  Status* take_failure() const {
    Status* first = nullptr;
    for (int64_t i = 0; i < parts; i++)
      if (Status* failure = std::exchange(failures[i], nullptr); !first) first = failure;
      else if (failure) failure->release();
    return first;
  }
};

}  // namespace

// The threads. A loop starts when `round` changes: a count, and in its low bits how many parts there are, so that a
// thread that has none need not look further. Who has one says so in `done` before the next loop can start.
struct ThreadPool::Team {
  explicit Team(size_t wanted) : done(wanted), failures(wanted) {
    if (!mark.supported()) return;
    processors = processors_from_here();
    processors.resize(processors.size() < wanted || processors[0] < 0 ? 0 : wanted);
    const BlockedSignals inherited;  // a host's handlers run on its own threads
    threads.reserve(wanted - 1);
    try {
      for (size_t i = 1; i < wanted; i++) {
        threads.emplace_back([this, i] { work(i); });
        if (!processors.empty()) pin(threads.back(), processors[i]);
      }
    } catch (const std::exception&) {  // the threads that did start are the team
    }
  }
  ~Team() {
    stop = true;
    start(kMost);
    for (auto& thread : threads) thread.join();
  }

  std::chrono::microseconds spin() const { return processors.empty() ? kSpinTogether : kSpin; }

  void work(size_t worker) {
    for (int32_t seen = 0;;) {
      wait_for_change(round, seen, spin());
      seen = round.load(std::memory_order_acquire);
      if (static_cast<size_t>(seen & (kMost - 1)) < worker) continue;
      if (stop) return;
      loop.run(worker);
      done[worker].round.exchange(seen, std::memory_order_acq_rel);
      done[worker].round.notify_one();
    }
  }

  // The caller was moved, or is another one: the worker whose processor that is takes the one that was left.
  void make_room() {
    if (processors.empty()) return;
    const int here = this_processor();
    if (here < 0 || here == processors[0]) return;
    for (size_t i = 1; i <= threads.size(); i++)
      if (processors[i] == here) pin(threads[i - 1], processors[i] = processors[0]);
    processors[0] = here;
  }

  int32_t start(size_t parts) {
    count++;
    const auto word = static_cast<int32_t>(count << 10 | static_cast<uint32_t>(parts - 1));
    round.exchange(word, std::memory_order_acq_rel);
    round.notify_all();
    return word;
  }

  Status* run(int64_t n, int64_t parts, Body body, void* arg) {
    make_room();
    loop = {n, parts, body, arg, failures.data()};
    const int32_t word = start(static_cast<size_t>(parts));
    loop.run(0);
    for (size_t i = 1; i < static_cast<size_t>(parts); i++)
      for (int32_t at; (at = done[i].round.load(std::memory_order_acquire)) != word;)
        wait_for_change(done[i].round, at, spin());
    return loop.take_failure();
  }

  struct alignas(64) Done {
    std::atomic<int32_t> round{0};
  };

  alignas(64) std::atomic<int32_t> round{0};
  alignas(64) std::atomic<bool> busy{false};
  bool stop = false;
  uint32_t count = 0;
  Loop loop;
  std::vector<Done> done;
  std::vector<Status*> failures;
  ForkMark mark;
  std::vector<int> processors;  // of the caller, then of the threads, all distinct; empty when there are too few
  std::vector<std::thread> threads;
};

ThreadPool::~ThreadPool() { release_threads(); }

void ThreadPool::release_threads() {
  if (Team* team = team_.exchange(nullptr)) {
    // A child has copies of threads that do not run in it; to join or destroy them would wait for ever.
    if (!team->mark.forked() || team->threads.empty()) delete team;
  }
  if (host_.destroy) host_.destroy(host_.user);
  host_ = {};
}

// The same number again changes nothing, since a loop may be running.
void ThreadPool::resize(size_t threads) {
  const size_t wanted = std::clamp<size_t>(threads, 1, kMost);
  if (!host_.run && wanted == wanted_) return;
  release_threads();
  wanted_ = wanted;
}

void ThreadPool::set_host(const Host& host) {
  if (host.run == host_.run && host.threads == host_.threads && host.user == host_.user && !host.destroy) return;
  release_threads();
  host_ = host;
}

// Null without memory.
ThreadPool::Team* ThreadPool::team() noexcept {
  Team* now = team_.load(std::memory_order_acquire);
  if (now && (!now->mark.forked() || now->threads.empty())) [[likely]]
    return now;
  try {
    auto fresh = std::make_unique<Team>(wanted_);
    if (team_.compare_exchange_strong(now, fresh.get(), std::memory_order_acq_rel)) return fresh.release();
    return now;  // another thread was faster
  } catch (const std::exception&) {
    return nullptr;
  }
}

Status* ThreadPool::run_hosted(int64_t n, int64_t parts, Body body, void* arg) noexcept {
  std::vector<Status*> failures;
  Loop loop{n, parts, body, arg};
  try {
    failures.resize(static_cast<size_t>(parts));
    loop.failures = failures.data();
    host_.run(
        static_cast<size_t>(parts), [](size_t part, void* loop) { static_cast<const Loop*>(loop)->run(part); }, &loop,
        host_.user);
    return loop.take_failure();
  } catch (...) {
    Status* thrown = status_of_thrown("the host's thread pool");
    if (Status* failed = failures.empty() ? nullptr : loop.take_failure()) failed->release();
    return thrown;
  }
}

Status* ThreadPool::parallel_for(int64_t n, int64_t grain, Body body, void* arg) noexcept {
  if (n <= 0) return nullptr;
  ThreadWatch::Loop watched(*this);  // before its parts run, until they have
  watched.wrap_body(body, arg);
  int64_t parts = std::min(static_cast<int64_t>(threads()), n / std::max<int64_t>(1, grain));
  if (parts < 2) return run_part(body, 0, n, arg);
  if (host_.run) return run_hosted(n, parts, body, arg);
  Team* t = team();
  if (t) parts = std::min(parts, static_cast<int64_t>(t->threads.size() + 1));
  if (!t || parts < 2 || t->busy.load(std::memory_order_relaxed) || t->busy.exchange(true, std::memory_order_acquire))
    return run_part(body, 0, n, arg);
  Status* failed = t->run(n, parts, body, arg);
  t->busy.store(false, std::memory_order_release);
  return failed;
}

}  // namespace thunder
