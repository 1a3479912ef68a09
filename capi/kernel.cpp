// thunder_context_add_kernel: how a device runs an op of the caller's.
#include "capi/kernel.h"

#include <dlfcn.h>

#include "base/nesting.h"
#include "capi/callback.h"
#include "capi/op.h"
#include "device/memory.h"
#include "executors/cuda/kernels/cuda_kernel.h"

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

// The arguments of a line as a kernel gets them; tensors and None are THUNDER_NONE.
struct KernelArguments {
  std::vector<thunder_any> leaves;
  std::vector<std::vector<int64_t>> lists;

  explicit KernelArguments(std::span<const Arg> args) {
    lists.reserve(args.size());
    for (const Arg& a : args) leaves.push_back(to_c_value(a));
  }
  KernelArguments(const KernelArguments&) = delete;

 private:
  thunder_any to_c_value(const Arg& a) {
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
};

// The inputs of one call; those that the kernel cannot read in place are copied to dense memory.
struct KernelInputs {
  std::vector<Buffer> inputs;
  std::vector<Ref<Storage>> copies;
  std::vector<Sizes> strides;

  KernelInputs(const KernelArgs& kernel, bool make_dense) : inputs(kernel.in.begin(), kernel.in.end()) {
    strides.reserve(inputs.size());
    for (Buffer& b : inputs)
      if (make_dense && b.present() && !dense(b)) densify(b);
  }

 private:
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

// A kernel that calls a caller's function, which launches the work itself on the given stream.
class CallbackKernel : public Kernel {
 public:
  CallbackKernel(const thunder_kernel_desc& desc, const Node& node) : Kernel(this), desc_(desc), args_(node.args) {
    add_flags(kMayFail | (desc.flags & THUNDER_EXECUTOR_STRIDED));  // no CUDA graph records it
  }
  Status* run(const Launch* launch) const {
    return call_with_status("its kernel", [&] { return desc_.run(handle(launch), args_.leaves.data(), desc_.user); })
        .detach();
  }

 private:
  const thunder_kernel_desc& desc_;
  const KernelArguments args_;
};

class CalledKernel : public kernels::DeviceKernel {
 public:
  explicit CalledKernel(const thunder_kernel_desc& desc) : desc_(desc) {}
  int32_t device_kind() const override { return kind_of(desc_); }
  KernelPtr prepare(const NodeView& view, Devices&) const override {
    return std::make_unique<CallbackKernel>(desc_, view.node);
  }

 private:
  const thunder_kernel_desc desc_;
};

std::string text_or_empty(const char* text) {
  return text ? text : "";
}

Run find_symbol(const char* library, const char* symbol) {
  check(library && symbol,
        "a kernel has `run`, or `library` and `symbol`, or for CUDA devices `source` or `image`, and `symbol`");
  // Never closed: programs may hold it as long as the process does.
  void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened) throw Refusal{Code::not_found, cat("cannot load '", library, "': ", dlerror())};
  void* found = dlsym(opened, symbol);
  if (!found) throw Refusal{Code::not_found, cat("'", library, "' has no symbol '", symbol, "'")};
  return reinterpret_cast<Run>(found);
}

}  // namespace

int32_t kind_of(const thunder_kernel_desc& desc) {
  return desc.device ? desc.device >> 16 : kCpuKind;
}

void find_run(thunder_kernel_desc& desc) {
  if (!desc.run && !desc.source && !desc.image) desc.run = find_symbol(desc.library, desc.symbol);
}

std::unique_ptr<kernels::DeviceKernel> device_kernel(const thunder_kernel_desc& desc, const Schema& schema) {
  if (desc.run) return std::make_unique<CalledKernel>(desc);
  kernels::CudaKernelDesc d;
  d.function = text_or_empty(desc.symbol), d.source = text_or_empty(desc.source);
  if (desc.image) d.image.assign(static_cast<const char*>(desc.image), desc.image_bytes);
  d.options = texts_of(desc.options, desc.n_options, "option", cat("kernel '", d.function, "'"));
  d.parameters = text_or_empty(desc.parameters);
  d.grid = text_or_empty(desc.grid), d.block = text_or_empty(desc.block);
  d.shared_bytes = text_or_empty(desc.shared_bytes);
  d.strided = desc.flags & THUNDER_EXECUTOR_STRIDED;
  return kernels::cuda_kernel(std::move(d), schema);
}

Status* CustomOp::run_kernel(const KernelArgs& kernel) {
  const CustomOp& self = of(*kernel.op);
  return guarded(self.schema.name.c_str(), [&] {
    const CustomKernel* found = self.kernel_.load(std::memory_order_acquire);
    if (!found)
      fail(Code::unimplemented, self.name(),
           ": it has no kernel for the CPU; give it one (`host` of a script's op, thunder_context_add_kernel in C)");
    const KernelArguments args(kernel.args);
    const KernelInputs call(kernel, !(found->desc.flags & THUNDER_EXECUTOR_STRIDED));
    Launch launch;
    launch.inputs = call.inputs.data(), launch.n_inputs = call.inputs.size();
    launch.outputs = kernel.out.data(), launch.n_outputs = kernel.out.size();
    launch.parallel_for = parallel_for;
    launch.threads = kernel.threads;
    const Nesting inside(self.name());
    auto failed =
        call_with_status("it", [&] { return found->desc.run(handle(&launch), args.leaves.data(), found->desc.user); });
    if (!failed) return;
    if (failed->has_foreign() || failed->names_callers()) throw Error(failed);
    throw Error(failed->code(), cat(self.name(), ": its kernel: ", failed->message()));
  });
}

const kernels::DeviceKernel* CustomOp::device_kernel(int32_t kind) const {
  const CustomKernel* const found = kind == kCudaKind ? cuda_kernel_.load(std::memory_order_acquire) : nullptr;
  return found ? found->on_device.get() : nullptr;
}

void CustomOp::set_kernel(std::unique_ptr<CustomKernel> kernel) {
  const bool cuda = kernel->on_device != nullptr;
  const CustomKernel* none = nullptr;
  if (!(cuda ? cuda_kernel_ : kernel_).compare_exchange_strong(none, kernel.get(), std::memory_order_acq_rel)) {
    kernel->desc.destroy = nullptr;  // the caller of this still has it
    throw Refusal{Code::invalid_argument,
                  cat("op '", name(), "' already has a kernel for ", cuda ? "CUDA devices" : "the CPU")};
  }
  (cuda ? cuda_owned_ : owned_) = std::move(kernel);
}

}  // namespace thunder::capi

extern "C" thunder_status* thunder_context_add_kernel(thunder_context* context, const char* op,
                                                      const thunder_kernel_desc* desc) noexcept {
  return given(guarded(__func__, [&] {
    need(desc, "desc");
    thunder_kernel_desc copy = copy_descriptor(desc);
    UserGuard guard(copy.destroy, copy.user);
    auto kernel = std::make_unique<CustomKernel>();
    need(context, "context"), need(op, "op");
    const OpDef& found = core(context)->registry().get(op);
    const auto* custom = dynamic_cast<const CustomOp*>(&found);
    check(custom != nullptr, "op '", op, "' is the library's own; an executor can claim it");
    check((copy.flags & ~uint32_t{THUNDER_EXECUTOR_STRIDED}) == 0, "unknown flags ", copy.flags);
    const int32_t kind = kind_of(copy);
    check(kind == kCpuKind || kind == kCudaKind, "a kernel is for the CPU or for CUDA devices; the device is ",
          copy.device);
    check(kind == kCudaKind || (!copy.source && !copy.image),
          "a kernel for the CPU has `run`, or `library` and `symbol`; `source` and `image` are for CUDA devices");
    find_run(copy);
    if (kind == kCudaKind) kernel->on_device = device_kernel(copy, found.schema);
    kernel->desc = copy;
    const_cast<CustomOp*>(custom)->set_kernel(std::move(kernel));  // ours: the registry hands out const ops
    guard.dismiss();
  }));
}
