// A stand-in for libcuda: what is asked for is done at once, in device memory that only the entry points and kernels can reach.
#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "control.h"

namespace {

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200, kNotFound = 500, kIllegalAddress = 700;
constexpr size_t kReserved = size_t{16} << 30, kPage = 4096;
constexpr unsigned char kFresh = 0xcd, kFreed = 0xdd;

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

struct KernelNode {
  Function* function;
  unsigned blocks[3], threads[3], shared;
  void** parameters;
};

// What a captured stream was asked for. Arguments of kernels are copied as often as they are replaced.
struct Node {
  std::function<int()> work;
  Function* function = nullptr;
  Dim3 blocks{}, threads{};
  std::vector<std::vector<std::byte>> arguments;
};
struct Graph {
  std::vector<std::shared_ptr<Node>> nodes;
};

// 4 GiB, or as many bytes as THUNDER_FAKE_CUDA_MEMORY says.
size_t memory_of_the_device() {
  const char* const bytes = std::getenv("THUNDER_FAKE_CUDA_MEMORY");
  return bytes ? std::strtoull(bytes, nullptr, 10) : size_t{4} << 30;
}

struct State {
  std::recursive_mutex mutex;
  std::byte* memory = nullptr;  // reserved, without rights but while an entry point needs them
  size_t used = 0, limit = memory_of_the_device();
  std::map<unsigned long long, size_t> blocks;
  std::multimap<size_t, unsigned long long> free;
  std::map<const void*, size_t> host;  // pinned blocks and their bytes
  std::set<void*> streams, events, modules;
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
State& state() {
  static State* s = new State;  // alive when statics of the library under test end
  return *s;
}

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

void do_late() {
  for (auto& copy : state().late) copy();
  state().late.clear();
}

bool pinned(const void* at) {
  auto it = state().host.upper_bound(at);
  if (it == state().host.begin()) return false;
  --it;
  return static_cast<const std::byte*>(at) < static_cast<const std::byte*>(it->first) + it->second;
}

bool inside(unsigned long long at, size_t bytes) {
  auto it = state().blocks.upper_bound(at);
  if (it == state().blocks.begin()) return false;
  --it;
  return at + bytes <= it->first + it->second;
}

std::byte* pointer(unsigned long long at) { return reinterpret_cast<std::byte*>(at); }

// ---- kernels: each thread of a block is a fiber ----

constexpr size_t kStack = 128 << 10;
unsigned count(const Dim3& d) { return d.x * d.y * d.z; }
Dim3 place_in(const Dim3& sizes, unsigned n) { return {n % sizes.x, n / sizes.x % sizes.y, n / sizes.x / sizes.y}; }

struct Fibers {
  Dim3 threads{};
  ucontext_t scheduler;
  std::vector<ucontext_t> contexts;
  std::vector<std::unique_ptr<char[]>> stacks;
  std::vector<bool> done;
  size_t current = 0;
  const Function* function = nullptr;
  void** parameters = nullptr;
};
Fibers* running = nullptr;

void fiber_main() {
  running->function->launch(running->parameters);
  running->done[running->current] = true;
  swapcontext(&running->contexts[running->current], &running->scheduler);
}
void barrier() {
  const size_t me = running->current;
  swapcontext(&running->contexts[me], &running->scheduler);
  *running->function->thread = place_in(running->threads, static_cast<unsigned>(me));
}

void run_block(Fibers& f) {
  const unsigned threads = count(f.threads);
  for (unsigned t = 0; t < threads; t++) {
    getcontext(&f.contexts[t]);
    f.contexts[t].uc_stack.ss_sp = f.stacks[t].get(), f.contexts[t].uc_stack.ss_size = kStack, f.contexts[t].uc_link = &f.scheduler;
    makecontext(&f.contexts[t], fiber_main, 0);
    f.done[t] = false;
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned t = 0; t < threads; t++) {
      if (f.done[t]) continue;
      f.current = t, *f.function->thread = place_in(f.threads, t);
      swapcontext(&f.scheduler, &f.contexts[t]);
      any = any || !f.done[t];
    }
  }
}

void run_grid(const Function& function, Dim3 grid, Dim3 block, void** parameters) {
  *function.threads = block, *function.blocks = grid, *function.barrier = barrier;
  const unsigned blocks = count(grid), threads = count(block);
  Fibers fibers;
  fibers.function = &function, fibers.parameters = parameters, fibers.threads = block;
  if (function.needs_barrier) {
    fibers.contexts.resize(threads), fibers.done.resize(threads);
    for (unsigned t = 0; t < threads; t++) fibers.stacks.emplace_back(new char[kStack]);
  }
  running = &fibers;
  for (unsigned b = 0; b < blocks; b++) {
    *function.block = place_in(grid, b);
    if (function.needs_barrier) {
      run_block(fibers);
      continue;
    }
    for (unsigned t = 0; t < threads; t++) *function.thread = place_in(block, t), function.launch(parameters);
  }
  running = nullptr;
}

// Now, or when the graph is launched that the stream is captured to.
int enqueue(void* stream, std::function<int()> work) {
  do_late();
  auto found = state().capturing.find(stream);
  if (found == state().capturing.end()) return work();
  found->second->nodes.push_back(std::make_shared<Node>(Node{std::move(work)}));
  state().last = found->second->nodes.back().get();
  return 0;
}

void keep_arguments(Node& node, void** parameters) {
  node.arguments.clear();
  for (size_t i = 0; node.function->sizes[i]; i++) {
    const auto* from = static_cast<const std::byte*>(parameters[i]);
    node.arguments.emplace_back(from, from + node.function->sizes[i]);
  }
}

int run_node(Node& node) {
  do_late();
  if (!node.function) return node.work();
  std::vector<void*> parameters;
  for (auto& a : node.arguments) parameters.push_back(a.data());
  state().counts.launches++;
  const Reach reach;
  return run_grid(*node.function, node.blocks, node.threads, parameters.data()), 0;
}

}  // namespace

extern "C" {

void fake_cuda_counts(FakeCudaCounts* out) {
  const Entry entry;
  State& s = state();
  *out = s.counts;
  out->blocks = static_cast<int64_t>(s.blocks.size()), out->bytes = 0;
  for (auto& [at, bytes] : s.blocks) out->bytes += static_cast<int64_t>(bytes);
  out->host_blocks = static_cast<int64_t>(s.host.size()), out->streams = static_cast<int64_t>(s.streams.size());
  out->events = static_cast<int64_t>(s.events.size()), out->modules = static_cast<int64_t>(s.modules.size());
  out->graphs = s.graphs;
}
void fake_cuda_fail_at(int64_t n, int result) {
  const Entry entry;
  state().fail_at = n, state().fail_with = result, state().counts.calls = 0;
}
void fake_cuda_reach(int32_t on) { mprotect(state().memory, state().used, on ? PROT_READ | PROT_WRITE : PROT_NONE); }
void fake_cuda_enqueue(void* stream, void (*work)(void*), void (*drop)(void*), void* arg) {
  const Entry entry;
  const std::shared_ptr<void> held(arg, drop);
  enqueue(stream, [work, held] {
    const Reach reach;
    return work(held.get()), 0;
  });
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

int cuMemAlloc_v2(unsigned long long* out, size_t bytes) {
  ENTRY();
  State& s = state();
  if (!bytes) return kInvalidValue;
  const size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  auto it = s.free.find(rounded);
  if (it != s.free.end()) {
    *out = it->second;
    s.free.erase(it);
  } else {
    if (s.used + rounded > s.limit || s.used + rounded > kReserved) return kOutOfMemory;
    *out = reinterpret_cast<unsigned long long>(s.memory + s.used);
    s.used += rounded;
  }
  s.blocks[*out] = bytes;
  const Reach reach;
  std::memset(pointer(*out), kFresh, bytes);
  return 0;
}
int cuMemFree_v2(unsigned long long at) {
  const Entry entry;
  State& s = state();
  auto it = s.blocks.find(at);
  if (it == s.blocks.end()) return kInvalidValue;
  do_late();
  const Reach reach;
  std::memset(pointer(at), kFreed, it->second);
  s.free.emplace((it->second + kPage - 1) / kPage * kPage, at);
  s.blocks.erase(it);
  return 0;
}
int cuPointerGetAttributes(unsigned, int*, void** out, unsigned long long at) {
  const Entry entry;
  *static_cast<unsigned*>(out[0]) = pinned(pointer(at)) ? 1 : 0;
  return 0;
}
int cuMemHostAlloc(void** out, size_t bytes, unsigned) {
  ENTRY();
  *out = ::operator new(bytes);
  return state().host[*out] = bytes, 0;
}
int cuMemFreeHost(void* at) {
  const Entry entry;
  do_late();
  if (!state().host.erase(at)) return kInvalidValue;
  return ::operator delete(at), 0;
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, void*) {
  ENTRY();
  if (!inside(to, bytes)) return kInvalidValue;
  const auto copy = [=] {
    const Reach reach;
    std::memcpy(pointer(to), from, bytes);
  };
  if (pinned(from)) return state().late.emplace_back(copy), 0;
  do_late();
  return copy(), 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, void*) {
  ENTRY();
  if (!inside(from, bytes)) return kInvalidValue;
  do_late();
  const Reach reach;
  return std::memcpy(to, pointer(from), bytes), 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void* stream) {
  ENTRY();
  if (!inside(from, bytes) || !inside(to, bytes)) return kInvalidValue;
  return enqueue(stream, [=] {
    const Reach reach;
    return std::memmove(pointer(to), pointer(from), bytes), 0;
  });
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes, void* stream) {
  ENTRY();
  if (!inside(to, bytes)) return kInvalidValue;
  return enqueue(stream, [=] {
    const Reach reach;
    return std::memset(pointer(to), value, bytes), 0;
  });
}
int cuMemsetD32Async(unsigned long long to, unsigned value, size_t words, void* stream) {
  ENTRY();
  if (!inside(to, words * 4)) return kInvalidValue;
  return enqueue(stream, [=] {
    const Reach reach;
    for (size_t i = 0; i < words; i++) std::memcpy(pointer(to) + 4 * i, &value, 4);
    return 0;
  });
}

int cuStreamBeginCapture_v2(void* stream, int) {
  ENTRY();
  if (!state().streams.count(stream) || state().capturing.count(stream)) return kInvalidValue;
  state().capturing[stream] = std::make_unique<Graph>();
  return 0;
}
int cuStreamGetCaptureInfo_v2(void* stream, int* capturing, unsigned long long*, void**, Node* const** dependencies, size_t* count) {
  ENTRY();
  *capturing = static_cast<int>(state().capturing.count(stream));
  if (!*capturing) return 0;
  return *dependencies = &state().last, *count = 1, 0;
}
int cuStreamEndCapture(void* stream, Graph** out) {
  ENTRY();
  auto found = state().capturing.find(stream);
  if (found == state().capturing.end()) return kInvalidValue;
  *out = found->second.release();
  return state().capturing.erase(found), state().graphs++, 0;
}
int cuGraphInstantiateWithFlags(Graph** out, Graph* graph, unsigned long long) {
  ENTRY();
  return *out = new Graph(*graph), state().graphs++, 0;
}
int cuGraphExecKernelNodeSetParams_v2(Graph*, Node* node, const KernelNode* with) {
  ENTRY();
  if (node->function != with->function) return kInvalidValue;
  node->blocks = {with->blocks[0], with->blocks[1], with->blocks[2]};
  node->threads = {with->threads[0], with->threads[1], with->threads[2]};
  return keep_arguments(*node, with->parameters), 0;
}
int cuGraphLaunch(Graph* graph, void*) {
  ENTRY();
  for (auto& node : graph->nodes)
    if (const int failed = run_node(*node)) return failed;
  return 0;
}
int cuGraphExecDestroy(Graph* graph) {
  const Entry entry;
  return delete graph, state().graphs--, 0;
}
int cuGraphDestroy(Graph* graph) {
  const Entry entry;
  return delete graph, state().graphs--, 0;
}

int cuStreamCreate(void** out, unsigned) {
  ENTRY();
  *out = new char;
  return state().streams.insert(*out), 0;
}
int cuStreamDestroy_v2(void* stream) {
  const Entry entry;
  if (!state().streams.erase(stream)) return kInvalidValue;
  state().capturing.erase(stream);
  return delete static_cast<char*>(stream), 0;
}
int cuStreamSynchronize(void*) {
  ENTRY();
  return do_late(), 0;
}
int cuStreamWaitEvent(void*, void* event, unsigned) {
  ENTRY();
  return state().events.count(event) ? 0 : kInvalidValue;
}
int cuEventCreate(void** out, unsigned) {
  ENTRY();
  *out = new char;
  return state().events.insert(*out), 0;
}
int cuEventDestroy_v2(void* event) {
  const Entry entry;
  if (!state().events.erase(event)) return kInvalidValue;
  return delete static_cast<char*>(event), 0;
}
int cuEventSynchronize(void* event) {
  ENTRY();
  if (!state().events.count(event)) return kInvalidValue;
  return do_late(), 0;
}
int cuEventRecord(void* event, void*) {
  ENTRY();
  return state().events.count(event) ? 0 : kInvalidValue;
}

// The image is a shared library, which says its length nowhere: its section headers are the last thing in it.
int cuModuleLoadData(Module** out, const void* image) {
  ENTRY();
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, "\177ELF", 4) != 0) return kInvalidImage;
  unsigned long long sections = 0;
  unsigned short size = 0, count = 0;
  std::memcpy(&sections, bytes + 40, 8), std::memcpy(&size, bytes + 58, 2), std::memcpy(&count, bytes + 60, 2);
  auto module = std::make_unique<Module>();
  module->file = memfd_create("kernel", 0);
  const size_t length = sections + size_t{size} * count;
  if (module->file < 0 || write(module->file, bytes, length) != static_cast<ssize_t>(length)) return kOutOfMemory;
  module->library = dlopen(("/proc/self/fd/" + std::to_string(module->file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module->library) return kInvalidValue;
  state().modules.insert(module.get());
  return *out = module.release(), 0;
}
int cuModuleUnload(Module* module) {
  const Entry entry;
  if (!state().modules.erase(module)) return kInvalidValue;
  dlclose(module->library), close(module->file);
  return delete module, 0;
}
int cuModuleGetFunction(Function** out, Module* module, const char* name) {
  ENTRY();
  const auto find = [&](const std::string& symbol) { return dlsym(module->library, symbol.c_str()); };
  auto f = std::make_unique<Function>();
  f->launch = reinterpret_cast<void (*)(void**)>(find(std::string("fake_launch_") + name));
  if (!f->launch) return kNotFound;
  f->thread = static_cast<Dim3*>(find("fake_thread")), f->block = static_cast<Dim3*>(find("fake_block"));
  f->threads = static_cast<Dim3*>(find("fake_threads")), f->blocks = static_cast<Dim3*>(find("fake_blocks"));
  f->barrier = static_cast<void (**)()>(find("fake_barrier"));
  f->sizes = static_cast<const unsigned long*>(find(std::string("fake_sizes_") + name));
  f->needs_barrier = *static_cast<const int*>(find("fake_needs_barrier")) != 0;
  *out = f.get();
  return state().functions.push_back(std::move(f)), 0;
}
int cuFuncSetAttribute(Function* function, int attribute, int value) {
  ENTRY();
  constexpr int kMaxDynamicSharedBytes = 8, kMost = 227 << 10;
  if (attribute != kMaxDynamicSharedBytes || value > kMost) return kInvalidValue;
  return function->most_shared = static_cast<unsigned>(value), 0;
}
int cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* stream,
                   void** parameters, void**) {
  ENTRY();
  State& s = state();
  const Dim3 grid{gx, gy, gz}, block{bx, by, bz};
  if (!count(grid) || !count(block) || count(block) > 1024 || shared > function->most_shared) return kInvalidValue;
  if (stream && !s.streams.count(stream)) return kInvalidValue;
  if (auto found = s.capturing.find(stream); found != s.capturing.end()) {
    auto node = std::make_shared<Node>(Node{{}, function, grid, block, {}});
    keep_arguments(*node, parameters);
    s.last = node.get();
    return found->second->nodes.push_back(std::move(node)), 0;
  }
  s.counts.launches++;
  do_late();
  const Reach reach;
  return run_grid(*function, grid, block, parameters), 0;
}
}
