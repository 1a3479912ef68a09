#include "executors/transfer/transfer.h"

#include "base/thrown.h"
#include "ops/widened.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

// Nodes live as long as the program that holds their store.
struct State {
  const Node& node;
  Devices& devices;
};

Status* prepare(const NodeView& view, void** state, size_t*, void* user) {
  return caught([&]() -> Status* {
    Devices& devices = *static_cast<Devices*>(user);
    // Opened now, so that a missing device is an error of compiling.
    const auto open = [&](ValueId v) {
      if (const Device device = view.store.type(v).device; device != Device::cpu) devices.accelerator(device);
    };
    for_each_value(view.node.args, open);
    for (ValueId r : view.node.results) open(r);
    *state = new State{view.node, devices};
    return nullptr;
  });
}
void drop(void* state) { delete static_cast<State*>(state); }

bool is_reshape(const Node& node) { return node.op->name() == "prims.reshape"; }

bool claim_transfer(const NodeView& view, void*) {
  return view.node.op->name() == "prims.to_device" || (is_reshape(view.node) && !is_on_cpu(view));
}

// A reshape that cannot be a view copies the elements in row-major order.
Status* copy_in_order(Accelerator& device, const Buffer& from, Buffer to) {
  const Sizes steps = dense_strides({from.shape, static_cast<size_t>(from.rank)});
  to.rank = from.rank, to.shape = from.shape, to.strides = steps.data();
  return copy_on_device(device, from, to);
}

Status* run_transfer(const Launch* launch, void* state) {
  return caught([&]() -> Status* {
    const State& s = *static_cast<const State*>(state);
    const Buffer& from = launch->inputs[0];
    if (is_reshape(s.node)) return copy_in_order(s.devices.accelerator(from.device), from, launch->outputs[0]);
    copy_elements(*tensor_over(from, s.devices), *tensor_over(launch->outputs[0], s.devices));
    return nullptr;
  });
}

bool claim_through_host(const NodeView& view, void*) {
  return !is_on_cpu(view) && def(view.node).has_kernel() && !def(view.node).has(kHidden);
}

// Copies of a node's operands and results in host memory.
class OnHost {
 public:
  OnHost(const Launch& launch, Devices& devices) : launch_(launch), devices_(devices) {
    for (size_t i = 0; i < launch.n_inputs; i++) in_.push_back(input(launch.inputs[i]));
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
  Buffer input(const Buffer& b) {
    if (!b.present() || b.device == Device::cpu) return b;
    return kept_.emplace_back(on_host(tensor_over(b, devices_), default_allocator()))->buffer();
  }

  const Launch& launch_;
  Devices& devices_;
  std::vector<Ref<Tensor>> kept_;  // the results last
  std::vector<Buffer> in_, out_;
};

Status* run_through_host(const Launch* launch, void* state) {
  return caught([&]() -> Status* {
    const State& s = *static_cast<State*>(state);
    const OnHost host(*launch, s.devices);
    if (Status* failed =
            run_reference(def(s.node), {host.in(), host.out(), s.node.args, &def(s.node), launch->threads}))
      return failed;
    host.copy_back();
    return nullptr;
  });
}

ExecutorDesc executor(const char* name, Devices& devices, bool (*claim)(const NodeView&, void*),
                      Status* (*run)(const Launch*, void*)) {
  ExecutorDesc d;
  d.name = name;
  d.flags = kStrided | kAnyDevice;
  d.user = &devices;
  d.claim = claim;
  d.prepare = prepare;
  d.run = run;
  d.drop = drop;
  return d;
}

}  // namespace

ExecutorDesc transfer_executor(Devices& devices) {
  return executor("transfer", devices, claim_transfer, run_transfer);
}

ExecutorDesc through_host_executor(Devices& devices) {
  return executor("through_host", devices, claim_through_host, run_through_host);
}

}  // namespace thunder
