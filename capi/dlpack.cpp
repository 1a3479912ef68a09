// Exchange with other libraries without a copy. Both generations of the structure share everything but their envelope.
#include "capi/dlpack.h"

#include "capi/context.h"
#include "capi/tensor.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

TensorType described(const DLTensor& t) {
  const auto device = static_cast<thunder_device>(t.device.device_type << 16 | (t.device.device_id & 0xffff));
  check(t.dtype.lanes == 1, "elements of ", t.dtype.lanes, " lanes");
  check(t.ndim >= 0, "a rank of ", t.ndim);
  return type_of(t.dtype.code << 8 | t.dtype.bits, static_cast<size_t>(t.ndim), t.shape, device);
}

template <class Managed>
struct Owner {
  Managed* managed = nullptr;
  static void done(void* user) {
    auto* self = static_cast<Owner*>(user);
    if (self->managed && self->managed->deleter) self->managed->deleter(self->managed);
    delete self;
  }
};

// The memory runs from the lowest element that the strides reach to the highest.
template <class Managed>
Ref<Tensor> adopt(Managed* managed) {
  const DLTensor& t = managed->dl_tensor;
  const TensorType type = described(t);
  const Sizes strides = strides_of(type, t.strides);
  const Extent touched = extent(concrete(type.shape), strides, size_of(type.dtype));
  if (touched.end != touched.begin) need(t.data, "the data");
  auto* first = static_cast<std::byte*>(t.data) + t.byte_offset;
  check_aligned(first, type.dtype);
  const auto bytes = static_cast<size_t>(touched.end - touched.begin);
  // The caller keeps the structure when this fails, so the deleter is armed only after the view is there.
  auto owner = std::make_unique<Owner<Managed>>();
  auto storage = Storage::borrow(first + touched.begin, bytes, Owner<Managed>::done, owner.get());
  Owner<Managed>* armed = owner.release();
  auto view = Tensor::view(std::move(storage), type, strides, static_cast<size_t>(-touched.begin));
  armed->managed = managed;
  return view;
}

// What our structures point to; deleted by their consumer.
template <class Managed>
struct Export {
  Managed managed{};
  Ref<Tensor> tensor;
  Sizes shape, strides;

  explicit Export(Ref<Tensor> t)
      : tensor(std::move(t)),
        shape(tensor->sizes(), tensor->sizes() + tensor->type().rank()),
        strides(tensor->strides()) {
    const TensorType& type = tensor->type();
    const auto dtype = static_cast<int32_t>(type.dtype);
    DLTensor& d = managed.dl_tensor;
    d.data = tensor->data();
    d.device = {kind(type.device), index(type.device)};
    d.ndim = static_cast<int32_t>(type.rank());
    d.dtype = {static_cast<uint8_t>(dtype >> 8), static_cast<uint8_t>(dtype), 1};
    d.shape = shape.data();
    d.strides = strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { delete static_cast<Export*>(self->manager_ctx); };
  }
};

}  // namespace

extern "C" {

thunder_status* thunder_tensor_from_dlpack(thunder_context* context, DLManagedTensorVersioned* managed,
                                           thunder_tensor** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(managed, "managed"), need(out, "out");
    check(managed->version.major == kDlpackMajor, "DLPack version ", managed->version.major, ".",
          managed->version.minor, "; this library reads ", kDlpackMajor, ".x");
    const bool read_only = managed->flags & kDlpackReadOnly;
    auto tensor = adopt(managed);
    if (read_only) tensor->set_read_only();
    *out = given(std::move(tensor));
  }));
}

thunder_status* thunder_tensor_from_dlpack_legacy(thunder_context* context, DLManagedTensor* managed,
                                                  thunder_tensor** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(managed, "managed"), need(out, "out");
    *out = given(adopt(managed));
  }));
}

thunder_status* thunder_tensor_to_dlpack(thunder_tensor* tensor, uint32_t max_major, thunder_stream*,
                                         DLManagedTensorVersioned** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_data(*core(tensor));
    check(max_major >= kDlpackMajor, "max_major is ", max_major, "; this library writes ", kDlpackMajor,
          ".x, or see thunder_tensor_to_dlpack_legacy");
    auto* made = new Export<DLManagedTensorVersioned>(Ref<Tensor>(core(tensor)));
    made->managed.version = {kDlpackMajor, 0};
    made->managed.flags = core(tensor)->read_only() ? kDlpackReadOnly : 0;
    *out = &made->managed;
  }));
}

thunder_status* thunder_tensor_to_dlpack_legacy(thunder_tensor* tensor, thunder_stream*,
                                                DLManagedTensor** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_data(*core(tensor));
    if (core(tensor)->read_only())
      throw Refusal{Code::failed_precondition, "DLPack 0.x cannot say that memory is read-only, and this is"};
    *out = &(new Export<DLManagedTensor>(Ref<Tensor>(core(tensor))))->managed;
  }));
}

}  // extern "C"
