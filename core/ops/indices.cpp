#include "ops/indices.h"
#include "ir/dim_reads.h"

namespace thunder {

void require_index(const Call& c, size_t param) {
  const DType d = c.type(param).dtype;
  c.require(d == DType::i64 || d == DType::i32, "index must be i64 or i32, got ", name(d));
}

Status* out_of_range(std::string_view op, int64_t index, size_t dim, int64_t size) {
  return make<Status>(Code::out_of_range,
                      cat(op, ": index ", index, " is out of range for dim ", dim, " of size ", size)).detach();
}

Status* check_all(std::string_view op, const Buffer& index, size_t dim, int64_t size) {
  const auto check = [&](auto zero) -> Status* {
    const auto* all = index.as<decltype(zero)>();
    Rows<1> rows(index, {&index});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next()) {
      const auto* row = all + rows.offset[0];
      OutOfRange bad(size);  // looked at after the row, so that the loop has no way out
      if (rows.step[0] == 1)
        for (int64_t i = 0; i < rows.row(); i++) bad.add(row[i]);
      else
        for (int64_t i = 0; i < rows.row(); i++) bad.add(row[i * rows.step[0]]);
      for (int64_t i = 0; bad.any() && i < rows.row(); i++)
        if (const int64_t at = all[rows.offset[0] + i * rows.step[0]]; at < 0 || at >= size)
          return out_of_range(op, at, dim, size);
    }
    return nullptr;
  };
  return index.dtype == DType::i32 ? check(int32_t{}) : check(int64_t{});
}

Reshaped::Reshaped(const Buffer& b, Sizes shape, Sizes steps)
    : sizes(std::move(shape)), strides(std::move(steps)), buffer(b) {
  buffer.rank = static_cast<int32_t>(sizes.size());
  buffer.shape = sizes.data();
  buffer.strides = strides.data();
}

Reshaped with_zero_stride(const Buffer& b, const Buffer& index, size_t dim) {
  Sizes sizes(index.shape, index.shape + index.rank), strides(b.strides, b.strides + b.rank);
  if (b.rank) strides[dim] = 0;
  return {b, std::move(sizes), std::move(strides)};
}

void require_along(const Call& c, const TensorType& t, const TensorType& index, size_t dim) {
  c.require(index.rank() == t.rank(), "index must have the rank of input; ", c.types());
  for (size_t i = 0; i < t.rank(); i++)
    c.require(i == dim || is_at_most(index.shape[i], t.shape[i]), "index has size ", name(index.shape[i]), " in dim ",
              i, ", more than the input's ", name(t.shape[i]), "; ", c.types());
}

Shape taken_shape(const Shape& input, size_t dim, const Shape& index) {
  Shape out(input.begin(), input.begin() + dim);
  for (Dim d : index) out.push_back(d);
  for (size_t i = dim + 1; i < input.size(); i++) out.push_back(input[i]);
  return out;
}

Slabs::Slabs(const Buffer& whole, const Buffer& taken, const Buffer& index, size_t dim)
    : whole_slab(whole, {}, {}), taken_slab(taken, {}, {}), positions(taken, {}, {}) {
  const size_t n = static_cast<size_t>(index.rank);
  size = whole.shape[dim], stride = whole.strides[dim];
  for (size_t i = 0; i < static_cast<size_t>(taken.rank); i++) {
    const bool indexed = i >= dim && i < dim + n;
    Reshaped& into = indexed ? positions : taken_slab;
    into.sizes.push_back(taken.shape[i]), into.strides.push_back(taken.strides[i]);
  }
  for (size_t i = 0; i < static_cast<size_t>(whole.rank); i++)
    if (i != dim) whole_slab.sizes.push_back(whole.shape[i]), whole_slab.strides.push_back(whole.strides[i]);
  for (Reshaped* r : {&whole_slab, &taken_slab, &positions}) {
    r->buffer.rank = static_cast<int32_t>(r->sizes.size());
    r->buffer.shape = r->sizes.data(), r->buffer.strides = r->strides.data();
  }
}

Status* Slabs::walk(std::string_view op, const Buffer& index, size_t dim, const void* function, Visit visit) {
  const auto item = static_cast<int64_t>(size_of(whole_slab.buffer.dtype));
  Buffer from = whole_slab.buffer, to = taken_slab.buffer;
  if (Status* refused = check_all(op, index, dim, size)) return refused;
  Rows<2> rows(index, {&index, &positions.buffer});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next())
    for (int64_t i = 0; i < rows.row(); i++) {
      const int64_t at = index_at(index, rows.offset[0] + i * rows.step[0]);
      from.data = whole_slab.buffer.as<std::byte>() + at * stride * item;
      to.data = taken_slab.buffer.as<std::byte>() + (rows.offset[1] + i * rows.step[1]) * item;
      visit(function, from, to);
    }
  return nullptr;
}

}  // namespace thunder
