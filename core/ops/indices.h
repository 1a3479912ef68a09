// Shared by prims whose indices are tensors.
#pragma once

#include <string_view>

#include "base/text.h"
#include "ops/builder.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {

void require_index(const Call& c, size_t param);  // i64 or i32
void require_along(const Call& c, const TensorType& t, const TensorType& index, size_t dim);
Shape taken_shape(const Shape& input, size_t dim, const Shape& index);

inline int64_t index_at(const Buffer& index, int64_t offset) {
  return index.dtype == DType::i32 ? index.as<int32_t>()[offset] : index.as<int64_t>()[offset];
}

Status* out_of_range(std::string_view op, int64_t index, size_t dim, int64_t size);

// Whether some of the numbers added are not in [0, size), found without a comparison: the sign of an index, or of what
// is left behind it, is then set.
class OutOfRange {
 public:
  explicit OutOfRange(int64_t size) : last_(static_cast<uint64_t>(size) - 1) {}
  void add(int64_t index) {
    const auto i = static_cast<uint64_t>(index);
    signs_ |= i | (last_ - i);
  }
  bool any() const { return signs_ >> 63; }

 private:
  uint64_t last_, signs_ = 0;
};

// Refuses the first that is out of range.
Status* check_all(std::string_view op, const Buffer& index, size_t dim, int64_t size);

// A buffer under another shape and strides, which it owns.
struct Reshaped {
  Reshaped(const Buffer& b, Sizes shape, Sizes steps);
  Reshaped(const Reshaped&) = delete;
  Sizes sizes, strides;
  Buffer buffer;
};

// `b` seen with the shape of `index` and standing still along `dim`: where the elements lie before the index is added.
Reshaped with_zero_stride(const Buffer& b, const Buffer& index, size_t dim);

// A tensor `whole` and a tensor `taken` of take's result shape as what one index pairs: a slab of each.
struct Slabs {
  Slabs(const Buffer& whole, const Buffer& taken, const Buffer& index, size_t dim);
  // Calls f(slab of whole, slab of taken) for each index in order. All indices are looked at before.
  template <class F>
  Status* each(std::string_view op, const Buffer& index, size_t dim, const F& f) {
    return walk(op, index, dim, &f, [](const void* function, const Buffer& from, const Buffer& to) {
      (*static_cast<const F*>(function))(from, to);
    });
  }
  Reshaped whole_slab, taken_slab, positions;
  int64_t size = 0, stride = 0;

 private:
  using Visit = void (*)(const void* function, const Buffer& from, const Buffer& to);
  Status* walk(std::string_view op, const Buffer& index, size_t dim, const void* function, Visit visit);
};

// Indices for samples.
inline TensorSpec below(std::vector<int64_t> shape, int size, DType d = DType::i64) {
  return indices_below(std::move(shape), size, d);
}

}  // namespace thunder
