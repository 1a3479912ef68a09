// Exchange with other libraries without a copy, in both generations of DLPack's structure.
#include "tensor/dlpack.h"

#include "capi/context.h"
#include "capi/tensor.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// Core knows what a CUDA tensor is; whether this library can reach its device is the context's to say.
void check_device(const DLDevice& d) {
  if (d.device_type != kDLPackCuda) return;
  device_of(static_cast<thunder_device>(d.device_type << 16 | (d.device_id & 0xffff)));
}

}  // namespace

extern "C" {

thunder_status* thunder_tensor_from_dlpack(thunder_context* context, DLManagedTensorVersioned* managed,
                                           thunder_tensor** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(managed, "managed"), need(out, "out");
    // Of another major version nothing but the deleter may be looked at.
    if (managed->version.major == kDLPackMajor) check_device(managed->dl_tensor.device);
    *out = given(from_dlpack(managed));
  }));
}

thunder_status* thunder_tensor_from_dlpack_legacy(thunder_context* context, DLManagedTensor* managed,
                                                  thunder_tensor** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(managed, "managed"), need(out, "out");
    check_device(managed->dl_tensor.device);
    *out = given(from_dlpack(managed));
  }));
}

thunder_status* thunder_tensor_to_dlpack(thunder_tensor* tensor, uint32_t max_major, thunder_stream*,
                                         DLManagedTensorVersioned** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_data(*core(tensor));
    check(max_major >= kDLPackMajor, "max_major is ", max_major, "; this library writes ", kDLPackMajor,
          ".x, or see thunder_tensor_to_dlpack_legacy");
    *out = to_dlpack_versioned(Ref<Tensor>(core(tensor)));
  }));
}

thunder_status* thunder_tensor_to_dlpack_legacy(thunder_tensor* tensor, thunder_stream*,
                                                DLManagedTensor** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_data(*core(tensor));
    *out = to_dlpack(Ref<Tensor>(core(tensor)));
  }));
}

}  // extern "C"
