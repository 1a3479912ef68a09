#include "allocator.h"

#include <execinfo.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>

// The C library's own functions, which it exports for those that stand in for malloc.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace faults {
namespace {

constexpr size_t kSlots = size_t{1} << 18, kCallers = 24;

struct Block {
  void* at;
  size_t bytes, number;
};
struct Callers {
  void* at[kCallers];
  int count;
};

// By address, closed up at each removal. Nothing here may allocate.
Block blocks[kSlots];
Callers callers[kSlots];  // of the allocation with this number
size_t live = 0;
std::atomic_flag busy = ATOMIC_FLAG_INIT;
bool tracing = false;

struct Lock {
  Lock() {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Lock() { busy.clear(std::memory_order_release); }
};

thread_local bool watched = false;
size_t target = 0, allocations = 0, failures = 0;
Mode mode = Mode::once;

size_t slot_of(const void* at) { return (reinterpret_cast<uintptr_t>(at) >> 4) * 0x9E3779B97F4A7C15u >> 46; }

void note_callers() {
  Callers& c = callers[allocations % kSlots];
  watched = false;  // the first unwinding allocates
  c.count = backtrace(c.at, kCallers);
  watched = true;
}

bool must_fail() {
  if (!watched) return false;
  allocations++;
  if (tracing) note_callers();
  if (!target || allocations < target || (mode == Mode::once && allocations > target)) return false;
  failures++;
  if (tracing && allocations == target) {
    dprintf(STDERR_FILENO, "failed allocation:\n");
    backtrace_symbols_fd(callers[allocations % kSlots].at, callers[allocations % kSlots].count, STDERR_FILENO);
  }
  errno = ENOMEM;
  return true;
}

void add(void* at, size_t bytes) {
  Lock lock;
  if (live + 1 >= kSlots) return;
  size_t i = slot_of(at);
  while (blocks[i].at) i = (i + 1) % kSlots;
  blocks[i] = {at, bytes, allocations};
  live++;
}

void* noted(void* at, size_t bytes) {
  if (at && watched) add(at, bytes);
  return at;
}

bool remove(const void* at) {
  if (!at) return false;
  Lock lock;
  if (!live) return false;
  size_t i = slot_of(at);
  while (blocks[i].at != at) {
    if (!blocks[i].at) return false;
    i = (i + 1) % kSlots;
  }
  live--;
  for (size_t next = (i + 1) % kSlots; blocks[next].at; next = (next + 1) % kSlots) {
    const size_t home = slot_of(blocks[next].at);
    if ((next - home) % kSlots < (next - i) % kSlots) continue;
    blocks[i] = blocks[next];
    i = next;
  }
  blocks[i].at = nullptr;
  return true;
}

}  // namespace

void watch(size_t wanted, Mode how) {
  target = wanted, mode = how, allocations = failures = 0;
  watched = true;
}

Paused::Paused() : was_(watched) { watched = false; }
Paused::~Paused() { watched = was_; }

Seen stop() {
  watched = false;
  return {allocations, failures};
}

size_t live_blocks() {
  Lock lock;
  return live;
}

void forget_live_blocks() {
  Lock lock;
  for (Block& b : blocks) b.at = nullptr;
  live = 0;
}

void print_live_blocks() {
  Lock lock;
  for (const Block& b : blocks) {
    if (!b.at) continue;
    dprintf(STDERR_FILENO, "not freed: %zu bytes, allocation %zu\n", b.bytes, b.number);
    const Callers& c = callers[b.number % kSlots];
    if (tracing) backtrace_symbols_fd(c.at, c.count, STDERR_FILENO);
  }
}

void trace_callers(bool wanted) { tracing = wanted; }

}  // namespace faults

using namespace faults;

// Aligned memory of any kind; `align` is a power of two.
static void* aligned(size_t align, size_t bytes) {
  return must_fail() ? nullptr : noted(__libc_memalign(align, bytes), bytes);
}

extern "C" {

__attribute__((visibility("default"))) void* malloc(size_t bytes) noexcept {
  return must_fail() ? nullptr : noted(__libc_malloc(bytes), bytes);
}
__attribute__((visibility("default"))) void* calloc(size_t count, size_t bytes) noexcept {
  return must_fail() ? nullptr : noted(__libc_calloc(count, bytes), count * bytes);
}
__attribute__((visibility("default"))) void* realloc(void* old, size_t bytes) noexcept {
  // One that makes a block no larger may be refused too.
  if (must_fail()) return nullptr;
  const bool known = remove(old);
  void* now = __libc_realloc(old, bytes);
  if (now ? known || watched : known && bytes) add(now ? now : old, bytes);
  return now;
}
__attribute__((visibility("default"))) int posix_memalign(void** out, size_t align, size_t bytes) noexcept {
  void* at = aligned(align, bytes);
  if (!at) return ENOMEM;
  *out = at;
  return 0;
}
__attribute__((visibility("default"))) void* aligned_alloc(size_t align, size_t bytes) noexcept { return aligned(align, bytes); }
__attribute__((visibility("default"))) void* memalign(size_t align, size_t bytes) noexcept { return aligned(align, bytes); }
__attribute__((visibility("default"))) void free(void* at) noexcept {
  remove(at);
  __libc_free(at);
}

}  // extern "C"
