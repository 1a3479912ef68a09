#include "base/nesting.h"

#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <exception>
#include <vector>

#include "base/text.h"

namespace thunder {
namespace {

// The stack that is left for functions called between two levels: metas, kernels, messages.
constexpr size_t kReserve = 16 << 10;

struct Stack {
  uintptr_t low = 0, high = 0;  // both 0: not known
};

// The state of a thread, in one object, so that it is looked up once. A new thread may get the memory of an old one,
// but not its thread-local values.
struct Here {
  const Nesting* innermost = nullptr;
  bool found = false;  // its stack
  Stack stack;
};
// Not inlined: then a caller looks the thread-local value up once, instead of at each use.
[[gnu::noinline]] Here& of_this_thread() noexcept {
  static constinit thread_local Here here;
  return here;
}

Stack find_stack() noexcept {
  Stack stack;
#ifdef __linux__
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes)) return stack;
  void* low = nullptr;
  size_t size = 0, guard = 0;
  if (!pthread_attr_getstack(&attributes, &low, &size) && !pthread_attr_getguardsize(&attributes, &guard)) {
    stack.high = reinterpret_cast<uintptr_t>(low) + size;
    stack.low = stack.high - size + guard;
  }
  pthread_attr_destroy(&attributes);
#endif
  return stack;
}

// "f -> g -> f": the shortest cycle that the innermost calls go through; without one the innermost calls.
std::string described(const std::vector<std::string_view>& calls) {
  constexpr size_t kLongest = 32, kShown = 8;
  const size_t n = calls.size();
  size_t shown = std::min(n, kShown);
  for (size_t period = 1; period <= kLongest && 3 * period <= n; period++) {
    bool repeats = true;
    for (size_t i = 0; i < 2 * period && repeats; i++) repeats = calls[i] == calls[i + period];
    if (!repeats) continue;
    shown = period + 1;
    break;
  }
  std::string text;
  for (size_t i = shown; i-- > 0;) text += cat(calls[i], i ? " -> " : "");
  return text;
}

}  // namespace

static inline size_t stack_bytes_left(Here& thread) noexcept {
  if (!thread.found) [[unlikely]]
    thread.stack = find_stack(), thread.found = true;
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return frame > thread.stack.low && frame <= thread.stack.high ? frame - thread.stack.low : SIZE_MAX;
}

size_t stack_left() noexcept {
  return stack_bytes_left(of_this_thread());
}

void with_stack(size_t bytes, const std::function<void()>& body) {
  if (stack_left() >= bytes) return body();
  struct Task {
    const std::function<void()>& body;
    std::exception_ptr thrown;
  } task{body, nullptr};
  const auto run = [](void* given) -> void* {
    auto* t = static_cast<Task*>(given);
    try {
      t->body();
    } catch (...) {
      t->thrown = std::current_exception();
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t every, before;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 2 * bytes);  // thread-local values of all libraries lie there too
  // The host's signals are for the host's threads.
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  const int failed = pthread_create(&thread, &attributes, run, &task);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (failed) fail(Code::out_of_memory, "no thread with a stack of ", bytes, " bytes can be started: error ", failed);
  pthread_join(thread, nullptr);
  if (task.thrown) std::rethrow_exception(task.thrown);
}

Nesting::Nesting(std::string_view what, Of of) : Nesting(what, of, &of_this_thread()) {}

Nesting::Nesting(std::string_view what, Of of, void* thread)
    : what_(what),
      thread_(thread),
      outer_(static_cast<Here*>(thread)->innermost),
      depth_(outer_ ? outer_->depth_ + 1 : 1),
      ops_((outer_ ? outer_->ops_ : 0) + (of == Of::op)) {
  const size_t left = stack_bytes_left(*static_cast<Here*>(thread));
  if (depth_ > kDeepestNesting || ops_ > kDeepestOps || left < kReserve) [[unlikely]] refuse(left);
  static_cast<Here*>(thread)->innermost = this;
}

Nesting::~Nesting() { static_cast<Here*>(thread_)->innermost = outer_; }

void Nesting::refuse(size_t left) const {
  std::vector<std::string_view> calls;
  for (const Nesting* n = this; n; n = n->outer_) calls.push_back(n->what_);
  const std::string limit = left < kReserve
                                ? cat("the ", left, " bytes left of this thread's stack do not hold another level")
                            : ops_ > kDeepestOps ? cat("ops nest at most ", kDeepestOps, " deep")
                                                 : cat("at most ", kDeepestNesting, " are possible");
  auto status =
      make<Status>(Code::invalid_argument, cat("calls are nested ", depth_, " deep, ", limit, ": ", described(calls)));
  status->set_names_callers();
  throw Error(std::move(status));
}

}  // namespace thunder
