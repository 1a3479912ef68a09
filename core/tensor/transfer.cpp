#include "tensor/transfer.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {
namespace {

void throw_if_failed(Status* failed) {
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

Accelerator* accelerator(const Tensor& t) { return t.storage()->accelerator(); }

bool is_empty(const Tensor& t) { return t.elements() == 0; }

// A host tensor over existing memory, which must outlive it.
Ref<Tensor> host_view(const Tensor& like, void* host) {
  TensorType type = like.type();
  type.device = Device::cpu;
  return Tensor::view(Storage::borrow(host, like.bytes(), nullptr, nullptr), type, dense_strides(type.shape), 0);
}

Ref<Tensor> dense_on(Accelerator* device, const Tensor& like) {
  TensorType type = like.type();
  type.device = device ? device->id() : Device::cpu;
  return Tensor::empty(device ? device->allocator() : default_allocator(), type);
}

}  // namespace

Status* copy_on_device(Accelerator& accelerator, const Buffer& from, const Buffer& to) {
  const auto item = static_cast<int64_t>(size_of(from.dtype));
  Sizes from_steps, to_steps;
  for (int32_t d = 0; d < from.rank; d++)
    from_steps.push_back(from.strides[d] * item), to_steps.push_back(to.strides[d] * item);
  return accelerator.copy({from.as<std::byte>(), from.rank, from.shape, from_steps.data()},
                          {to.as<std::byte>(), to.rank, to.shape, to_steps.data()}, static_cast<size_t>(item));
}

void copy_elements(const Tensor& from, const Tensor& to) {
  Accelerator *source = accelerator(from), *target = accelerator(to);
  if (is_empty(from)) return;
  if (!source && !target) return copy_strided(from.buffer(), to.buffer());
  if (source == target) return throw_if_failed(copy_on_device(*source, from.buffer(), to.buffer()));
  // Between host and device whole dense blocks are copied: strided tensors are packed before and unpacked after.
  if (!from.contiguous()) return copy_elements(*dense_copy(default_allocator(), from), to);
  if (!to.contiguous()) {
    const Ref<Tensor> dense = dense_on(target, to);
    copy_elements(from, *dense);
    return copy_elements(*dense, to);
  }
  if (source && target) {
    const Ref<Tensor> host = dense_on(nullptr, from);
    copy_elements(from, *host);
    return copy_elements(*host, to);
  }
  throw_if_failed(source ? source->copy_out(to.data(), from.data(), from.bytes())
                         : target->copy_in(to.data(), from.data(), from.bytes()));
}

void read_elements(const Tensor& from, void* host) { copy_elements(from, *host_view(from, host)); }
void write_elements(const Tensor& to, const void* host) { copy_elements(*host_view(to, const_cast<void*>(host)), to); }

void fill_with_zeros(const Tensor& t) {
  if (Accelerator* device = accelerator(t)) return throw_if_failed(device->fill_with_zeros(t.data(), t.bytes()));
  std::fill_n(t.data(), t.bytes(), std::byte{0});
}

Ref<Tensor> moved(const Ref<Tensor>& tensor, Devices& devices, Device device) {
  if (tensor->type().device == device) return tensor;
  TensorType type = tensor->type();
  type.device = device;
  Ref<Tensor> out = Tensor::empty(devices.allocator(device), type);
  copy_elements(*tensor, *out);
  return out;
}

Ref<Tensor> on_host(const Ref<Tensor>& tensor, const Allocator& allocator) {
  if (tensor->type().device == Device::cpu) return tensor;
  TensorType type = tensor->type();
  type.device = Device::cpu;
  Ref<Tensor> out = Tensor::empty(allocator, type);
  copy_elements(*tensor, *out);
  return out;
}

Ref<Tensor> tensor_over(const Buffer& b, Devices& devices) {
  TensorType type;
  type.dtype = b.dtype, type.device = b.device;
  for (int32_t d = 0; d < b.rank; d++) type.shape.push_back(b.shape[d]);
  Accelerator* const device = b.device == Device::cpu ? nullptr : &devices.accelerator(b.device);
  return Tensor::view(Storage::borrow(b.data, 0, nullptr, nullptr, device), type, Sizes(b.strides, b.strides + b.rank),
                      0);
}

}  // namespace thunder
