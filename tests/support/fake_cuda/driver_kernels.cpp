// Kernels of the stand-in for libcuda: shared libraries that the stand-in for NVRTC made. Each thread of a block is a fiber.
#include <dlfcn.h>
#include <csetjmp>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "driver_state.h"

namespace fake_driver {
namespace {

constexpr size_t kStack = 128 << 10;
unsigned count(const Dim3& d) { return d.x * d.y * d.z; }
Dim3 place_in(const Dim3& sizes, unsigned n) { return {n % sizes.x, n / sizes.x % sizes.y, n / sizes.x / sizes.y}; }

// A fiber begins on a stack of its own by setcontext, which asks the system for its signal mask; from then on a switch is a
// jump from one to the next, which does not: at a barrier, and from one block to the next, for which it stays where it is.
struct Fiber {
  Dim3 thread{};
  bool begun = false, done = false;
  std::jmp_buf place;
  std::unique_ptr<char[]> stack{new char[kStack]};
};
struct Fibers {
  std::jmp_buf scheduler;
  std::vector<Fiber> all;
  size_t current = 0, left = 0;  // those that have not done their block
  const Function* function = nullptr;
  void** parameters = nullptr;
};
Fibers* running = nullptr;

void fiber_main();

[[noreturn]] void enter(size_t t) {
  Fiber& fiber = running->all[t];
  running->current = t, *running->function->thread = fiber.thread;
  if (fiber.begun) longjmp(fiber.place, 1);
  fiber.begun = true;
  ucontext_t context;
  getcontext(&context);
  // Where all stacks begin as far into a page, their first words share a few lines of the cache.
  constexpr size_t kApart = 13 * 64, kMostApart = kStack / 2;
  context.uc_stack.ss_sp = fiber.stack.get(), context.uc_stack.ss_size = kStack - t * kApart % kMostApart;
  context.uc_link = nullptr;
  makecontext(&context, fiber_main, 0);
  setcontext(&context);
  __builtin_unreachable();
}
// Until it is this one's turn again: all others come first.
void barrier() {
  Fibers& f = *running;
  if (setjmp(f.all[f.current].place)) return;
  if (!f.left) longjmp(f.scheduler, 1);
  size_t next = f.current;
  do next = next + 1 == f.all.size() ? 0 : next + 1;
  while (f.all[next].done);
  enter(next);
}
void fiber_main() {
  for (;;) {
    running->function->launch(running->parameters);
    running->all[running->current].done = true, running->left--;
    barrier();
  }
}

void run_block(Fibers& f) {
  for (Fiber& fiber : f.all) fiber.done = false;
  f.left = f.all.size();
  if (!setjmp(f.scheduler)) enter(0);
}

}  // namespace

void run_grid(const Function& function, Dim3 grid, Dim3 block, void** parameters) {
  *function.threads = block, *function.blocks = grid, *function.barrier = barrier;
  const unsigned blocks = count(grid), threads = count(block);
  Fibers fibers;
  fibers.function = &function, fibers.parameters = parameters;
  if (function.needs_barrier) fibers.all.resize(threads);
  for (unsigned t = 0; t < fibers.all.size(); t++) fibers.all[t].thread = place_in(block, t);
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

}  // namespace fake_driver

using namespace fake_driver;

extern "C" {

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
  stream = known(stream);
  if (!s.streams.count(stream)) return kInvalidValue;
  if (auto found = s.capturing.find(stream); found != s.capturing.end()) {
    auto node = std::make_shared<Node>(Node{{}, function, grid, block, {}});
    keep_arguments(*node, parameters);
    s.last = node.get();
    return found->second->nodes.push_back(std::move(node)), 0;
  }
  s.counts.launches++;
  if (must_wait(stream)) {
    auto node = std::make_shared<Node>(Node{{}, function, grid, block, {}});
    keep_arguments(*node, parameters);
    return enqueue(stream, [node] { return run_node(*node); });
  }
  do_late();
  const Reach reach;
  return run_grid(*function, grid, block, parameters), 0;
}
}
