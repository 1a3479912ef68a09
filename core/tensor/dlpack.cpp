#include "tensor/dlpack.h"

#include <memory>

#include "base/text.h"
#include "device/exchange.h"

namespace thunder {
namespace {

DType dtype_of(const DLDataType& t) {
  const auto dtype = static_cast<DType>(t.code << 8 | t.bits);
  require(t.lanes == 1, "DLPack: elements of ", t.lanes, " lanes are not supported, only of 1");
  require(known(dtype), "DLPack: no dtype has code ", t.code, " and ", t.bits, " bits; there are ",
          join(all_dtypes(), ", ", [](auto& row) { return row.name; }));
  return dtype;
}

Device device_of(const DLDevice& d) {
  // Pinned memory belongs to the host, whichever library pinned it.
  if (d.device_type == kDLPackCpu || d.device_type == kDLPackCudaHost) return Device::cpu;
  require(d.device_type == kDLPackCuda, "DLPack: device type ", d.device_type,
          " is not supported; 1 (CPU), 2 (CUDA) and 3 (CUDA host memory) are");
  require(d.device_id >= 0 && d.device_id < 0x10000, "DLPack: no CUDA device has the index ", d.device_id);
  return cuda(d.device_id);
}

struct View {
  TensorType type;
  Sizes strides;
  std::byte* first = nullptr;  // the element with index zero in each dimension
  Extent reach;
};

View view_of(const DLTensor& t) {
  View v;
  v.type.dtype = dtype_of(t.dtype);
  v.type.device = device_of(t.device);
  require(t.ndim >= 0 && t.ndim <= static_cast<int32_t>(kMaxRank), "DLPack: rank ", t.ndim, " is not between 0 and ",
          kMaxRank);
  require(t.ndim == 0 || t.shape, "DLPack: the shape is null although the rank is ", t.ndim);
  for (int32_t i = 0; i < t.ndim; i++) v.type.shape.push_back(t.shape[i]);
  dense_bytes(v.type);  // refuses negative sizes, and products that overflow
  v.strides = dense_strides(v.type.shape);
  if (t.strides) v.strides.assign(t.strides, t.strides + t.ndim);
  const Sizes sizes = concrete(v.type.shape);
  const size_t item = size_of(v.type.dtype);
  v.reach = extent(sizes, v.strides, item);
  if (v.reach.begin == v.reach.end) return v;
  require(t.data, "DLPack: the data is null although the shape is ", name(v.type.shape));
  // Numbers, until it is known that they are addresses.
  uintptr_t first = 0, end = 0;
  const auto data = reinterpret_cast<uintptr_t>(t.data), before = static_cast<uintptr_t>(-v.reach.begin);
  const bool beyond = __builtin_add_overflow(data, t.byte_offset, &first) || before > first ||
                      __builtin_add_overflow(first, static_cast<uintptr_t>(v.reach.end), &end);
  require(!beyond, "DLPack: ", name(v.type), " with byte_offset ", t.byte_offset, " and strides ",
          join(v.strides, ",", [](int64_t s) { return s; }), " reaches beyond all addresses");
  require(first % item == 0, "DLPack: the data of type ", name(v.type),
          " lies at an address that is not a multiple of ", item);
  v.first = reinterpret_cast<std::byte*>(first);
  return v;
}

template <class Managed>
void call_deleter(void* user) {
  auto* managed = static_cast<Managed*>(user);
  if (managed->deleter) managed->deleter(managed);
}

template <class Managed>
Ref<Tensor> import_managed(Managed* managed, bool read_only, Accelerator* owner, Lent lent = Lent::until_work_is_done) {
  const View v = view_of(managed->dl_tensor);
  const bool empty = v.first == nullptr;
  auto storage = Storage::borrow(empty ? nullptr : v.first + v.reach.begin,
                                 static_cast<size_t>(v.reach.end - v.reach.begin), nullptr, nullptr, owner);
  auto tensor = Tensor::view(storage, v.type, v.strides, static_cast<size_t>(-v.reach.begin));
  if (read_only) tensor->set_read_only();
  if (lent == Lent::for_the_call) storage->release_at_once();
  // The last step, so that a failure before leaves the caller the owner.
  storage->on_release(call_deleter<Managed>, managed);
  return tensor;
}

// The memory that an exported structure points to, and keeps alive.
template <class Managed>
struct Exported {
  Managed managed{};
  Ref<Tensor> tensor;
  void* stream = nullptr;  // the consumer's
  Sizes shape, strides;

  static void release_exported(Managed* managed) {
    auto* self = static_cast<Exported*>(managed->manager_ctx);
    if (Accelerator* device = self->tensor->storage()->accelerator()) exchange_of(*device).take_back(self->stream);
    delete self;
  }
};

template <class Managed>
std::unique_ptr<Exported<Managed>> export_managed(const Ref<Tensor>& tensor, void* stream) {
  if (!tensor->concrete()) fail(Code::proxy_has_no_data, "DLPack: the tensor has no data to pass on");
  auto out = std::make_unique<Exported<Managed>>();
  const TensorType& type = tensor->type();
  // Exports a view, since the handle itself may be rebound to other memory while the consumer still reads this.
  out->tensor = Tensor::view(tensor->storage(), type, tensor->strides(), tensor->offset());
  out->stream = stream;
  out->shape = concrete(type.shape);
  out->strides = tensor->strides();
  DLTensor& t = out->managed.dl_tensor;
  // The first element itself, with no byte_offset: PyTorch does not look at that field.
  t.data = tensor->elements() ? tensor->data() : nullptr;
  t.device = {kind(type.device), index(type.device)};
  t.ndim = static_cast<int32_t>(type.rank());
  t.dtype = dlpack_type(type.dtype);
  t.shape = out->shape.data();
  t.strides = out->strides.data();
  out->managed.manager_ctx = out.get();
  out->managed.deleter = Exported<Managed>::release_exported;
  return out;
}

}  // namespace

DLDataType dlpack_type(DType dtype) {
  const auto code = static_cast<int32_t>(dtype);
  return {static_cast<uint8_t>(code >> 8), static_cast<uint8_t>(code & 0xff), 1};
}

Ref<Tensor> from_dlpack(DLManagedTensorVersioned* managed, Accelerator* owner, Lent lent) {
  require(managed->version.major == kDLPackMajor, "DLPack: version ", managed->version.major, ".",
          managed->version.minor, " is not supported, only ", kDLPackMajor, ".x");
  return import_managed(managed, managed->flags & kDLPackReadOnly, owner, lent);
}

Ref<Tensor> from_dlpack(DLManagedTensor* managed, Accelerator* owner) {
  return import_managed(managed, false, owner);
}

DLManagedTensorVersioned* to_dlpack_versioned(const Ref<Tensor>& tensor, void* stream) {
  auto out = export_managed<DLManagedTensorVersioned>(tensor, stream);
  out->managed.version = {kDLPackMajor, kDLPackMinor};
  out->managed.flags = tensor->read_only() ? kDLPackReadOnly : 0;
  return &out.release()->managed;
}

DLManagedTensor* to_dlpack(const Ref<Tensor>& tensor, void* stream) {
  if (tensor->read_only())
    fail(Code::failed_precondition,
         "DLPack: a read-only tensor needs the versioned structure; the old one cannot say so");
  return &export_managed<DLManagedTensor>(tensor, stream).release()->managed;
}

}  // namespace thunder
