// Tensors to and from other libraries without a copy.
#pragma once

#include "tensor/dlpack_abi.h"
#include "tensor/tensor.h"

namespace thunder {

DLDataType dlpack_type(DType dtype);

// When memory of a device is its lender's again: when our work on it is done, or with the last handle, where the
// lender's own stream waits for the call that uses it.
enum class Lent : uint8_t { until_work_is_done, for_the_call };

// Takes `managed` over: its deleter, which may be null, runs once, when the last use of the memory ends. When this
// throws, nothing was taken and the caller still owns it; of another major version only the deleter may be touched.
// `owner`: whose memory it is; null: the host's.
Ref<Tensor> from_dlpack(DLManagedTensorVersioned* managed, Accelerator* owner = nullptr,
                        Lent lent = Lent::until_work_is_done);
Ref<Tensor> from_dlpack(DLManagedTensor* managed, Accelerator* owner = nullptr);

// Keeps the memory until the consumer calls the deleter, on any thread. A read-only tensor cannot be passed on
// through the unversioned structure, which has no way to say so. `stream`: of a tensor of a device, where the consumer
// works (null: the legacy default stream); what we do with the memory after the deleter comes after what is there.
DLManagedTensorVersioned* to_dlpack_versioned(const Ref<Tensor>& tensor, void* stream = nullptr);
DLManagedTensor* to_dlpack(const Ref<Tensor>& tensor, void* stream = nullptr);

}  // namespace thunder
