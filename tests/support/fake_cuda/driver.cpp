// A stand-in for libcuda: what is asked for is done at once, in device memory that only the entry points and kernels can reach.
// Here is the device itself, and what tests steer it by; memory, streams with graphs, and kernels have files of their own.
#include <cstdlib>
#include <cstring>
#include <thread>

#include "driver_state.h"

namespace fake_driver {
namespace {

// 4 GiB, or as many bytes as THUNDER_FAKE_CUDA_MEMORY says.
size_t memory_of_the_device() {
  const char* const bytes = std::getenv("THUNDER_FAKE_CUDA_MEMORY");
  return bytes ? std::strtoull(bytes, nullptr, 10) : size_t{4} << 30;
}

}  // namespace

State& state() {
  static State* s = new State(memory_of_the_device());  // alive when statics of the library under test end
  return *s;
}

void do_late() {
  for (auto& copy : state().late) copy();
  state().late.clear();
}

bool reach(const Point& point) {
  Stream& s = state().streams[point.stream];
  while (s.done < point.place) {
    if (const auto& ready = s.pending.front().ready; ready && !ready()) return false;
    const auto work = std::move(s.pending.front().run);
    s.pending.pop_front();
    s.done++;
    do_late();
    work();
  }
  return true;
}

// A blocking stream and the legacy one wait for what the other holds.
static bool wait_for_each_other(void* one, void* other) {
  auto& streams = state().streams;
  return one != other && (!one || !other) && streams[one].blocking && streams[other].blocking;
}

bool must_wait(void* stream) {
  State& s = state();
  stream = known(stream);
  if (s.lazy) return true;
  if (s.capturing.count(stream)) return false;
  for (auto& [at, other] : s.streams)
    if ((at == stream || wait_for_each_other(at, stream)) && !reach({at, other.asked, {}})) return true;
  return false;
}

// Nobody else enters the stand-in meanwhile.
void force(const Point& point) {
  while (!reach(point)) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

bool look_for(const Point& point) {
  constexpr int64_t kLooks = 50;
  Stream& s = state().streams[point.stream];
  return !state().lazy || ++s.looks % kLooks == 0 ? reach(point) : s.done >= point.place;
}

void reach_all() {
  for (auto& [at, stream] : state().streams) reach({at, stream.asked, {}});
}

static void ask(void* stream, Work work) {
  Stream& s = state().streams[stream];
  const auto wait_for = [&](const Point& point) { s.pending.push_back({[point] { return force(point), 0; }}), s.asked++; };
  for (auto& [at, other] : state().streams)
    if (wait_for_each_other(at, stream) && other.done < other.asked) wait_for({at, other.asked, {}});
  s.pending.push_back(std::move(work)), s.asked++;
}

int enqueue(void* stream, std::function<int()> work, std::function<bool()> ready) {
  stream = known(stream);
  auto found = state().capturing.find(stream);
  if (found == state().capturing.end()) {
    if (ready || must_wait(stream)) {
      ask(stream, {std::move(work), std::move(ready)});
      if (!state().lazy) reach({stream, state().streams[stream].asked, {}});
      return 0;
    }
    do_late();
    return work();
  }
  found->second->nodes.push_back(std::make_shared<Node>(Node{std::move(work)}));
  found->second->nodes.back()->ready = std::move(ready);
  state().last = found->second->nodes.back().get();
  return 0;
}

Point point_in(void* stream) {
  stream = known(stream);
  if (state().lazy) ask(stream, {[] { return 0; }});
  return {stream, state().streams[stream].asked, std::chrono::steady_clock::now()};
}

}  // namespace fake_driver

using namespace fake_driver;

extern "C" {

void fake_cuda_counts(FakeCudaCounts* out) {
  const Entry entry;
  State& s = state();
  *out = s.counts;
  out->blocks = static_cast<int64_t>(s.blocks.size()), out->bytes = 0;
  for (auto& [at, bytes] : s.blocks) out->bytes += static_cast<int64_t>(bytes);
  out->host_blocks = static_cast<int64_t>(s.host.size());
  out->streams = static_cast<int64_t>(s.streams.size()) - 2;  // without those that are always there
  out->events = static_cast<int64_t>(s.events.size()), out->modules = static_cast<int64_t>(s.modules.size());
  out->graphs = s.graphs;
}
void fake_cuda_fail_at(int64_t n, int result) {
  const Entry entry;
  state().fail_at = n, state().fail_with = result, state().counts.calls = 0;
}
void fake_cuda_reach(int32_t on) { mprotect(state().memory, state().used, on ? PROT_READ | PROT_WRITE : PROT_NONE); }
void fake_cuda_lazy(int32_t on) {
  const Entry entry;
  reach_all();
  state().lazy = on != 0;
}
void fake_cuda_enqueue(void* stream, void (*work)(void*), void (*drop)(void*), void* arg) {
  const Entry entry;
  const std::shared_ptr<void> held(arg, drop);
  enqueue(stream, [work, held] {
    const Reach reach;
    return work(held.get()), 0;
  });
}
void fake_cuda_enqueue_when(void* stream, int32_t (*ready)(void*), void (*work)(void*), void (*drop)(void*), void* arg) {
  const Entry entry;
  const std::shared_ptr<void> held(arg, drop);
  enqueue(
      stream,
      [work, held] {
        const Reach reach;
        return work(held.get()), 0;
      },
      [ready, held] { return ready(held.get()) != 0; });
}
int fake_cuda_called() {
  const Entry entry;
  return entry.failed();
}
void fake_cuda_set_memory(size_t bytes) {
  const Entry entry;
  state().limit = bytes;
}

int cuInit(unsigned) {
  ENTRY();
  State& s = state();
  if (!s.memory) s.memory = static_cast<std::byte*>(mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return s.memory == MAP_FAILED ? kOutOfMemory : 0;
}
int cuDriverGetVersion(int* out) { return *out = 13000, 0; }
int cuGetErrorName(int result, const char** out) {
  *out = result == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : result == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_INJECTED";
  return 0;
}
int cuGetErrorString(int, const char** out) { return *out = "a stand-in was told to fail", 0; }
int cuDeviceGetCount(int* out) {
  ENTRY();
  return *out = 1, 0;
}
int cuDeviceGet(int* out, int index) {
  ENTRY();
  return *out = index, 0;
}
int cuDeviceGetName(char* out, int bytes, int) {
  ENTRY();
  return std::strncpy(out, "a stand-in", static_cast<size_t>(bytes)), 0;
}
int cuDeviceTotalMem_v2(size_t* out, int) {
  ENTRY();
  return *out = state().limit, 0;
}
int cuDeviceGetAttribute(int* out, int attribute, int) {
  ENTRY();
  const std::map<int, int> values = {{16, 2}, {38, 50 << 20}, {75, 9}, {76, 0}, {97, 227 << 10}};
  auto it = values.find(attribute);
  return it == values.end() ? kInvalidValue : (*out = it->second, 0);
}
int cuDevicePrimaryCtxRetain(void** out, int) {
  ENTRY();
  return *out = &state(), 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) {
  ENTRY();
  return 0;
}
int cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTRY();
  return *free = state().limit - state().used, *total = state().limit, 0;
}
}
