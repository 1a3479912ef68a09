// Ops of the caller's: the library's own definition of an op over the caller's callbacks.
#pragma once

#include <atomic>

#include "capi/kernel.h"
#include "capi/node.h"
#include "ops/grad.h"
#include "tracer/builder_scope.h"

namespace thunder::capi {

// The result types that a meta function fills in.
struct TypesHandle : Handled {
  explicit TypesHandle(Types& t) : types(t) {}
  Types& types;
  const Ref<Status>& status() const { return status_; }
  void fail(Ref<Status> why) {
    if (!status_) status_ = std::move(why);
  }

 private:
  Ref<Status> status_;
};
THUNDER_HANDLE(types, TypesHandle)

// How a kind of device runs an op; lives as long as the op.
struct CustomKernel {
  thunder_kernel_desc desc{};
  std::unique_ptr<kernels::DeviceKernel> on_device;  // null: it is for the CPU
  ~CustomKernel() {
    if (desc.destroy) desc.destroy(desc.user);
  }
};

// The core's functions have no place for state: these find the op through Call::op and KernelArgs::op.
class CustomOp : public OpDef {
 public:
  // Throws when the descriptor is incomplete. `user` is the caller's until `own`.
  CustomOp(const thunder_op_desc& desc, Context& context);
  ~CustomOp() override;
  bool has_kernel() const override { return kernel_.load(std::memory_order_acquire) != nullptr; }
  const kernels::DeviceKernel* device_kernel(int32_t kind) const override;
  // Throws when there is one for that kind of device.
  void set_kernel(std::unique_ptr<CustomKernel> kernel);
  void own(void (*destroy)(void*)) { desc_.destroy = destroy; }

 private:
  static const CustomOp& of(const OpDef& op) { return static_cast<const CustomOp&>(op); }
  static void run_meta(const Call& call, Types& types);
  static Results run_decomposition(Call& call);
  static void run_vjp(Grad& grad);
  static void refuse_gradient(Grad& grad);
  static Status* run_kernel(const KernelArgs& kernel);
  void ask_meta(const Call& call, Types& types) const;
  void check_against_meta(const Call& call, const Results& results) const;
  // Calls the callback, and throws what it returned or left in the scope, with the op's name in front.
  void call(thunder_fn callback, BuilderScope& scope, Values& in, Values& out, std::string_view what) const;

  thunder_op_desc desc_;
  Context& context_;
  std::atomic<const CustomKernel*> kernel_{nullptr}, cuda_kernel_{nullptr};
  std::unique_ptr<CustomKernel> owned_, cuda_owned_;
};

}  // namespace thunder::capi
