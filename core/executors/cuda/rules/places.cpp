// nonzero: each part of the elements is counted, then written behind those of the parts before it.
#include "executors/cuda/block_scan.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

constexpr size_t kMostRank = 8;  // mirrored in the text

constexpr char kPlaces[] = THUNDER_CUDA_SCAN R"(
struct Add { __device__ i64 operator()(i64 x, i64 y) const { return x + y; } };
extern "C" __global__ void kernel(const T* in, i64* totals, i64 count, i64 parts, i64 each) {
  __shared__ i64 shared[8];
  for (i64 part = blockIdx.x; part < parts; part += gridDim.x) {
    const i64 begin = part * each, end = begin + each < count ? begin + each : count;
    i64 mine = 0, all;
    for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x) mine += get(in[i]) != (C)0;
    scan(mine, (i64)0, shared, all, Add{});
    if (threadIdx.x == 0) totals[part] = all;
  }
}
extern "C" __global__ void scan_totals(i64* totals, i64 parts) {
  __shared__ i64 shared[8];
  i64 carry = 0;
  for (i64 first = 0; first < parts; first += blockDim.x) {
    const i64 i = first + threadIdx.x;
    const i64 v = scan(i < parts ? totals[i] : (i64)0, carry, shared, carry, Add{});
    if (i < parts) totals[i] = v;
  }
}
struct Sizes { i64 n[8]; };
__device__ inline void write_row(i64* row, i64 place, i64 rank, const Sizes& sizes) {
  for (i64 d = rank - 1; d > 0; d--) {
    const i64 above = place / sizes.n[d];
    row[d] = place - above * sizes.n[d];
    place = above;
  }
  row[0] = place;
}
extern "C" __global__ void write_places(
    i64* out, const T* in, const i64* totals, i64 count, i64 parts, i64 each, i64 rows, i64 rank, const Sizes sizes,
    i64 fill) {
  __shared__ i64 shared[8];
  for (i64 part = blockIdx.x; part < parts; part += gridDim.x) {
    const i64 begin = part * each, end = begin + each < count ? begin + each : count;
    i64 carry = part ? totals[part - 1] : 0;
    for (i64 first = begin; first < end; first += 8 * blockDim.x) {
      const i64 mine = first + 8 * threadIdx.x;
      int found = 0;
      i64 so_far = 0;
      for (int k = 0; k < 8; k++) {
        if (mine + k >= end || get(in[mine + k]) == (C)0) continue;
        found |= 1 << k, so_far++;
      }
      const i64 own = so_far;
      i64 row = before_scan(so_far, carry, shared, carry, Add{}) + so_far - own;
      for (int k = 0; k < 8; k++)
        if (found >> k & 1 && row < rows) write_row(out + row++ * rank, mine + k, rank, sizes);
    }
  }
  const i64 written = totals[parts - 1] < rows ? totals[parts - 1] : rows;
  for (i64 at = written * rank + blockIdx.x * (i64)blockDim.x + threadIdx.x; at < rows * rank;
       at += (i64)gridDim.x * blockDim.x)
    out[at] = fill;
}
)";
struct Sizes {
  int64_t n[kMostRank];
};

bool takes_places(const NodeView& view) {
  return view.store.type(view.node.args[0].v).rank() <= kMostRank;
}

size_t places_scratch(const NodeView& view) {
  const int64_t count = elements(view.store.type(view.node.args[0].v).shape).value();
  return static_cast<size_t>(count_row_parts(1, count)) * sizeof(int64_t);
}

// nonzero(input, size, fill_value)
Status* run_places(const CompiledNode& kernel, const Launch& l) {
  const Buffer &in = l.inputs[0], &out = l.outputs[0];
  if (!out.elements()) return nullptr;
  void *to = out.data, *from = in.data, *totals = l.scratch;
  int64_t count = in.elements(), parts = count_row_parts(1, count), each = part_size(count, parts);
  int64_t rows = out.shape[0], rank = in.rank, fill = kernel.node.args[2].i;
  Sizes sizes{};
  std::copy_n(in.shape, in.rank, sizes.n);
  void* counting[] = {&from, &totals, &count, &parts, &each};
  if (Status* failed = kernel.launch(parts, true, counting)) return failed;
  void* scanning[] = {&totals, &parts};
  if (Status* failed = kernel.launch(1, true, scanning, 1)) return failed;
  void* writing[] = {&to, &from, &totals, &count, &parts, &each, &rows, &rank, &sizes, &fill};
  return kernel.launch(parts, true, writing, 2);
}

constexpr Rule kRules[] = {{.op = name(Prim::nonzero), .takes = takes_places, .text = kPlaces,
                            .element = first_input_dtype, .run = run_places,
                            .scratch = places_scratch, .others = {"scan_totals", "write_places"}}};

}  // namespace

extern const Rules places_rules = kRules;

}  // namespace thunder::cuda_kernels
