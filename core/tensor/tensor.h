// A tensor handle: concrete (memory and a strided view of it), a proxy, a plain number, or a failure.
#pragma once

#include <atomic>
#include <optional>

#include "base/status.h"
#include "device/memory.h"
#include "ir/arg.h"
#include "ir/type.h"
#include "tensor/buffer.h"
#include "tensor/sharding.h"

namespace thunder {

// Dense row-major strides; an axis without elements counts as one of 1. Requires: constant dims.
Sizes dense_strides(std::span<const int64_t> sizes);
Sizes dense_strides(std::span<const Dim> shape);
bool is_dense(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// The same of sizes that may be symbols.
Shape dense_stride_formulas(std::span<const Dim> shape);
bool is_dense(std::span<const Dim> sizes, std::span<const Dim> strides);
// Bytes that a dense tensor of this type takes; throws when it does not fit in 63 bits or a dim is negative.
size_t dense_bytes(const TensorType&);

// What all dense tensors of one type have in common: worked out once, used at each call. Throws as dense_bytes does.
struct DenseType {
  explicit DenseType(const TensorType&);
  TensorType type;  // never weak
  size_t bytes;     // first: what does not fit in 63 bits has no strides
  Sizes sizes, strides;
  uint64_t guard;  // the guard_word
};

// What guards compare first, in one word: a leaf's kind, dtype, rank, device, and whether its strides matter.
constexpr uint64_t guard_word(ArgKind kind, DType dtype, size_t rank, bool strided, Device device) {
  return static_cast<uint64_t>(kind) | static_cast<uint64_t>(dtype) << 8 | static_cast<uint64_t>(rank) << 24 |
         static_cast<uint64_t>(strided) << 31 | static_cast<uint64_t>(static_cast<uint32_t>(device)) << 32;
}

class Tensor;

// The owner of a proxy: a scope that records.
class ProxyOwner {
 public:
  // Makes the proxy concrete, its data computed now. False: it has none before its function has been traced. `where`,
  // in reports: the "file:line" that reads it, or null. Throws what computing it throws, and why it cannot be computed
  // here.
  virtual bool give_data(Tensor& /*proxy*/, const char* /*where*/) { return false; }

 protected:
  ~ProxyOwner() = default;
};

class Tensor : public Counted<Tensor> {
 public:
  enum class Kind : uint8_t { concrete, proxy, number, failed };

  // Uninitialised, dense row-major.
  static Ref<Tensor> empty(const Allocator&, const DenseType&);
  static Ref<Tensor> empty(const Allocator& allocator, const TensorType& type) {
    return empty(allocator, DenseType(type));
  }
  // A view of `storage`; strides in elements, offset in bytes. Along axes of one element, and in a tensor without any,
  // no step is made: there the strides are the dense ones, whatever is given. Requires: checked to lie inside the
  // storage.
  static Ref<Tensor> view(Ref<Storage> storage, const TensorType&, const Sizes& strides, size_t byte_offset);
  // Stands for a value of a trace being recorded by the scope `owner`.
  static Ref<Tensor> proxy(const TensorType&, ProxyOwner* owner, ValueId);
  // PyTorch's wrapped number: boolean, i64 or f64, promotes by category only.
  static Ref<Tensor> number(const Arg& value);
  static Ref<Tensor> failed(Ref<Status> why);

  Kind kind() const { return kind_; }
  const TensorType& type() const { return type_; }
  const Sizes& strides() const { return strides_; }
  bool concrete() const { return kind_ == Kind::concrete; }
  // The guard_word of a concrete tensor or a number; for other handles a word that matches no key.
  uint64_t guard() const { return guard_; }
  void destroy() const;

  // Concrete only. The address never changes.
  std::byte* data() const { return data_; }
  const Ref<Storage>& storage() const { return storage_; }
  size_t offset() const { return offset_; }
  bool contiguous() const { return contiguous_; }
  bool read_only() const { return read_only_; }
  void set_read_only() { read_only_ = true; }
  // Of a module's parameter whose ranks have a part each; null: it is whole.
  const std::shared_ptr<const Sharding>& sharding() const { return sharding_; }
  void set_sharding(std::shared_ptr<const Sharding> of) { sharding_ = std::move(of); }
  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * size_of(type_.dtype); }
  // Of the memory, which views share.
  void bump() { storage_->bump(); }
  // The shape as plain integers, valid as long as the tensor.
  const int64_t* sizes() const { return sizes_.data(); }
  Buffer buffer() const;

  // Proxy only. The value changes when the tensor is written in place.
  ProxyOwner* owner() const { return owner_; }
  ValueId value() const { return value_; }
  void set_value(ValueId v) { value_ = v; }
  // Called when the scope ends: the handle stays valid memory, and reports that it expired.
  void expire() { owner_ = nullptr; }
  // It is a view of this concrete tensor's memory from here on. Requires: of the proxy's type.
  void become(const Tensor& concrete);

  const Arg& number_value() const { return number_; }
  const Ref<Status>& failure() const { return failure_; }

 private:
  friend class Spares;
  static Ref<Tensor> allocate(const Allocator&, const DenseType&);
  Tensor() = default;
  ~Tensor() = default;
  void free();

  Kind kind_ = Kind::concrete;
  bool contiguous_ = true, read_only_ = false;
  bool beside_ = false;  // lies in its storage's block
  uint64_t guard_ = ~uint64_t{0};
  std::byte* data_ = nullptr;
  TensorType type_;
  Sizes strides_, sizes_;
  Ref<Storage> storage_;
  size_t offset_ = 0;
  ProxyOwner* owner_ = nullptr;
  ValueId value_ = kNoValue;
  Arg number_;
  Ref<Status> failure_;
  std::shared_ptr<const Sharding> sharding_;
};

// Whether several elements of a view share one place in memory, as those of an expanded one do.
bool repeats_elements(const Tensor& t);

// The bytes [begin, end) that a view touches, relative to its first element. Empty views touch none. Throws when
// they, or a step behind the last element of an axis, do not fit in 63 bits.
struct Extent {
  int64_t begin = 0, end = 0;
};
Extent extent(std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t item);

// Copies between any strided views of equal shape and dtype.
void copy_strided(const Buffer& from, const Buffer& to);

// A fresh row-major tensor with the same elements on the same device; `allocator` is the host's. Requires: concrete.
Ref<Tensor> dense_copy(const Allocator&, const Tensor&);

}  // namespace thunder
