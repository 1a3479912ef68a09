// Prims that move elements: views, pieces, orders.
#include <algorithm>
#include <numeric>

#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

void reshape(Line& l) {
  l.add_result(l.reshape(l.input(0), l.result_shape()));
}
void permute(Line& l) {
  Ints order = l.integers(1);
  for (int64_t& d : order) d = static_cast<int64_t>(normalize_axis(d, l.rank()));
  l.add_result(l.transpose(l.input(0), order));
}
// The input's dims are the last of the result's.
void expand(Line& l) {
  Ints dims(l.rank());
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(l.result().rank() - l.rank()));
  l.add_result(l.broadcast(l.input(0), l.result_shape(), dims));
}
void slice(Line& l) {
  l.add_result(l.slice(l.input(0), l.integers(1), l.integers(2), l.integers(3)));
}
// Both are padded to the size of the input: the values that are put in, and a mask of their places.
void slice_scatter(Line& l) {
  const Ints starts = l.integers(2), steps = l.integers(4), sizes = l.shape(0), pieces = l.shape(1);
  Ints high(sizes.size()), inside(sizes.size());
  for (size_t i = 0; i < sizes.size(); i++) {
    inside[i] = steps[i] - 1;
    high[i] = sizes[i] - starts[i] - (pieces[i] ? (pieces[i] - 1) * steps[i] + 1 : 0);
  }
  const Val src = l.input(1);
  const Val spaced = l.pad(src, l.scalar(int64_t{0}, l.type(0).dtype), starts, high, inside);
  const Val put = l.module.splat(int64_t{1}, with_dtype(l.type(1), DType::boolean));
  l.add_result(l.select(l.pad(put, l.scalar(int64_t{0}, DType::boolean), starts, high, inside), spaced, l.input(0)));
}
void flip(Line& l) {
  Ints dims = l.integers(1);
  for (int64_t& d : dims) d = static_cast<int64_t>(normalize_axis(d, l.rank()));
  l.add_result(dims.empty() ? l.input(0)
                            : l.module.add_op("stablehlo.reverse", {{l.input(0)}}, l.result(),
                                              array_attribute("dimensions", dims)));
}
void concatenated(Line& l) {
  const size_t axis = normalize_axis(l.arg(1).plain().i, l.result().rank());
  l.add_result(l.module.add_op("stablehlo.concatenate", l.input_list(0), l.result(),
                               "dimension = " + std::to_string(axis) + " : i64"));
}
void pad(Line& l) {
  const Val value = l.operand(3, type_of(l.type(0).dtype, {}));
  l.add_result(l.pad(l.input(0), value, l.integers(1), l.integers(2), Ints(l.rank())));
}
void iota(Line& l) {
  l.add_result(l.result().dtype == DType::boolean ? l.convert(l.iota(DType::i64, l.result_shape(), 0), DType::boolean)
                                            : l.iota(l.result().dtype, l.result_shape(), 0));
}

// The windows as slices beside one another.
void unfold(Line& l) {
  if (!l.rank()) return l.add_result(l.reshape(l.input(0), l.result_shape()));
  const size_t axis = l.axis(1);
  const int64_t size = l.arg(2).plain().i, step = l.arg(3).plain().i;
  const Ints shape = l.shape(0), made = l.result_shape();
  const auto rank = static_cast<int64_t>(l.rank());
  Ints sizes = shape, offsets, numbers{made[axis], 1};
  sizes[axis] = size;
  for (int64_t i = 0; i < rank; i++) offsets.push_back(i < static_cast<int64_t>(axis) ? i : i + 1);
  const Val firsts = l.mul(l.iota(DType::i64, numbers, 0), l.module.splat(step, type_of(DType::i64, numbers)));
  Ints gathered = sizes;
  gathered.insert(gathered.begin() + static_cast<int64_t>(axis), made[axis]);
  std::string dims = "dimension_numbers = #stablehlo.gather<offset_dims = [";
  for (size_t i = 0; i < offsets.size(); i++) dims += (i ? ", " : "") + std::to_string(offsets[i]);
  dims += "], start_index_map = [" + std::to_string(axis) + "], index_vector_dim = 1>, " +
          array_attribute("slice_sizes", sizes);
  const Val all = l.module.add_op("stablehlo.gather", {{l.input(0), firsts}}, type_of(l.type(0).dtype, gathered), dims);
  Ints order;
  for (int64_t i = 0; i <= rank; i++)
    if (i != static_cast<int64_t>(axis) + 1) order.push_back(i);
  order.push_back(static_cast<int64_t>(axis) + 1);
  l.add_result(l.transpose(all, order));
}

// The diagonal is every (n + 1)th element of the two dims flattened.
void diagonal(Line& l) {
  const size_t first = l.axis(2), second = l.axis(3);
  const Ints shape = l.shape(0), made = l.result_shape();
  const int64_t offset = l.arg(1).plain().i, columns = shape[second], count = made.back();
  Ints order, flat;
  for (size_t i = 0; i < shape.size(); i++)
    if (i != first && i != second) order.push_back(static_cast<int64_t>(i)), flat.push_back(shape[i]);
  order.push_back(static_cast<int64_t>(first)), order.push_back(static_cast<int64_t>(second));
  flat.push_back(shape[first] * columns);
  const Val lined = l.reshape(l.transpose(l.input(0), order), flat);
  Ints starts(flat.size()), ends = flat, steps(flat.size(), 1);
  starts.back() = offset < 0 ? -offset * columns : offset, steps.back() = columns + 1;
  ends.back() = starts.back() + (count - 1) * (columns + 1) + 1;
  l.add_result(l.slice(lined, starts, ends, steps));
}

void barrier(Line& l) {
  const std::vector<Val> in = {l.input(0), l.input(1)};
  l.add_result(
      l.module.add_ops("stablehlo.optimization_barrier", in, {{l.module.type(in[0]), l.module.type(in[1])}})[0]);
}

}  // namespace

const Row cat_row = {"stablehlo.concatenate", concatenated};
const Row diagonal_row = {"stablehlo.transpose, reshape, slice", diagonal};
const Row expand_row = {"stablehlo.broadcast_in_dim", expand};
const Row flip_row = {"stablehlo.reverse", flip};
const Row iota_row = {"stablehlo.iota", iota};
const Row optimization_barrier_row = {"stablehlo.optimization_barrier", barrier};
const Row pad_row = {"stablehlo.pad", pad};
const Row permute_row = {"stablehlo.transpose", permute};
const Row reshape_row = {"stablehlo.reshape", reshape};
const Row slice_row = {"stablehlo.slice", slice};
const Row slice_scatter_row = {"stablehlo.pad, select", slice_scatter};
const Row unfold_row = {"stablehlo.gather, transpose", unfold};

}  // namespace thunder::openxla
