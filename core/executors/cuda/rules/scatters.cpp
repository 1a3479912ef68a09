// scatter_add and scatter_reduce. Integers and reals of at most 32 bits are added in any order (fixed_point.h), and
// extremes found. Else the elements of the source are sorted by where they go, and what goes to one place is joined in
// their order, by parts where it is much; elements of at most 4 bytes are themselves sorted, so that they need not be
// looked up.
#include <algorithm>

#include "executors/cuda/scatter_text.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

using Key = uint32_t;  // mirrored in the text
constexpr size_t kSortSteps = 1, kJoinStep = 3, kSumStep = 4, kPartsStep = 5, kIntegerStep = 6,
                 kExtremeStep = 7, kRaiseStep = 8, kAddStep = 9, kPutStep = 10, kLinesStep = 11;
enum How : int64_t { kAdd, kMultiply, kGreatest, kLeast };  // mirrored in the text

struct Walk {
  int64_t rank, dim, wide, sizes[kMostDims], out[kMostDims], src[kMostDims];
};

// ---- scatter_add(input, dim, index, src), scatter_reduce(input, dim, index, src, reduce) ----

bool takes(const NodeView& view) {
  const size_t rank = view.store.type(view.node.args[0].v).rank();
  return rank > 0 && rank <= kMostDims && adds_numbers(view) && elements_of_input(view, 0) <= int64_t{1} << 32 &&
         elements_of_input(view, 2) < RadixSort::kMost;
}
size_t scratch(const NodeView& view) {
  const int64_t count = std::max<int64_t>(1, elements_of_input(view, 2));
  return RadixSort::scratch(count, sizeof(Key)) + static_cast<size_t>(count_part_sums(count, 1)) * sizeof(double);
}
// Extremes are the same in any order; a word is what the hardware exchanges.
bool has_atomic_exchange(DType d) { return size_of(d) >= sizeof(uint32_t); }
size_t scratch_of_reduce(const NodeView& view) {
  return view.node.args[4].text() != "prod" && has_atomic_exchange(first_input_dtype(view)) ? 0 : scratch(view);
}

// How reals are added: each block has the places of some lines for itself, or all places have theirs in a table, or (if
// neither) by a sort.
struct ScatterAddPlan {
  int64_t each = 0, places = 0;  // of a block: elements of the source, and places that they go to; 0: no lines
  bool table = false;
};
constexpr int64_t kEnoughLines = 128;  // for all multiprocessors
ScatterAddPlan plan_scatter_add(std::span<const int64_t> out, std::span<const int64_t> index, size_t dim, DType d) {
  ScatterAddPlan a;
  if (!FixedPoint::supports(d)) return a;
  int64_t lines = 1, places = 1;
  bool whole = true;  // each line of the result has one of the source
  for (size_t i = 0; i < out.size(); i++) {
    places *= out[i];
    if (i == dim) continue;
    lines *= index[i], whole &= index[i] == out[i];
  }
  const int64_t longest = std::max({int64_t{1}, out[dim], index[dim]});
  if (dim + 1 == out.size() && out[dim] <= FixedPoint::kFew && lines >= kEnoughLines) {
    const int64_t n = whole ? std::clamp<int64_t>(FixedPoint::kFew / longest, 1, lines / kEnoughLines) : 1;
    a.each = n * index[dim], a.places = n * out[dim];
  }
  a.table = !a.each && static_cast<size_t>(places) * FixedPoint::kBytes <=
                           RadixSort::scratch(lines * index[dim], sizeof(Key));
  return a;
}
size_t scratch_of_add(const NodeView& view) {
  if (adds_in_any_order(first_input_dtype(view))) return 0;
  std::array<std::array<int64_t, kMostDims>, 2> sizes{};  // of the input, and of the index
  const size_t rank = view.store.type(view.node.args[0].v).rank(), dim = normalize_axis(view.node.args[1].i, rank);
  for (size_t i = 0; i < 2; i++)
    for (size_t d = 0; d < rank; d++) sizes[i][d] = view.store.type(view.node.args[2 * i].v).shape[d].value();
  const ScatterAddPlan a =
      plan_scatter_add({sizes[0].data(), rank}, {sizes[1].data(), rank}, dim, first_input_dtype(view));
  if (a.each) return 0;
  return a.table ? static_cast<size_t>(elements_of_input(view, 0)) * FixedPoint::kBytes : scratch(view);
}

// Whose threads take four elements at a time.
int64_t count_blocks(int64_t count) { return (count + 1023) / 1024; }

struct Operands {
  void *out, *src, *index;
  Walk w;
  int64_t size, places, count;
  nvidia::DeviceAssertion* assertion;
};
Status* add_reals(const CompiledNode& kernel, const ScatterAddPlan& a, Operands& o, void* scratch) {
  int64_t bits = FixedPoint::scale_bits(o.count);
  if (a.each) {
    int64_t each = a.each, places = a.places;
    void* parameters[] = {&o.out, &o.src, &o.index, &o.w, &o.size, &each, &places, &o.count, &bits, &o.assertion};
    return kernel.launch((o.count + each - 1) / each, true, parameters, kLinesStep);
  }
  void *sums = scratch, *exponents = static_cast<int64_t*>(scratch) + o.places;
  if (Status* failed =
          kernel.device.fill_with_zeros(scratch, static_cast<size_t>(o.places) * FixedPoint::kBytes))
    return failed;
  const int64_t blocks = count_blocks(o.count);
  void* raising[] = {&exponents, &o.src, &o.index, &o.w, &o.size, &o.places, &o.count, &o.assertion};
  if (Status* failed = kernel.launch(blocks, true, raising, kRaiseStep)) return failed;
  void* add[] = {&sums, &exponents, &o.src, &o.index, &o.w, &o.size, &o.places, &o.count, &bits, &o.assertion};
  if (Status* failed = kernel.launch(blocks, true, add, kAddStep)) return failed;
  void* putting[] = {&o.out, &sums, &exponents, &o.places, &bits};
  return kernel.launch(o.places, false, putting, kPutStep);
}

Status* scatter(const CompiledNode& kernel, const Launch& l, int64_t how) {
  const Buffer &in = l.inputs[0], &index = l.inputs[1], &src = l.inputs[2], &out = l.outputs[0];
  if (Status* failed = kernel.copy(in, out)) return failed;
  int64_t count = index.elements();
  if (!count) return nullptr;
  const auto rank = static_cast<size_t>(out.rank), dim = normalize_axis(kernel.node.args[1].i, rank);
  Walk w{};
  w.rank = out.rank, w.dim = static_cast<int64_t>(dim), w.wide = index.dtype == DType::i64;
  for (size_t d = 0; d < rank; d++) w.sizes[d] = index.shape[d], w.out[d] = out.strides[d], w.src[d] = src.strides[d];
  void *at = index.data, *to = out.data, *from = src.data;
  int64_t size = out.shape[dim], all = out.elements();
  if (!all) return empty_dim_error(kernel, dim);
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  if (how == kAdd && adds_in_any_order(out.dtype)) {
    void* adding[] = {&to, &from, &at, &w, &size, &all, &count, &assertion};
    return kernel.launch(count_blocks(count), true, adding, kIntegerStep);
  }
  const auto dims = [rank](const Buffer& b) { return std::span<const int64_t>(b.shape, rank); };
  const ScatterAddPlan a = plan_scatter_add(dims(out), dims(index), dim, out.dtype);
  if (how == kAdd && (a.each || a.table)) {
    Operands o{to, from, at, w, size, all, count, assertion};
    return add_reals(kernel, a, o, l.scratch);
  }
  if ((how == kGreatest || how == kLeast) && has_atomic_exchange(out.dtype)) {
    int64_t greatest = how == kGreatest;
    void* finding[] = {&to, &from, &at, &w, &size, &count, &greatest, &assertion};
    return kernel.launch(count, false, finding, kExtremeStep);
  }
  RadixSort sort(l.scratch, count, sizeof(Key));
  void *keys = sort.keys(), *values = sort.values();
  void* naming[] = {&keys, &values, &from, &at, &w, &size, &count, &assertion};
  if (Status* failed = kernel.launch(count, false, naming)) return failed;
  const auto places = static_cast<uint64_t>(std::max<int64_t>(2, out.elements()));
  const bool by_value = size_of(out.dtype) <= sizeof(uint32_t);
  if (Status* failed = sort.run(kernel, kSortSteps, digits_of_numbers_below(places, 0), by_value)) return failed;
  const void* sorted_keys = sort.sorted_keys();
  const uint32_t* sorted = sort.sorted();
  void* joining[] = {&to, &from, &sorted_keys, &sorted, &w, &count, &how};
  if (Status* failed = kernel.launch(count, false, joining, kJoinStep); failed || count < kPart) return failed;
  void* sums = static_cast<std::byte*>(l.scratch) + RadixSort::scratch(count, sizeof(Key));
  const int64_t parts = count_part_sums(count, 1) / 2;
  void* summing[] = {&sums, &from, &sorted_keys, &sorted, &w, &count, &how};
  if (Status* failed = kernel.launch(parts, false, summing, kSumStep)) return failed;
  void* putting[] = {&to, &sums, &sorted_keys, &count, &how};
  return kernel.launch(parts, false, putting, kPartsStep);
}
Status* run_add(const CompiledNode& kernel, const Launch& l) { return scatter(kernel, l, kAdd); }
Status* run_reduce(const CompiledNode& kernel, const Launch& l) {
  const std::string_view how = kernel.node.args[4].text();
  return scatter(kernel, l, how == "prod" ? kMultiply : how == "amax" ? kGreatest : kLeast);
}

#define THUNDER_SCATTER_STEPS { kRadixSteps[0], kRadixSteps[1], "join_elements", "sum_parts", \
    "join_parts", "add_integers", "find_extremes", "raise_exponents", "add_in_units", "put_sums", "add_lines" }
constexpr Rule kRules[] = {
    {name(Prim::scatter_add), takes, kScatter, first_input_dtype, describe_arg_dim, run_add, 0, scratch_of_add,
     THUNDER_SCATTER_STEPS},
    {name(Prim::scatter_reduce), takes, kScatter, first_input_dtype, describe_arg_dim, run_reduce, 0, scratch_of_reduce,
     THUNDER_SCATTER_STEPS},
};

}  // namespace

extern const Rules scatters_rules = kRules;

}  // namespace thunder::cuda_kernels
