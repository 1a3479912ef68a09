// What the stand-in for libcuda keeps, and what its entry points are made of.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "control.h"

namespace fake_driver {

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200, kNotFound = 500, kNotReady = 600, kIllegalAddress = 700;
constexpr size_t kReserved = size_t{16} << 30;  // addresses of the device

struct Dim3 {
  unsigned x, y, z;
};

struct Module {
  void* library = nullptr;
  int file = -1;
};
struct Function {
  void (*launch)(void**) = nullptr;
  Dim3 *thread = nullptr, *block = nullptr, *threads = nullptr, *blocks = nullptr;
  void (**barrier)() = nullptr;
  bool needs_barrier = false;
  const unsigned long* sizes = nullptr;  // of its parameters in bytes, then 0
  unsigned most_shared = 48 << 10;       // dynamic shared memory that a launch may have
};

// What a captured stream was asked for. Arguments of kernels are copied as often as they are replaced.
struct Node {
  std::function<int()> work;
  Function* function = nullptr;
  Dim3 blocks{}, threads{};
  std::vector<std::vector<std::byte>> arguments;
  std::function<bool()> ready = {};  // null: at once
};
struct Graph {
  std::vector<std::shared_ptr<Node>> nodes;
};

// What a stream was asked for, which it does when `ready` gives true, if that is not null.
struct Work {
  std::function<int()> run;
  std::function<bool()> ready = {};
};
// What it has not done is nothing, unless the stand-in is lazy or something waits for what others do.
struct Stream {
  bool blocking = true;  // it and the legacy default stream wait for each other
  std::deque<Work> pending;
  uint64_t asked = 0, done = 0;
  int64_t looks = 0;
};
struct Point {
  void* stream = nullptr;
  uint64_t place = 0;
  std::chrono::steady_clock::time_point time;
};

struct State {
  explicit State(size_t bytes) : limit(bytes) {}

  std::recursive_mutex mutex;
  std::byte* memory = nullptr;  // reserved, without rights but while an entry point needs them
  size_t used = 0, limit;
  std::map<unsigned long long, size_t> blocks;
  std::multimap<size_t, unsigned long long> free;
  std::map<const void*, size_t> host;  // pinned blocks and their bytes
  std::map<void*, Stream> streams = {{nullptr, {}}, {reinterpret_cast<void*>(2), {}}};  // the legacy default one, the thread's
  std::map<void*, Point> events;
  std::set<void*> modules;
  bool lazy = false;
  // Copies from pinned memory that were asked for and not done: they are done as late as they may be, so that who reuses the
  // memory too early has other data on the device.
  std::vector<std::function<void()>> late;
  std::map<void*, std::unique_ptr<Graph>> capturing;  // by stream
  Node* last = nullptr;                              // that was captured
  std::vector<std::unique_ptr<Function>> functions;
  FakeCudaCounts counts{};
  int64_t graphs = 0;  // that are alive
  int64_t fail_at = 0;
  int fail_with = 0;
};
State& state();

// One entry point at a time; counts calls, and says whether this one is to fail.
struct Entry {
  std::lock_guard<std::recursive_mutex> lock{state().mutex};
  int failed() const {
    State& s = state();
    return ++s.counts.calls == s.fail_at ? s.fail_with : 0;
  }
};
#define ENTRY()     \
  const Entry entry; \
  if (const int failed = entry.failed()) return failed

// Device memory may be touched while it lives.
struct Reach {
  Reach() { mprotect(state().memory, state().used, PROT_READ | PROT_WRITE); }
  ~Reach() { mprotect(state().memory, state().used, PROT_NONE); }
};

// Does the copies that were put off.
void do_late();
// By another name of the legacy default stream.
inline void* known(void* stream) { return stream == reinterpret_cast<void*>(1) ? nullptr : stream; }
// Now, or when it must be, or when the graph is launched that the stream is captured to.
int enqueue(void* stream, std::function<int()> work, std::function<bool()> ready = {});
// Whether what the stream is asked for now is done later: the stand-in is lazy, or the stream waits for what others do.
bool must_wait(void* stream);
// Does what the stream was asked for, up to a place, as far as that is ready. Whether all is done.
bool reach(const Point& point);
// Whether a place is reached, as somebody who looks again and again finds: a lazy stand-in goes on where many look.
bool look_for(const Point& point);
// Does what the stream was asked for, up to a place.
void force(const Point& point);
// All that is ready, on every stream.
void reach_all();
// The place behind all that the stream was asked for.
Point point_in(void* stream);

inline std::byte* pointer(unsigned long long at) { return reinterpret_cast<std::byte*>(at); }

void run_grid(const Function& function, Dim3 grid, Dim3 block, void** parameters);
// Does what was captured or put off.
int run_node(Node& node);
// Copies a kernel's arguments into the node.
void keep_arguments(Node& node, void** parameters);

}  // namespace fake_driver
