// Updates at positions that index tensors give: take_add, index_put. What is added to one element is added in the order
// of the indices, by parts where it is much, so results have the same bits in every run. Integers are added in any. Of
// values that are put in one place the last one is found without a sort.
#include <algorithm>

#include "base/text.h"
#include "executors/cuda/update_text.h"
#include "ir/prim.h"
#include "tensor/transfer.h"

namespace thunder::cuda_kernels {
namespace {

// Up to so many indices are compared each with all others, in one launch, by a text that is soon compiled.
constexpr int64_t kFewIndices = 512;
using Key = uint32_t;
constexpr size_t kSortSteps = 1, kApplyStep = 3, kSumStep = 4, kJoinStep = 5, kIntegerStep = 6, kClearStep = 7,
                 kFindStep = 8, kPutStep = 9;

Status* too_many_dims_error(const CompiledNode& kernel) {
  return make<Status>(Code::unimplemented, cat(kernel.node.op->name(), ": operands of such strides in more than ",
                                               kMostDims, " dims"))
      .detach();
}

// How slices of `out` and of `src` are walked together.
struct Walk {
  Indices x;
  OffsetCalculator<2> slice;
  int64_t elements = 1;  // of a slice
  bool fits = true;
};
Walk make_walk(std::span<const Buffer> tensors, const Buffer& out, const Buffer& src, size_t dim, bool from_end) {
  Walk w{make_indices(tensors, out, dim, from_end), {}};
  const auto indexed = static_cast<size_t>(tensors[0].rank);
  for (size_t d = 0; d < indexed && w.fits; d++) {
    std::array<int64_t, kMostIndices + 1> by{};
    for (size_t k = 0; k < tensors.size(); k++) by[k] = tensors[k].strides[d];
    by[kMostIndices] = src.strides[dim + d];
    w.fits = w.x.positions.add(tensors[0].shape[d], by);
  }
  for (size_t d = 0, behind = dim + tensors.size(); d < static_cast<size_t>(out.rank) && w.fits; d++) {
    if (d >= dim && d < behind) continue;
    w.fits = w.slice.add(out.shape[d], {out.strides[d], src.strides[d < dim ? d : d - tensors.size() + indexed]});
    w.elements *= out.shape[d];
  }
  return w;
}

// Whether the last value of each place is found in a table of all places, which is not larger than what is updated.
bool has_table(int64_t slice, DType d) { return static_cast<size_t>(slice) * size_of(d) >= sizeof(uint32_t); }

// Of threads for a slice, the logarithm: of at most a block's 256.
int64_t log2_of_lanes(int64_t elements) {
  int64_t lanes = 0;
  while (lanes < 8 && int64_t{1} << lanes < elements) lanes++;
  return lanes;
}

Status* put_last_values(const CompiledNode& kernel, const Launch& l, Walk& w, int64_t count) {
  void *last = l.scratch, *to = l.outputs[0].data, *from = l.inputs[l.n_inputs - 1].data;
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  void* finding[] = {&last, &w.x, &count, &assertion};
  for (const size_t step : {kClearStep, kFindStep})
    if (Status* failed = kernel.launch(count, false, finding, step)) return failed;
  int64_t lanes = log2_of_lanes(w.elements);
  void* putting[] = {&to, &from, &last, &w.x, &w.slice, &w.elements, &lanes, &count, &assertion};
  return kernel.launch(count << lanes, false, putting, kPutStep);
}

// Updates the slices of `out` that the indices, over its dims from `dim` on, point to. `out` is what `in` was, in other
// memory or in its own.
Status* update(const CompiledNode& kernel, const Launch& l, std::span<const Buffer> tensors, size_t dim, bool from_end,
               bool add) {
  const Buffer &in = l.inputs[0], &src = l.inputs[l.n_inputs - 1], &out = l.outputs[0];
  if (in.data != out.data)
    if (Status* failed = copy_on_device(kernel.device, in, out)) return failed;
  int64_t count = tensors[0].elements(), adds = add;
  if (!count) return nullptr;
  for (size_t k = 0; k < tensors.size(); k++)
    if (!out.shape[dim + k]) return empty_dim_error(kernel, dim + k);
  if (!out.elements()) return nullptr;
  Walk w = make_walk(tensors, out, src, dim, from_end);
  if (!w.fits) return too_many_dims_error(kernel);
  void *to = out.data, *from = src.data;
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  if (count <= kFewIndices) {
    void* parameters[] = {&to, &from, &w.x, &w.slice, &w.elements, &count, &adds, &assertion};
    return kernel.launch(count, true, parameters);
  }
  if (add && adds_in_any_order(out.dtype)) {
    void* parameters[] = {&to, &from, &w.x, &w.slice, &w.elements, &count, &assertion};
    return kernel.launch(count * w.elements, false, parameters, kIntegerStep);
  }
  if (!add && has_table(w.elements, out.dtype)) return put_last_values(kernel, l, w, count);
  RadixSort sort(l.scratch, count, sizeof(Key));
  void* keys = sort.keys();
  void* naming[] = {&keys, &w.x, &count, &assertion};
  if (Status* failed = kernel.launch(count, false, naming)) return failed;
  uint64_t places = 1;
  for (size_t k = 0; k < tensors.size(); k++) places *= static_cast<uint64_t>(out.shape[dim + k]);
  if (Status* failed = sort.run(kernel, kSortSteps, digits_of_numbers_below(std::max<uint64_t>(2, places), 0)))
    return failed;
  const void* sorted_keys = sort.sorted_keys();
  const uint32_t* sorted = sort.sorted();
  int64_t lanes = log2_of_lanes(w.elements);
  void* parameters[] = {&to,         &from,  &sorted_keys, &sorted, &w.x,      &w.slice,
                        &w.elements, &lanes, &count,       &adds,   &assertion};
  Status* failed = kernel.launch(count << lanes, false, parameters, kApplyStep);
  if (failed || !add || count < kPart) return failed;
  void* sums = static_cast<std::byte*>(l.scratch) + RadixSort::scratch(count, sizeof(Key));
  const int64_t work = count_part_sums(count, w.elements) / 2;
  void* summing[] = {&sums, &from, &sorted_keys, &sorted, &w.x, &w.slice, &w.elements, &count};
  if (Status* refused = kernel.launch(work, false, summing, kSumStep)) return refused;
  void* joining[] = {&to, &sums, &sorted_keys, &sorted, &w.x, &w.slice, &w.elements, &count, &assertion};
  return kernel.launch(work, false, joining, kJoinStep);
}

uint64_t count_places(const NodeView& view, size_t dim, size_t n) {
  uint64_t places = 1;
  const Shape& shape = view.store.type(view.node.args[0].v).shape;
  for (size_t k = 0; k < n; k++) places *= static_cast<uint64_t>(std::max<int64_t>(1, shape[dim + k].value()));
  return places;
}
// Whether as many indices can be sorted, by places of these dims.
bool can_sort_indices(const NodeView& view, ValueId index, size_t dim, size_t n) {
  return count_places(view, dim, n) <= uint64_t{1} << 32 &&
         elements(view.store.type(index).shape).value() < RadixSort::kMost;
}
size_t update_scratch(const NodeView& view, ValueId index, ValueId src, size_t dim, size_t n, bool add) {
  const int64_t count = elements(view.store.type(index).shape).value();
  const DType d = first_input_dtype(view);
  if (count <= kFewIndices || (add && adds_in_any_order(d))) return 0;
  const int64_t slice = elements(view.store.type(src).shape).value() / count;
  if (!add && has_table(slice, d)) return static_cast<size_t>(count_places(view, dim, n)) * sizeof(uint32_t);
  const auto sums = add ? static_cast<size_t>(count_part_sums(count, slice)) : 0;
  return RadixSort::scratch(count, sizeof(Key)) + sums * sizeof(double);
}

// ---- take_add(input, dim, index, src) ----

bool takes_take_add(const NodeView& view) {
  const size_t rank = view.store.type(view.node.args[0].v).shape.size();
  return adds_numbers(view) &&
         can_sort_indices(view, view.node.args[2].v, normalize_axis(view.node.args[1].i, rank), 1);
}
size_t take_add_scratch(const NodeView& view) {
  return update_scratch(view, view.node.args[2].v, view.node.args[3].v, 0, 1, true);
}
Status* run_take_add(const CompiledNode& kernel, const Launch& l) {
  const size_t dim = normalize_axis(kernel.node.args[1].i, static_cast<size_t>(l.outputs[0].rank));
  return update(kernel, l, {l.inputs + 1, 1}, dim, false, true);
}

// ---- index_put(input, indices, values, accumulate) ----

bool takes_index_put(const NodeView& view) {
  const auto given = view.node.args[1].value_list();
  return takes_index(view) && can_sort_indices(view, given[0], 0, given.size()) &&
         (!view.node.args[3].i || adds_numbers(view));
}
size_t index_put_scratch(const NodeView& view) {
  const auto given = view.node.args[1].value_list();
  return update_scratch(view, given[0], view.node.args[2].v, 0, given.size(), view.node.args[3].i != 0);
}
Status* run_index_put(const CompiledNode& kernel, const Launch& l) {
  return update(kernel, l, {l.inputs + 1, l.n_inputs - 2}, 0, true, kernel.node.args[3].i != 0);
}

bool has_few_indices(const NodeView& view, ValueId index) {
  return elements(view.store.type(index).shape).value() <= kFewIndices;
}
bool takes_few_added(const NodeView& view) {
  return takes_take_add(view) && has_few_indices(view, view.node.args[2].v);
}
bool takes_few_put(const NodeView& view) {
  return takes_index_put(view) && has_few_indices(view, view.node.args[1].value_list()[0]);
}

#define THUNDER_UPDATE_STEPS \
  { kRadixSteps[0], kRadixSteps[1], "apply_updates", "sum_parts", "join_parts", "add_integers", "clear_last", \
    "find_last", "put_last" }
constexpr Rule kRules[] = {
    {name(Prim::take_add), takes_few_added, kFewUpdates, first_input_dtype, describe_arg_dim, run_take_add, kStrided},
    {name(Prim::take_add), takes_take_add, kManyUpdates, first_input_dtype, describe_arg_dim, run_take_add, kStrided,
     take_add_scratch, THUNDER_UPDATE_STEPS},
    {name(Prim::index_put), takes_few_put, kFewUpdates, first_input_dtype, describe_indexed_dims, run_index_put,
     kStrided},
    {name(Prim::index_put), takes_index_put, kManyUpdates, first_input_dtype, describe_indexed_dims, run_index_put,
     kStrided, index_put_scratch, THUNDER_UPDATE_STEPS},
};

}  // namespace

extern const Rules updates_rules = kRules;

}  // namespace thunder::cuda_kernels
