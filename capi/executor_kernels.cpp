#include "capi/executor_kernels.h"

#include "capi/callback.h"

namespace thunder::capi {
namespace {

void destroy(const thunder_kernel_desc& d) {
  if (d.destroy) d.destroy(d.user);
}

std::vector<thunder_kernel_desc> copy_kernel_descs(const thunder_executor_desc& executor) {
  try {
    std::vector<thunder_kernel_desc> out(executor.n_kernels);
    for (size_t i = 0; i < out.size(); i++) out[i] = copy_descriptor(executor.kernels[i]);
    return out;
  } catch (...) {
    for (size_t i = 0; i < executor.n_kernels; i++) destroy(copy_descriptor(executor.kernels[i]));
    throw;
  }
}

}  // namespace

ExecutorKernels::ExecutorKernels(const thunder_executor_desc& executor, Context& context)
    : descs_(copy_kernel_descs(executor)) {
  try {
    const std::string whose = cat("executor '", executor.name ? executor.name : "", "'");
    const std::vector<std::string> ops = texts_of(executor.kernel_ops, executor.n_kernels, "kernel_op", whose);
    for (size_t i = 0; i < ops.size(); i++) {
      thunder_kernel_desc& d = descs_[i];
      const std::string what = cat(whose, ", the kernel of ", ops[i]);
      check(executor.kernels[i], what, " is NULL");
      check((d.flags & ~uint32_t{THUNDER_EXECUTOR_STRIDED}) == 0, what, ": unknown flags ", d.flags);
      find_run(d);
      auto made = device_kernel(d, context.registry().get(ops[i]).schema);
      on_devices_ = on_devices_ || made->device_kind() != kCpuKind;
      check(by_op_.emplace(ops[i], std::move(made)).second, what, " is there twice");
    }
  } catch (...) {
    for (const thunder_kernel_desc& d : descs_) destroy(d);
    throw;
  }
}

ExecutorKernels::~ExecutorKernels() {
  for (const thunder_kernel_desc& d : descs_) destroy(d);
}

std::vector<std::string> ExecutorKernels::ops() const {
  std::vector<std::string> out;
  for (auto& [op, kernel] : by_op_) out.push_back(op);
  return out;
}

const kernels::DeviceKernel* ExecutorKernels::find(const NodeView& view) const {
  const auto found = by_op_.find(std::string(view.node.op->name()));
  if (found == by_op_.end()) return nullptr;
  return is_on_one_device(view, found->second->device_kind()) ? found->second.get() : nullptr;
}

}  // namespace thunder::capi
