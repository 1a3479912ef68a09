#include "executors/transfer/transfer.h"

#include "base/thrown.h"
#include "ir/prim.h"
#include "ops/widened.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

// Nodes live as long as the program that holds their store.
class KernelOnDevices : public Kernel {
 protected:
  // Opens the devices, so that a missing one is an error of compiling.
  template <class K>
  KernelOnDevices(const K* self, const NodeView& view, Devices& devices)
      : Kernel(self), node_(view.node), devices_(devices) {
    const auto open = [&](ValueId v) {
      if (const Device device = view.store.type(v).device; device != Device::cpu) devices.accelerator(device);
    };
    for_each_value(view.node.args, open);
    for (ValueId r : view.node.results) open(r);
  }
  const Node& node_;
  Devices& devices_;
};

template <class K>
KernelPtr prepare(const NodeView& view, void* user) {
  return std::make_unique<K>(view, *static_cast<Devices*>(user));
}

bool is_reshape(const Node& node) { return node.op->id == Prim::reshape; }

bool claim_transfer(const NodeView& view, void*) {
  return view.node.op->id == Prim::to_device || (is_reshape(view.node) && !is_on_cpu(view));
}

// A reshape that cannot be a view copies the elements in row-major order.
Status* copy_in_order(Accelerator& device, const Buffer& from, Buffer to) {
  const Sizes steps = dense_strides({from.shape, static_cast<size_t>(from.rank)});
  to.rank = from.rank, to.shape = from.shape, to.strides = steps.data();
  return copy_on_device(device, from, to);
}

class TransferKernel : public KernelOnDevices {
 public:
  TransferKernel(const NodeView& view, Devices& devices) : KernelOnDevices(this, view, devices) {}
  Status* run(const Launch* launch) const {
    return catch_as_status([&]() -> Status* {
      const Buffer& from = launch->inputs[0];
      if (is_reshape(node_)) return copy_in_order(devices_.accelerator(from.device), from, launch->outputs[0]);
      copy_elements(*tensor_over(from, devices_), *tensor_over(launch->outputs[0], devices_));
      return nullptr;
    });
  }
};

bool claim_through_host(const NodeView& view, void*) {
  return !is_on_cpu(view) && def(view.node).has_kernel() && !def(view.node).has(kHidden);
}

// Copies of a node's operands and results in host memory.
class OnHost {
 public:
  OnHost(const Launch& launch, Devices& devices) : launch_(launch), devices_(devices) {
    for (size_t i = 0; i < launch.n_inputs; i++) in_.push_back(host_copy_of(launch.inputs[i]));
    for (size_t i = 0; i < launch.n_outputs; i++) {
      const Ref<Tensor> at = tensor_over(launch.outputs[i], devices);
      out_.push_back(kept_.emplace_back(host_like(*at))->buffer());
    }
  }
  std::span<const Buffer> in() const { return in_; }
  std::span<const Buffer> out() const { return out_; }
  void copy_back() const {
    for (size_t i = 0; i < out_.size(); i++)
      copy_elements(*kept_[kept_.size() - out_.size() + i], *tensor_over(launch_.outputs[i], devices_));
  }

 private:
  static Ref<Tensor> host_like(const Tensor& t) {
    TensorType type = t.type();
    type.device = Device::cpu;
    return Tensor::empty(default_allocator(), type);
  }
  Buffer host_copy_of(const Buffer& b) {
    if (!b.present() || b.device == Device::cpu) return b;
    return kept_.emplace_back(on_host(tensor_over(b, devices_), default_allocator()))->buffer();
  }

  const Launch& launch_;
  Devices& devices_;
  std::vector<Ref<Tensor>> kept_;  // the results last
  std::vector<Buffer> in_, out_;
};

class ThroughHostKernel : public KernelOnDevices {
 public:
  ThroughHostKernel(const NodeView& view, Devices& devices) : KernelOnDevices(this, view, devices) {}
  Status* run(const Launch* launch) const {
    return catch_as_status([&]() -> Status* {
      const OnHost host(*launch, devices_);
      const OpDef& op = def(node_);
      if (Status* failed = run_reference(op, {host.in(), host.out(), node_.args, &op, launch->threads})) return failed;
      host.copy_back();
      return nullptr;
    });
  }
};

template <class K>
ExecutorDesc executor(const char* name, Devices& devices, bool (*claim)(const NodeView&, void*)) {
  return {.name = name,
          .flags = kStrided,
          .any_device = true,
          .claims_any_size = true,
          .user = &devices,
          .claim = claim,
          .prepare = prepare<K>};
}

}  // namespace

ExecutorDesc transfer_executor(Devices& devices) {
  return executor<TransferKernel>("transfer", devices, claim_transfer);
}

ExecutorDesc through_host_executor(Devices& devices) {
  return executor<ThroughHostKernel>("through_host", devices, claim_through_host);
}

}  // namespace thunder
