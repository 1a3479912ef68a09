// Kernels that change elements of their result by indices which are data, on the threads of the context.
#pragma once

#include <algorithm>

#include "ops/kernels.h"

namespace thunder {

// A range of a dim of a buffer; the part beyond the dim's end does not exist.
struct Some {
  Some(const Buffer& b, size_t dim, int64_t begin, int64_t end) : sizes(b.shape, b.shape + b.rank), buffer(b) {
    begin = std::min(begin, sizes[dim]), end = std::min(end, sizes[dim]);
    sizes[dim] = end - begin;
    buffer.shape = sizes.data();
    if (begin < end) buffer.data = b.as<std::byte>() + begin * b.strides[dim] * static_cast<int64_t>(size_of(b.dtype));
  }
  Some(const Some&) = delete;
  Sizes sizes;
  Buffer buffer;
};

// Changes the elements with begin <= i < end of a dim of the result that no index goes along. Whoever does it, each
// element gets what comes to it in the order of the indices.
using UpdateSome = Status* (*)(const KernelArgs& k, size_t dim, size_t along, int64_t begin, int64_t end);

// All of them: of a kernel of an input, indices along `dim` and what comes to the result, in this order.
inline Status* update_all(const KernelArgs& k, size_t dim, UpdateSome update) {
  const Buffer &out = k.out[0], &src = k.in[2];
  size_t along = dim;
  for (size_t i = 0; i < static_cast<size_t>(out.rank); i++)
    if (i != dim && (along == dim || out.shape[i] > out.shape[along])) along = i;
  if (along == dim) return update(k, dim, along, 0, INT64_MAX);
  const int64_t work = src.elements() + (k.in[0].data == out.data ? 0 : out.elements());
  return in_parts(k, out.shape[along], work,
                  [&](int64_t begin, int64_t end) { return update(k, dim, along, begin, end); });
}

}  // namespace thunder
