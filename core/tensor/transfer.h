// Elements on their way between the host and other devices.
#pragma once

#include "device/devices.h"
#include "tensor/tensor.h"

namespace thunder {

// Copies the elements of a tensor to another of equal shape and dtype, wherever the two are. To the host: they are
// there when this returns. Throws what the device reports.
void copy_elements(const Tensor& from, const Tensor& to);

// The elements as dense row-major host memory of so many bytes, and back. Requires: concrete.
void read_elements(const Tensor& from, void* host);
void write_elements(const Tensor& to, const void* host);

// Requires: concrete, dense.
void fill_with_zeros(const Tensor& t);

// The tensor on that device: itself if it is there, else a new dense one.
Ref<Tensor> moved(const Ref<Tensor>& tensor, Devices& devices, Device device);
// The tensor on the CPU; as above.
Ref<Tensor> on_host(const Ref<Tensor>& tensor, const Allocator& allocator);

// Between strided buffers in one device's memory, of equal shape and dtype. Null, or an owned status.
Status* copy_on_device(Accelerator& accelerator, const Buffer& from, const Buffer& to);

// A handle for the memory of a buffer, which must outlive it.
Ref<Tensor> tensor_over(const Buffer& b, Devices& devices);

}  // namespace thunder
