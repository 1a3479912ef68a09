#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/checked.h"
#include "base/in_use.h"
#include "ir/dim_reads.h"
#include "tensor/spares.h"
#include "tensor/transfer.h"

namespace thunder {

Sizes dense_strides(std::span<const int64_t> sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = checked_mul(strides[i], std::max<int64_t>(1, sizes[i]));
  return strides;
}

Sizes dense_strides(std::span<const Dim> shape) { return dense_strides(concrete(shape)); }

Shape dense_stride_formulas(std::span<const Dim> shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = is_less(shape[i], 1) ? strides[i] : strides[i] * shape[i];
  return strides;
}

namespace {

template <class Size>
bool are_dense(std::span<const Size> sizes, std::span<const Size> strides) {
  Size step = 1;  // at most the number of elements, which fits
  for (Size n : sizes)
    if (is_equal(n, 0)) return true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (is_equal(sizes[i], 1)) continue;
    if (!is_equal(strides[i], step)) return false;
    step = step * sizes[i];
  }
  return true;
}

}  // namespace

bool is_dense(std::span<const int64_t> sizes, std::span<const int64_t> strides) { return are_dense(sizes, strides); }
bool is_dense(std::span<const Dim> sizes, std::span<const Dim> strides) { return are_dense(sizes, strides); }

namespace {

// If each stride is larger than all that smaller ones reach, no place is met twice.
bool strides_are_disjoint(const Tensor& t) {
  struct Step {
    int64_t stride, times;
  };
  SmallVector<Step, 8> steps;
  for (size_t i = 0; i < t.type().rank(); i++)
    if (t.sizes()[i] > 1) steps.push_back({std::abs(t.strides()[i]), t.sizes()[i] - 1});
  std::sort(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.stride < b.stride; });
  int64_t reach = 0;
  for (auto [stride, times] : steps) {
    if (stride <= reach) return false;
    reach += stride * times;
  }
  return true;
}

}  // namespace

bool repeats_elements(const Tensor& t) {
  if (t.contiguous() || t.elements() == 0 || strides_are_disjoint(t)) return false;
  for (size_t i = 0; i < t.type().rank(); i++)
    if (t.strides()[i] == 0 && t.sizes()[i] > 1) return true;
  // Strides of the caller's own, such as those of windows: each place is looked at.
  const Extent e = extent({t.sizes(), t.type().rank()}, t.strides(), 1);
  std::vector<bool> met(static_cast<size_t>(e.end - e.begin));
  Sizes at(t.type().rank(), 0);
  for (int64_t n = t.elements(), place = -e.begin; n > 0; n--) {
    if (met[static_cast<size_t>(place)]) return true;
    met[static_cast<size_t>(place)] = true;
    for (size_t i = at.size(); i-- > 0;) {
      place += t.strides()[i];
      if (++at[i] < t.sizes()[i]) break;
      place -= at[i] * t.strides()[i], at[i] = 0;
    }
  }
  return false;
}

size_t dense_bytes(const TensorType& type) {
  Checked checked;
  auto bytes = static_cast<int64_t>(size_of(type.dtype));
  bool empty = false;  // which has strides all the same, so that its other sizes count too
  for (Dim d : type.shape) {
    require(d.constant() && d.value() >= 0, "a size must not be negative: ", name(type));
    empty = empty || d.value() == 0;
    bytes = checked.mul(bytes, std::max<int64_t>(1, d.value()));
  }
  require(checked.fits, "a tensor of type ", name(type), " would not fit in memory");
  return empty ? 0 : static_cast<size_t>(bytes);
}

Extent extent(std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t item) {
  int64_t low = 0, high = 1;
  Checked checked;
  const auto bytes = static_cast<int64_t>(item);
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == 0) return {};
    if (sizes[i] == 1) continue;
    int64_t& end = strides[i] < 0 ? low : high;
    end = checked.add(end, checked.mul(sizes[i] - 1, strides[i]));
    // Loops advance once past the last element, and back, so that step must fit, too.
    checked.mul(checked.mul(sizes[i], strides[i]), bytes);
  }
  low = checked.mul(low, bytes), high = checked.mul(high, bytes);
  require(checked.fits, "a strided view reaches further than 63 bits of address");
  return {low, high};
}

DenseType::DenseType(const TensorType& t)
    : type(t),
      bytes(dense_bytes(t)),
      sizes(concrete(t.shape)),
      strides(dense_strides(std::span<const int64_t>(sizes))),
      guard(guard_word(ArgKind::value, t.dtype, sizes.size(), false, t.device)) {
  type.weak = false;
}

Ref<Tensor> Tensor::empty(const Allocator& allocator, const DenseType& dense) {
  if (Tensor* kept = Spares::take(allocator, dense)) return Ref<Tensor>::adopt(kept);
  return allocate(allocator, dense);
}

Ref<Tensor> Tensor::allocate(const Allocator& allocator, const DenseType& dense) {
  ensure((dense.type.device == Device::cpu) == !allocator.accelerator, "a tensor's memory is not of its device");
  auto storage = Storage::allocate(allocator, dense.bytes, sizeof(Tensor));
  auto t = Ref<Tensor>::adopt(new (storage->room()) Tensor);
  t->beside_ = true;
  t->data_ = storage->data();
  t->storage_ = std::move(storage);
  t->type_ = dense.type;
  t->strides_ = dense.strides;
  t->sizes_ = dense.sizes;
  t->guard_ = dense.guard;
  return t;
}

namespace {

Sizes normalize_strides(const Sizes& sizes, const Sizes& given) {
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  if (!empty && std::find(sizes.begin(), sizes.end(), 1) == sizes.end()) return given;
  Sizes steps = dense_strides(sizes);
  for (size_t i = 0; i < sizes.size() && !empty; i++)
    if (sizes[i] > 1) steps[i] = given[i];
  return steps;
}

}  // namespace

Ref<Tensor> Tensor::view(Ref<Storage> storage, const TensorType& type, const Sizes& strides, size_t byte_offset) {
  auto t = Ref<Tensor>::adopt(new Tensor);
  t->type_ = type;
  t->sizes_ = thunder::concrete(type.shape);
  t->strides_ = normalize_strides(t->sizes_, strides);
  t->contiguous_ = is_dense(t->sizes_, t->strides_);
  t->data_ = storage->data() + byte_offset;
  t->storage_ = std::move(storage);
  t->offset_ = byte_offset;
  t->guard_ = guard_word(ArgKind::value, type.dtype, type.rank(), !t->contiguous_, type.device);
  return t;
}

void Tensor::destroy() const {
  auto* self = const_cast<Tensor*>(this);
  if (InUse::keep_alive_if_in_use(this)) return self->reset_count();
  if (!beside_) return delete self;
  if (!Spares::keep(*self)) self->free();
}

void Tensor::free() {
  const Ref<Storage> memory = std::move(storage_);  // which this handle is a part of
  this->~Tensor();
}

Ref<Tensor> Tensor::proxy(const TensorType& type, ProxyOwner* owner, ValueId value) {
  auto t = Ref<Tensor>::adopt(new Tensor);
  t->kind_ = Kind::proxy;
  t->type_ = type;
  t->owner_ = owner;
  t->value_ = value;
  return t;
}

void Tensor::become(const Tensor& concrete) {
  kind_ = Kind::concrete;
  type_ = concrete.type_;
  sizes_ = concrete.sizes_;
  strides_ = concrete.strides_;
  contiguous_ = concrete.contiguous_;
  read_only_ = concrete.read_only_;
  data_ = concrete.data_;
  storage_ = concrete.storage_;
  offset_ = concrete.offset_;
  guard_ = concrete.guard_;
  owner_ = nullptr;
}

Ref<Tensor> Tensor::number(const Arg& value) {
  auto t = Ref<Tensor>::adopt(new Tensor);
  t->kind_ = Kind::number;
  t->type_.dtype = value.kind == ArgKind::boolean   ? DType::boolean
                   : value.kind == ArgKind::integer ? DType::i64
                                                    : DType::f64;
  t->type_.weak = true;
  t->guard_ = guard_word(ArgKind::real, t->type_.dtype, 0, false, Device::none);
  t->number_ = value;
  return t;
}

Ref<Tensor> Tensor::failed(Ref<Status> why) {
  auto t = Ref<Tensor>::adopt(new Tensor);
  t->kind_ = Kind::failed;
  t->failure_ = std::move(why);
  return t;
}

int64_t Tensor::elements() const {
  int64_t n = 1;
  for (int64_t s : sizes_) n *= s;
  return n;
}

Buffer Tensor::buffer() const {
  return {data(), sizes_.data(), strides_.data(), static_cast<int32_t>(sizes_.size()), type_.dtype, type_.device, 0};
}

Ref<Tensor> dense_copy(const Allocator& allocator, const Tensor& from) {
  Accelerator* const device = from.storage()->accelerator();
  auto to = Tensor::empty(device ? device->allocator() : allocator, from.type());
  copy_elements(from, *to);
  return to;
}

}  // namespace thunder
