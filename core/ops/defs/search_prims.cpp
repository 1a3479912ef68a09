// Places in a sorted sequence.
#include "ops/lines.h"

namespace thunder {
namespace {

void searchsorted_meta(const Call& c, Types& out) {
  const TensorType &sorted = c.type(0), &x = c.type(1);
  c.require(sorted.dtype == x.dtype && sorted.device == x.device, "operands must have one dtype; ", c.types());
  bool fits = sorted.rank() == 1 || sorted.rank() == x.rank();
  for (size_t i = 0; fits && sorted.rank() > 1 && i + 1 < x.rank(); i++) fits = sorted.shape[i] == x.shape[i];
  c.require(fits && sorted.rank() >= 1,
            "sorted_sequence must be a vector, or agree with input in all but the last dim; ", c.types());
  TensorType t = x;
  t.dtype = DType::i64;
  out.push(t);
}
// Binary search for `wanted`: the same number of steps for all elements, without data-dependent branches.
template <bool right, class T>
int64_t binary_search(const Line<const T>& line, T wanted) {
  using C = Compute<T>;
  const C v = static_cast<C>(wanted);
  int64_t low = 0;
  for (int64_t left = line.size; left > 0;) {
    const int64_t half = left / 2;
    const C at = static_cast<C>(line[low + half]);
    const bool beyond = right ? !precedes(v, at) : precedes(at, v);
    low = beyond ? low + half + 1 : low;
    left = beyond ? left - half - 1 : half;
  }
  return low;
}
template <bool right, class T>
Status* search(const KernelArgs& k) {
  const Buffer &sorted = k.in[0], &in = k.in[1], &out = k.out[0];
  if (sorted.rank == 1) {
    const auto line = line_at<const T>(sorted, 0, 0);
    each<T, int64_t>(KernelArgs{std::span(&in, 1), k.out, k.args, k.op, k.threads},
                     [line](T v) { return binary_search<right>(line, v); });
    return nullptr;
  }
  const auto axis = static_cast<size_t>(in.rank) - 1;
  each_line(k, in, out, sorted, axis, 0, [&](int64_t from, int64_t to, int64_t begin, int) {
    const auto wanted = line_at<const T>(in, axis, from);
    const auto found = line_at<int64_t>(out, axis, to);
    const auto line = line_at<const T>(sorted, axis, begin);
    for (int64_t j = 0; j < wanted.size; j++) found[j] = binary_search<right>(line, wanted[j]);
  });
  return nullptr;
}
Status* searchsorted_kernel(const KernelArgs& k) {
  return by_dtype(k.in[1].dtype, [&](auto t) {
    using T = decltype(t);
    return k.args[2].i ? search<true, T>(k) : search<false, T>(k);
  });
}

constexpr OpRow kRows[] = {
    primitive("prims.searchsorted(tensor sorted_sequence, tensor input, bool right) -> tensor",
              "Where each element would have to be put in to keep the sequence in order.", searchsorted_meta,
              searchsorted_kernel, nullptr, 0, {.nondiff = "the result is an index"}),
};

}  // namespace

extern const OpRows search_prims_ops = kRows;

}  // namespace thunder
