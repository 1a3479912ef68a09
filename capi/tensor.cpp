// thunder_tensor_*: making tensors, looking at them, and moving their bytes. DLPack has a file of its own.
#include "capi/tensor.h"

#include "base/checked.h"
#include "capi/context.h"
#include "tensor/spares.h"
#include "tensor/transfer.h"
#include "tracer/eager.h"
#include "tracer/segments.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

Shape shape_of(size_t rank, const int64_t* sizes) {
  check(rank <= kMaxRank, "rank ", rank, " is above the limit of ", kMaxRank);
  if (rank) need(sizes, "shape");
  Shape shape;
  for (size_t i = 0; i < rank; i++) {
    check(sizes[i] >= 0, "size ", i, " of the shape is negative: ", sizes[i]);
    shape.push_back(Dim(sizes[i]));
  }
  return shape;
}

Sizes strides_of(const TensorType& type, const int64_t* strides) {
  dense_bytes(type);  // refuses sizes whose product overflows
  return strides ? Sizes(strides, strides + type.rank()) : dense_strides(type.shape);
}

void check_aligned(const void* data, DType dtype) {
  const size_t item = size_of(dtype);
  check(reinterpret_cast<uintptr_t>(data) % item == 0, "data is not aligned to its elements of ", item, " bytes");
}

}  // namespace

namespace thunder::capi {

TensorType type_of(thunder_dtype dtype, size_t rank, const int64_t* sizes, Device device) {
  TensorType type;
  type.dtype = static_cast<DType>(dtype);
  check(known(type.dtype), "unknown dtype ", dtype);
  type.device = device;
  type.shape = shape_of(rank, sizes);
  return type;
}

void need_alive(const Tensor& t) {
  if (t.kind() == Tensor::Kind::proxy && !t.owner())
    throw Refusal{Code::expired, "a proxy was used after the function that it belongs to had been traced"};
}

void need_data(const Tensor& t) {
  switch (t.kind()) {
    case Tensor::Kind::concrete:
      SegmentScope::before_access(t, false);
      TracingScope::require_current(t);
      return;
    case Tensor::Kind::failed:
      throw Error(t.failure());
    case Tensor::Kind::number:
      throw Refusal{Code::invalid_argument, "a plain number of a scope has no memory"};
    case Tensor::Kind::proxy:
      break;
  }
  need_alive(t);
  if (t.owner()->give_data(const_cast<Tensor&>(t), nullptr)) return;
  throw Refusal{Code::proxy_has_no_data,
                cat("a proxy (", name(t.type()),
                    ") has no data while its function is traced, once for all values: "
                    "compute what depends on them by ops, such as where, or compile it with fullgraph = false")};
}

void need_writable(const Tensor& t) {
  need_data(t);
  if (t.read_only()) throw Refusal{Code::failed_precondition, "the tensor's memory is read-only"};
  SegmentScope::before_access(t, true);
}

}  // namespace thunder::capi

namespace {

size_t checked_bytes(const TensorType& type, size_t bytes) {
  const size_t needed = dense_bytes(type);
  check(bytes == needed, name(type), " takes ", needed, " bytes, got ", bytes);
  return needed;
}

// The view must touch bytes [low, high) of the storage only, where `at` is its first element.
void check_inside(const TensorType& type, const Sizes& strides, int64_t at, size_t available) {
  const Sizes sizes = concrete(type.shape);
  const Extent touched = extent(sizes, strides, size_of(type.dtype));
  Checked checked;
  const int64_t low = checked.add(at, touched.begin), high = checked.add(at, touched.end);
  const bool inside = checked.fits && low >= 0 && high >= 0 && static_cast<uint64_t>(high) <= available;
  check(inside, name(type), " with strides ", join(strides, ",", [](int64_t s) { return s; }), " touches bytes ", low,
        " to ", high, " of memory that holds ", available);
}

bool is_type(const Tensor& t, DType dtype, size_t rank, const int64_t* shape, const int64_t* strides) {
  if (t.type().dtype != dtype || t.type().rank() != rank || (rank && (!shape || !strides))) return false;
  for (size_t i = 0; i < rank; i++)
    if (t.sizes()[i] != shape[i] || (shape[i] > 1 && t.strides()[i] != strides[i])) return false;
  return true;
}

Ref<Tensor> borrow(const TensorType& type, const int64_t* given, void* data, size_t bytes, Accelerator* owner,
                   UserGuard& guard, void (*destroy)(void*), void* user) {
  const Sizes strides = strides_of(type, given);
  check_inside(type, strides, 0, bytes);
  if (bytes) need(data, "data");
  check_aligned(data, type.dtype);
  auto storage = Storage::borrow(data, bytes, destroy, user, owner);
  guard.dismiss();
  return Tensor::view(std::move(storage), type, strides, 0);
}

}  // namespace

extern "C" {

thunder_status* thunder_tensor_create(thunder_context* context, thunder_dtype dtype, size_t rank, const int64_t* shape,
                                      thunder_device device, const void* host_data, size_t bytes,
                                      thunder_tensor** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    const TensorType type = type_of(dtype, rank, shape, device_of(*core(context), device));
    if (checked_bytes(type, bytes)) need(host_data, "host_data");
    auto t = Tensor::empty(core(context)->devices().allocator(type.device), type);
    write_elements(*t, host_data);
    *out = given(std::move(t));
  }));
}

thunder_status* thunder_tensor_borrow(thunder_context* context, thunder_dtype dtype, size_t rank, const int64_t* shape,
                                      const int64_t* strides, thunder_device device, void* data, size_t bytes,
                                      void (*destroy)(void*), void* user, thunder_tensor** out) noexcept {
  return given(guarded(__func__, [&] {
    UserGuard guard(destroy, user);
    need(context, "context"), need(out, "out");
    const TensorType type = type_of(dtype, rank, shape, device_of(*core(context), device));
    Accelerator* const owner =
        type.device == Device::cpu ? nullptr : &core(context)->devices().accelerator(type.device);
    *out = given(borrow(type, strides, data, bytes, owner, guard, destroy, user));
  }));
}

int32_t thunder_tensor_reborrow(thunder_tensor* tensor, thunder_dtype dtype, size_t rank, const int64_t* shape,
                                const int64_t* strides, void* data, size_t bytes) noexcept {
  Tensor* const object = core(tensor);
  if (!object || !object->concrete() || (bytes && !data)) return 0;
  Tensor& t = *object;
  if (!is_type(t, static_cast<DType>(dtype), rank, shape, strides) || t.storage()->bytes() != bytes) return 0;
  if (reinterpret_cast<uintptr_t>(data) % size_of(t.type().dtype)) return 0;
  try {
    return Spares::reborrow(t, data);
  } catch (...) {  // no memory: whoever borrows instead is told so
    return 0;
  }
}

thunder_status* thunder_tensor_view(thunder_tensor* tensor, size_t rank, const int64_t* shape, const int64_t* strides,
                                    int64_t offset, thunder_tensor** out) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    const Tensor& base = *core(tensor);
    need_data(base);
    TensorType type = base.type();
    type.shape = shape_of(rank, shape);
    const Sizes steps = strides_of(type, strides);
    Checked checked;
    const int64_t shift = checked.mul(offset, static_cast<int64_t>(size_of(type.dtype)));
    const int64_t at = checked.add(static_cast<int64_t>(base.offset()), shift);
    check(checked.fits && at >= 0, "offset ", offset, " lies outside of the tensor's memory");
    check_inside(type, steps, at, base.storage()->bytes());
    auto view = Tensor::view(base.storage(), type, steps, static_cast<size_t>(at));
    if (base.read_only()) view->set_read_only();
    *out = given(std::move(view));
  }));
}

thunder_tensor* thunder_tensor_retain(thunder_tensor* tensor) noexcept {
  return retained(tensor);
}
void thunder_tensor_release(thunder_tensor* tensor) noexcept {
  released(tensor);
}

thunder_dtype thunder_tensor_dtype(const thunder_tensor* tensor) noexcept {
  const auto* const object = core(tensor);
  return object ? static_cast<thunder_dtype>(object->type().dtype) : 0;
}

thunder_device thunder_tensor_device(const thunder_tensor* tensor) noexcept {
  const auto* const object = core(tensor);
  return object ? static_cast<thunder_device>(object->type().device) : 0;
}

size_t thunder_tensor_rank(const thunder_tensor* tensor) noexcept {
  const auto* const object = core(tensor);
  return object ? object->type().rank() : 0;
}

int64_t thunder_tensor_size(const thunder_tensor* tensor, int32_t axis) noexcept {
  const Tensor* const t = core(tensor);
  if (!t) return -1;
  const Shape& shape = t->type().shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t at = axis < 0 ? axis + rank : axis;
  return at < 0 || at >= rank ? -1 : hint(shape[static_cast<size_t>(at)]);
}

const int64_t* thunder_tensor_shape(const thunder_tensor* tensor) noexcept {
  const auto* const object = core(tensor);
  return object && object->concrete() ? object->sizes() : nullptr;
}

const int64_t* thunder_tensor_strides(const thunder_tensor* tensor) noexcept {
  const auto* const object = core(tensor);
  return object && object->concrete() ? object->strides().data() : nullptr;
}

int32_t thunder_tensor_is_contiguous(const thunder_tensor* tensor) noexcept {
  const Tensor* const object = core(tensor);
  if (!object) return 0;
  const Tensor& t = *object;
  if (t.kind() != Tensor::Kind::proxy) return t.concrete() && t.contiguous();
  auto* scope = dynamic_cast<TracingScope*>(t.owner());
  return scope ? scope->is_contiguous(t) : -1;
}

size_t thunder_tensor_nbytes(const thunder_tensor* tensor) noexcept {
  const auto* const object = core(tensor);
  return object && object->concrete() ? object->bytes() : 0;
}

int32_t thunder_tensor_is_concrete(const thunder_tensor* tensor) noexcept {
  const Tensor* const t = core(tensor);
  return t && t->concrete();
}

int32_t thunder_tensor_shares_memory(const thunder_tensor* tensor) noexcept {
  const Tensor* const t = core(tensor);
  return t && t->concrete() && !t->storage()->unique();
}

thunder_status* thunder_tensor_status(const thunder_tensor* tensor) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor");
    if (core(tensor)->kind() == Tensor::Kind::failed) throw Error(core(tensor)->failure());
  }));
}

thunder_status* thunder_tensor_read(thunder_tensor* tensor, void* host, size_t bytes) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor");
    const Tensor& t = *core(tensor);
    need_data(t);
    if (checked_bytes(t.type(), bytes)) need(host, "host");
    read_elements(t, host);
  }));
}

thunder_status* thunder_tensor_write(thunder_tensor* tensor, const void* host, size_t bytes) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor");
    Tensor& t = *core(tensor);
    need_writable(t);
    if (checked_bytes(t.type(), bytes)) need(host, "host");
    EagerScope::before_write(t);
    write_elements(t, host);
    t.bump();
  }));
}

thunder_status* thunder_tensor_data(const thunder_tensor* tensor, const void** out) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_data(*core(tensor));
    *out = core(tensor)->data();
  }));
}

thunder_status* thunder_tensor_data_mutable(thunder_tensor* tensor, void** out) noexcept {
  return given(guarded(__func__, [&] {
    need(tensor, "tensor"), need(out, "out");
    need_writable(*core(tensor));
    core(tensor)->bump();
    *out = core(tensor)->data();
  }));
}

}  // extern "C"
