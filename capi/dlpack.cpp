// Exchange with other libraries without a copy, in both generations of DLPack's structure.
#include "tensor/dlpack.h"

#include "capi/context.h"
#include "capi/stream.h"
#include "capi/tensor.h"
#include "device/exchange.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// The device of a CUDA tensor. Null: host memory. Throws where the context has no such device.
Accelerator* device_of(Context& context, const DLDevice& d) {
  if (d.device_type != kDLPackCuda) return nullptr;
  return &context.devices().accelerator(
      capi::device_of(context, static_cast<thunder_device>(d.device_type << 16 | (d.device_id & 0xffff))));
}

// The same for a producer that works on the legacy default stream, unless it says otherwise: its work so far is done
// first.
Accelerator* wait_for_producer(Context& context, const DLDevice& d) {
  Accelerator* const owner = device_of(context, d);
  if (Status* failed = owner ? owner->wait_for(nullptr) : nullptr) throw Error(Ref<Status>::adopt(failed));
  return owner;
}

// The consumer's work on its stream (by default the legacy default one) waits for the library's.
void let_consumer_wait(const Tensor& tensor, const thunder_stream* stream) {
  Accelerator* const owner = tensor.storage()->accelerator();
  if (Status* failed = owner ? owner->make_stream_wait(native_stream(stream)) : nullptr)
    throw Error(Ref<Status>::adopt(failed));
}

}  // namespace

extern "C" {

thunder_status* thunder_tensor_from_dlpack(thunder_context* context, DLManagedTensorVersioned* managed,
                                           thunder_tensor** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(managed, "managed"), need(out, "out");
    // If the major version differs, only the deleter may be read.
    Accelerator* owner =
        managed->version.major == kDLPackMajor ? wait_for_producer(*core(context), managed->dl_tensor.device) : nullptr;
    *out = given(from_dlpack(managed, owner));
  }));
}

thunder_status* thunder_tensor_from_dlpack_unordered(thunder_context* context, DLManagedTensorVersioned* managed,
                                                     thunder_tensor** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(managed, "managed"), need(out, "out");
    Accelerator* owner =
        managed->version.major == kDLPackMajor ? device_of(*core(context), managed->dl_tensor.device) : nullptr;
    *out = given(from_dlpack(managed, owner, Lent::for_the_call));
  }));
}

thunder_status* thunder_tensor_from_dlpack_legacy(thunder_context* context, DLManagedTensor* managed,
                                                  thunder_tensor** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(managed, "managed"), need(out, "out");
    *out = given(from_dlpack(managed, wait_for_producer(*core(context), managed->dl_tensor.device)));
  }));
}

thunder_status* thunder_tensor_to_dlpack(thunder_tensor* tensor, uint32_t max_major, thunder_stream* stream,
                                         DLManagedTensorVersioned** out) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_data(*core(tensor));
    check(max_major >= kDLPackMajor, "max_major is ", max_major, "; this library writes ", kDLPackMajor,
          ".x, or see thunder_tensor_to_dlpack_legacy");
    let_consumer_wait(*core(tensor), stream);
    *out = to_dlpack_versioned(Ref<Tensor>(core(tensor)), native_stream(stream));
  }));
}

thunder_status* thunder_tensor_to_dlpack_unordered(thunder_tensor* tensor, thunder_stream* stream,
                                                   DLManagedTensorVersioned** out) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_data(*core(tensor));
    *out = to_dlpack_versioned(Ref<Tensor>(core(tensor)), native_stream(stream));
  }));
}

thunder_status* thunder_tensor_to_dlpack_legacy(thunder_tensor* tensor, thunder_stream* stream,
                                                DLManagedTensor** out) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_data(*core(tensor));
    let_consumer_wait(*core(tensor), stream);
    *out = to_dlpack(Ref<Tensor>(core(tensor)), native_stream(stream));
  }));
}

thunder_status* thunder_tensor_lent_on(thunder_tensor* tensor, thunder_stream* stream) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(stream, "stream");
    const Tensor& t = *core(tensor);
    need_data(t);
    Accelerator* const owner = t.storage()->accelerator();
    check(owner && !t.storage()->owned(), "the tensor's memory was not lent by others on a device");
    if (Status* failed = owner->wait_for(native_stream(stream))) throw Error(Ref<Status>::adopt(failed));
    exchange_of(*owner).note_lender_stream(t.storage().get(), native_stream(stream));
  }));
}

}  // extern "C"
