// sort and topk. Short lines: a merge sort of the places of a line's elements, a launch for each length of its runs. A
// thread finds the rank of one element: among 32 neighbours by comparing with each, then in the neighbouring run by a
// binary search. Longer ones are sorted by a block each, the longest by a radix sort of all elements by key, then by
// line; where few are wanted, these are selected.
#include <algorithm>

#include "executors/cuda/block_sort.h"
#include "executors/cuda/selection.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

constexpr int64_t kFirstRun = 32;  // mirrored in the text
constexpr int64_t kShortLine = 1024;
constexpr size_t kKeysStep = 1, kTakeStep = 4, kFurtherStep = 5;

// Equal keys are ordered by place.
constexpr char kOrder[] = THUNDER_CUDA_LINES R"(
// Without `to` the first elements in order are the results, with their places.
extern "C" __global__ void kernel(T* values, i64* indices, const T* in, const i64* from, i64* to, i64 elements,
                                  i64 size, i64 inner, i64 run, i64 descending, i64 wanted) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < elements; at += (i64)gridDim.x * blockDim.x) {
    const i64 row = at / size, i = at - row * size, outer = row / inner, column = row - outer * inner;
    const i64 begin = outer * size * inner + column;
    const Line line = {in + begin, inner, descending ? (Key)~(Key)0 : (Key)0};
    i64 own = i, rank = 0;
    if (!from) {
      const i64 first = i / 32 * 32, end = first + 32 < size ? first + 32 : size;
      const Key mine = line.key(own);
      rank = first;
      for (i64 j = first; j < end; j++) rank += line.before(j, mine, own);
    } else {
      from += begin;
      own = from[i * inner];
      const Key mine = line.key(own);
      const i64 first = i / (2 * run) * (2 * run), middle = first + run < size ? first + run : size;
      const i64 end = middle + run < size ? middle + run : size;
      i64 low = i < middle ? middle : first, left = i < middle ? end - middle : run;
      while (left > 0) {
        const i64 half = left / 2;
        const bool before = line.before(from[(low + half) * inner], mine, own);
        low = before ? low + half + 1 : low, left = before ? left - half - 1 : half;
      }
      rank = i - middle + low;
      from -= begin;
    }
    if (to) to[begin + rank * inner] = own;
    else if (rank < wanted) {
      const i64 place = (outer * wanted + rank) * inner + column;
      values[place] = line.in[own * inner], indices[place] = own;
    }
  }
}
)" THUNDER_CUDA_RADIX R"(
extern "C" __global__ void take_sorted(T* values, i64* indices, const T* in, const Key* keys, const u32* sorted,
                                       i64 rows, i64 size, i64 inner, i64 wanted, i64 descending) {
  const Key turned = descending ? (Key)~(Key)0 : (Key)0;
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < rows * wanted; at += (i64)gridDim.x * blockDim.x) {
    const i64 row = at / wanted, rank = at - row * wanted, outer = row / inner, column = row - outer * inner;
    const i64 own = sorted[row * size + rank] - row * size, place = (outer * wanted + rank) * inner + column;
    decltype(+(C)0) value;
    const bool is_all = value_of(keys[row * size + rank] ^ turned, value);
    values[place] = is_all ? put((C)value) : in[(outer * size + own) * inner + column], indices[place] = own;
  }
}
)";

template <size_t A, size_t B>
consteval std::array<char, A + B - 1> concatenate(const char (&a)[A], const char (&b)[B]) {
  std::array<char, A + B - 1> out{};
  std::copy_n(a, A - 1, out.begin());
  std::copy_n(b, B, out.begin() + A - 1);
  return out;
}
constexpr std::array kSort = concatenate(kOrder, kBlockSort);
constexpr std::array kTopk = concatenate(kOrder, kSelection);

bool has_short_lines(const NodeView& view) { return size_of_line(view) <= kShortLine; }
size_t index_scratch_bytes(const NodeView& view) {
  return sizeof(int64_t) * static_cast<size_t>(elements_of_input(view, 0));
}
size_t radix_scratch(const NodeView& view) {
  return RadixSort::scratch(elements_of_input(view, 0), line_key_bytes(first_input_dtype(view)));
}
// Sorting needs two arrays of indices; one of them is a result of sort.
size_t sort_scratch(const NodeView& view) {
  if (has_short_lines(view)) return index_scratch_bytes(view);
  return fits_into_block(first_input_dtype(view), size_of_line(view)) ? 0 : radix_scratch(view);
}
size_t topk_scratch(const NodeView& view) {
  const int64_t wanted = view.node.args[2].i;
  if (has_short_lines(view)) return 2 * index_scratch_bytes(view);
  return wanted <= kMostSelected ? selection_scratch(elements_of_input(view, 0) / size_of_line(view), wanted,
                                                     line_key_bytes(first_input_dtype(view)))
                                 : radix_scratch(view);
}
// Beyond that the CPU sorts, rather than that a program takes much more memory than its values.
template <size_t (*scratch)(const NodeView&)>
bool takes(const NodeView& view) {
  return elements_of_input(view, 0) < RadixSort::kMost && scratch(view) <= size_t{1} << 30;
}

Status* run_radix(const CompiledNode& kernel, const Launch& l, DimSizes a, int64_t descending, int64_t wanted) {
  const Buffer& in = l.inputs[0];
  int64_t rows = a.outer * a.inner;
  RadixSort sort(l.scratch, in.elements(), line_key_bytes(in.dtype));
  if (Status* failed = sort_lines(kernel, sort, in, a, descending, kKeysStep)) return failed;
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *input = in.data;
  const void* keys = sort.sorted_keys();
  const uint32_t* sorted = sort.sorted();
  void* taking[] = {&values, &indices, &input, &keys, &sorted, &rows, &a.size, &a.inner, &wanted, &descending};
  return kernel.launch(rows * wanted, false, taking, kTakeStep);
}

// The first `wanted` elements along a dim in order.
Status* run_sort_or_topk(const CompiledNode& kernel, const Launch& l, int64_t dim, int64_t descending, int64_t wanted,
                         int64_t* spare) {
  const Buffer& in = l.inputs[0];
  const DimSizes a = split_sizes_at(in, dim);
  if (in.elements() && wanted && a.size > kShortLine) return run_radix(kernel, l, a, descending, wanted);
  int64_t count = in.elements(), size = a.size, inner = a.inner, merges = 0;
  if (!count || !wanted) return nullptr;
  for (int64_t run = kFirstRun; run < size; run *= 2) merges++;
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *input = in.data;
  int64_t* const places = static_cast<int64_t*>(l.scratch);
  // The last merge reads `places`, since it may write `spare`.
  int64_t *from = nullptr, *to = nullptr, run = kFirstRun / 2;
  for (int64_t merge = 0; merge <= merges; merge++, run *= 2) {
    from = to, to = merge == merges ? nullptr : (merges - merge) % 2 ? places : spare;
    void* parameters[] = {&values, &indices, &input, &from, &to, &count, &size, &inner, &run, &descending, &wanted};
    if (Status* failed = kernel.launch(count, false, parameters)) return failed;
  }
  return nullptr;
}

// sort(input, dim, descending)
Status* run_sort(const CompiledNode& kernel, const Launch& l) {
  const std::span<const Arg> args = kernel.node.args;
  const DimSizes a = split_sizes_at(l.inputs[0], args[1].i);
  if (a.size > kShortLine && fits_into_block(l.inputs[0].dtype, a.size))
    return sort_in_blocks(kernel, l, a, args[2].i, kFurtherStep);
  return run_sort_or_topk(kernel, l, args[1].i, args[2].i, a.size, l.outputs[1].as<int64_t>());
}

// topk(input, dim, k, largest)
Status* run_topk(const CompiledNode& kernel, const Launch& l) {
  const std::span<const Arg> args = kernel.node.args;
  const DimSizes a = split_sizes_at(l.inputs[0], args[1].i);
  if (l.inputs[0].elements() && a.size > kShortLine && args[2].i > 0 && args[2].i <= kMostSelected)
    return select(kernel, l, a, args[3].i, args[2].i, kFurtherStep);
  return run_sort_or_topk(kernel, l, args[1].i, args[3].i, args[2].i,
                          static_cast<int64_t*>(l.scratch) + l.inputs[0].elements());
}

constexpr Rule kRules[] = {
    {.op = name(Prim::sort),
     .takes = takes<sort_scratch>,
     .text = kSort.data(),
     .element = first_input_dtype,
     .run = run_sort,
     .scratch = sort_scratch,
     .others = {"keys_of_lines", kRadixSteps[0], kRadixSteps[1], "take_sorted", kBlockSortSteps[0],
                kBlockSortSteps[1]}},
    {.op = name(Prim::topk),
     .takes = takes<topk_scratch>,
     .text = kTopk.data(),
     .element = first_input_dtype,
     .run = run_topk,
     .scratch = topk_scratch,
     .others = {"keys_of_lines", kRadixSteps[0], kRadixSteps[1], "take_sorted", kSelectionSteps[0],
                kSelectionSteps[1]}},
};

}  // namespace

extern const Rules order_rules = kRules;

}  // namespace thunder::cuda_kernels
