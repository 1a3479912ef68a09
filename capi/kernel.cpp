// thunder_context_add_kernel: how a device runs an op of the caller's.
#include <dlfcn.h>

#include "base/nesting.h"
#include "capi/callback.h"
#include "capi/op.h"
#include "device/memory.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {
namespace {

using Run = thunder_status* (*)(const thunder_launch*, const thunder_any*, void*);

Status* parallel_for(const Launch* launch, int64_t n, int64_t grain, ThreadPool::Body body, void* arg) {
  return launch->threads ? launch->threads->parallel_for(n, grain, body, arg) : n > 0 ? body(0, n, arg) : nullptr;
}

bool dense(const Buffer& b) {
  int64_t expected = 1;
  for (int32_t i = b.rank; i-- > 0; expected *= b.shape[i])
    if (b.shape[i] != 1 && b.strides[i] != expected) return b.elements() == 0;
  return true;
}

// The arguments of one call as the kernel gets them, and dense copies of the inputs where it wants those.
struct KernelCall {
  std::vector<thunder_any> args;
  std::vector<std::vector<int64_t>> lists;
  std::vector<Buffer> inputs;
  std::vector<Ref<Storage>> copies;
  std::vector<Sizes> strides;

  KernelCall(const Kernel& kernel, bool make_dense) : inputs(kernel.in.begin(), kernel.in.end()) {
    lists.reserve(kernel.args.size());
    for (const Arg& a : kernel.args) args.push_back(leaf(a));
    strides.reserve(inputs.size());
    for (Buffer& b : inputs)
      if (make_dense && b.present() && !dense(b)) densify(b);
  }

 private:
  thunder_any leaf(const Arg& a) {
    thunder_any any{};
    if (a.kind == ArgKind::value || a.kind == ArgKind::values) return any;
    any.kind = static_cast<thunder_kind>(a.kind), any.count = a.count, any.u.i = a.i;
    if (a.kind == ArgKind::real) any.u.f = a.f;
    if (a.kind == ArgKind::string) any.u.s = a.s;
    if (a.kind == ArgKind::reals) any.u.fs = a.fs;
    if (a.kind == ArgKind::dims) {
      auto& list = lists.emplace_back();
      for (Dim d : a.dim_list()) list.push_back(hint(d));
      any.u.d = list.data();
    }
    return any;
  }

  void densify(Buffer& b) {
    auto& own = strides.emplace_back(dense_strides(std::span(b.shape, static_cast<size_t>(b.rank))));
    copies.push_back(Storage::allocate(default_allocator(), static_cast<size_t>(b.elements()) * size_of(b.dtype)));
    Buffer copy = b;
    copy.data = copies.back()->data();
    copy.strides = own.data();
    copy_strided(b, copy);
    b = copy;
  }
};

Run find_symbol(const char* library, const char* symbol) {
  check(library && symbol, "a kernel has `run`, or `library` and `symbol`");
  // Never closed: programs may hold it as long as the process does.
  void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened) throw Refusal{Code::not_found, cat("cannot load '", library, "': ", dlerror())};
  void* found = dlsym(opened, symbol);
  if (!found) throw Refusal{Code::not_found, cat("'", library, "' has no symbol '", symbol, "'")};
  return reinterpret_cast<Run>(found);
}

}  // namespace

Status* CustomOp::run_kernel(const Kernel& kernel) {
  const CustomOp& self = of(*kernel.op);
  return guarded(self.schema.name.c_str(), [&] {
    const CustomKernel* found = self.kernel_.load(std::memory_order_acquire);
    if (!found)
      fail(Code::unimplemented, self.name(),
           ": it has no kernel for the CPU; give it one (`host` of a script's op, thunder_context_add_kernel in C)");
    const KernelCall call(kernel, !(found->desc.flags & THUNDER_EXECUTOR_STRIDED));
    Launch launch;
    launch.inputs = call.inputs.data(), launch.n_inputs = call.inputs.size();
    launch.outputs = kernel.out.data(), launch.n_outputs = kernel.out.size();
    launch.parallel_for = parallel_for;
    launch.threads = kernel.threads;
    const Nesting inside(self.name());
    auto failed = called("it", [&] { return found->desc.run(handle(&launch), call.args.data(), found->desc.user); });
    if (!failed) return;
    if (failed->has_foreign() || failed->placed()) throw Error(failed);
    throw Error(failed->code(), cat(self.name(), ": its kernel: ", failed->message()));
  });
}

void CustomOp::set_kernel(std::unique_ptr<CustomKernel> kernel) {
  const CustomKernel* none = nullptr;
  if (!kernel_.compare_exchange_strong(none, kernel.get(), std::memory_order_acq_rel)) {
    kernel->desc.destroy = nullptr;  // the caller of this still has it
    throw Refusal{Code::invalid_argument, cat("op '", name(), "' already has a kernel for the CPU")};
  }
  owned_ = std::move(kernel);
}

}  // namespace thunder::capi

extern "C" thunder_status* thunder_context_add_kernel(thunder_context* context, const char* op,
                                                      const thunder_kernel_desc* desc) noexcept {
  return handle(guarded(__func__, [&] {
    need(desc, "desc");
    thunder_kernel_desc copy = copied(desc);
    UserGuard guard(copy.destroy, copy.user);
    auto kernel = std::make_unique<CustomKernel>();
    need(context, "context"), need(op, "op");
    const OpDef& found = core(context)->registry().get(op);
    const auto* custom = dynamic_cast<const CustomOp*>(&found);
    check(custom != nullptr, "op '", op, "' is the library's own; an executor can claim it");
    check((copy.flags & ~uint32_t{THUNDER_EXECUTOR_STRIDED}) == 0, "unknown flags ", copy.flags);
    const Device device = device_of(*core(context), copy.device);
    check(device == Device::cpu, "a kernel of a caller runs on the CPU, so far; the device is ", name(device));
    if (!copy.run) copy.run = find_symbol(copy.library, copy.symbol);
    kernel->desc = copy;
    const_cast<CustomOp*>(custom)->set_kernel(std::move(kernel));  // ours: the registry hands out const ops
    guard.dismiss();
  }));
}
