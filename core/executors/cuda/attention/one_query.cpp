// scaled_dot_product_attention_forward of one query a head: a block has some heads that share keys, and a part of the
// keys; where there are several parts a second kernel joins them (flash decoding, Dao et al. 2023). Sums are f32, in
// an order that depends on sizes alone.
#include "executors/cuda/attention/one_query.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text.h"
#include "executors/cuda/attention/one_query_text.h"
#include "executors/cuda/kernel_rules.h"
#include "ir/dim_reads.h"

namespace thunder::cuda_kernels {
namespace {

constexpr int64_t kMostLanes = 32, kVectorBytes = 16;

// The text declares the same struct (one_query_text.h). Steps are elements: of a batch, a head and a key.
struct Problem {
  const void *query, *key, *value, *mask;
  void *out, *top, *total, *parts;
  int64_t query_step[2], key_step[3], value_step[3], mask_step[3];
  int32_t items, heads, key_heads, keys, width, value_width, splits, chunk, mask_kind;
  float scale;
  int32_t aligned;
};

// The parameters' places in the op's schema.
enum Place : size_t { kQuery, kKey, kValue, kMask, kCausal, kScale, kGrouped, kKept };

struct Sizes {
  int64_t batch, heads, key_heads, keys, width, value_width;
};
Sizes sizes_of(const NodeView& view) {
  const auto of = [&](Place place) { return concrete(view.store.type(view.node.args[place].v).shape); };
  const auto q = of(kQuery), k = of(kKey), v = of(kValue);
  const size_t rank = q.size();
  return {rank == 4 ? q[0] : 1, q[rank - 3], k[rank - 3], view.node.args[kCausal].i ? 1 : k[rank - 2], q[rank - 1],
          v[rank - 1]};
}

// How the work is divided among blocks.
struct Division {
  int64_t group;  // heads of a block
  int64_t splits, chunk;  // parts of the keys, and the keys of a part
};
// Few keys are read again by each head, from the L2 cache, which takes less time than a second kernel; many are read
// once for heads that share them, in parts that occupy the device.
Division divide(const Sizes& s) {
  constexpr int64_t kFewKeys = 1024, kBlocks = 256, kLeastKeys = 128, kMostGroup = 4;
  const int64_t shared = s.heads / s.key_heads;
  Division d{1, 1, s.keys};
  if (s.keys <= kFewKeys) return d;
  while (d.group < kMostGroup && shared % (2 * d.group) == 0) d.group *= 2;
  const int64_t blocks = s.batch * s.heads / d.group;
  const int64_t wanted = std::clamp((kBlocks + blocks - 1) / blocks, int64_t{1}, s.keys / kLeastKeys);
  d.chunk = (s.keys + wanted - 1) / wanted;
  d.splits = (s.keys + d.chunk - 1) / d.chunk;
  return d;
}

int64_t lanes_of(const Sizes& s, DType d) {
  const int64_t vector = kVectorBytes / static_cast<int64_t>(size_of(d));
  const int64_t vectors = (std::max(s.width, s.value_width) + vector - 1) / vector;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(4, vectors))));
}

int64_t warps_of(const Division& d) { return d.group == 1 ? 16 : 8; }

std::string constants(const NodeView& view) {
  const Sizes s = sizes_of(view);
  const Division d = divide(s);
  return cat("constexpr int kGroup = ", d.group, ", kLanes = ", lanes_of(s, first_input_dtype(view)),
             ", kWarps = ", warps_of(d), ";\n");
}

size_t scratch(const NodeView& view) {
  const Sizes s = sizes_of(view);
  const Division d = divide(s);
  if (d.splits == 1) return 0;
  return static_cast<size_t>(s.batch * s.heads * d.splits * (s.value_width + 2)) * sizeof(float);
}

// Steps of [batch, head, key]; dims of one element, and those that are absent, have none.
void find_steps(const Buffer& b, int32_t last, std::span<int64_t> steps) {
  for (size_t i = 0; i < steps.size(); i++) {
    const int32_t dim = last - static_cast<int32_t>(steps.size() - 1 - i);
    steps[i] = dim >= 0 && b.shape[dim] > 1 ? b.strides[dim] : 0;
  }
}
// Of [.., head, key, width].
void find_row_steps(const Buffer& b, std::span<int64_t> steps) {
  int64_t all[3];
  find_steps(b, b.rank - 2, all);
  std::copy_n(all, steps.size(), steps.begin());
}

bool is_readable(const Buffer& b, std::span<const int64_t> steps) {
  const auto item = static_cast<int64_t>(size_of(b.dtype));
  return reinterpret_cast<uintptr_t>(b.data) % kVectorBytes == 0 &&
         std::all_of(steps.begin(), steps.end(), [&](int64_t s) { return s * item % kVectorBytes == 0; });
}

Status* run(const CompiledNode& kernel, const Launch& l) {
  const Buffer &q = l.inputs[0], &k = l.inputs[1], &v = l.inputs[2], &out = l.outputs[0];
  if (!out.elements()) return nullptr;
  const auto& args = kernel.node.args;
  const int32_t rank = q.rank;
  const int64_t keys = args[kCausal].i ? 1 : k.shape[rank - 2];
  const Sizes s{rank == 4 ? q.shape[0] : 1, q.shape[rank - 3], k.shape[rank - 3], keys, q.shape[rank - 1],
                v.shape[rank - 1]};
  const Division d = divide(s);
  Problem p{};
  p.query = q.data, p.key = k.data, p.value = v.data, p.out = out.data, p.parts = l.scratch;
  p.top = l.outputs[1].data, p.total = l.outputs[2].data;
  find_row_steps(q, p.query_step), find_row_steps(k, p.key_step), find_row_steps(v, p.value_step);
  if (args[kMask].present()) {
    const Buffer& mask = l.inputs[3];
    p.mask = mask.data, p.mask_kind = mask.dtype == DType::boolean ? 1 : mask.dtype == q.dtype ? 2 : 3;
    // Its dims are those of scores, [.., head, query, key].
    int64_t all[4];
    find_steps(mask, mask.rank - 1, all);
    p.mask_step[0] = all[0], p.mask_step[1] = all[1], p.mask_step[2] = all[3];
  }
  p.heads = static_cast<int32_t>(s.heads), p.key_heads = static_cast<int32_t>(s.key_heads);
  p.keys = static_cast<int32_t>(s.keys), p.width = static_cast<int32_t>(s.width);
  p.value_width = static_cast<int32_t>(s.value_width);
  p.splits = static_cast<int32_t>(d.splits), p.chunk = static_cast<int32_t>(d.chunk);
  p.scale = static_cast<float>(args[kScale].present() ? args[kScale].f : 1 / std::sqrt(static_cast<double>(s.width)));
  p.items = static_cast<int32_t>(s.batch * s.heads / d.group * d.splits);
  p.aligned = is_readable(q, p.query_step) && is_readable(k, p.key_step) && is_readable(v, p.value_step);
  void* parameters[] = {&p};
  const auto blocks = static_cast<unsigned>(p.items);
  const auto threads = static_cast<unsigned>(warps_of(d) * kMostLanes);
  const char* const name = kernel.node.op->name().data();
  if (Status* failed = kernel.device.launch(kernel.steps[0], {blocks, threads}, parameters, name)) return failed;
  return d.splits == 1 ? nullptr : kernel.launch(s.batch * s.heads, true, parameters, 1);
}

constexpr Rule kRules[] = {{.op = "scaled_dot_product_attention_forward",
                            .takes = is_one_query,
                            .text = kOneQuery,
                            .element = first_input_dtype,
                            .run = run,
                            .flags = kStrided,
                            .scratch = scratch,
                            .others = {"join_parts"},
                            .constants = constants}};

// Whether a vector of it is read at once: its last dim is whole vectors, which lanes of a warp hold.
bool suits(const TensorType& t, DType d, size_t rank) {
  const int64_t vector = kVectorBytes / static_cast<int64_t>(size_of(d));
  const Dim width = t.shape[rank - 1];
  return width.constant() && width.value() > 0 && width.value() % vector == 0 &&
         width.value() <= kMostLanes * vector;
}

}  // namespace

bool is_one_query(const NodeView& view) {
  const auto& args = view.node.args;
  const auto type = [&](Place place) -> const TensorType& { return view.store.type(args[place].v); };
  const DType d = type(kQuery).dtype;
  const size_t rank = type(kQuery).rank();
  if (!(is_half(d) || d == DType::f32) || rank < 3 || rank > 4 || args[kKept].present()) return false;
  for (const Place place : {kKey, kValue})
    if (type(place).dtype != d || type(place).rank() != rank) return false;
  const Shape &q = type(kQuery).shape, &k = type(kKey).shape, &v = type(kValue).shape;
  for (size_t i = 0; i + 3 < rank; i++)
    if (!is_equal(q[i], k[i]) || !is_equal(q[i], v[i])) return false;
  if (!is_equal(q[rank - 2], 1) || !is_equal(k[rank - 3], v[rank - 3]) || !is_less(0, k[rank - 2])) return false;
  if (!is_equal(q[rank - 3], k[rank - 3]) && !args[kGrouped].i) return false;
  if (args[kMask].present() && (type(kMask).rank() > rank || kind(type(kMask).device) != kCudaKind)) return false;
  constexpr int64_t kMostElements = int64_t{1} << 30;  // numbers of blocks and keys are 32 bits
  return suits(type(kQuery), d, rank) && suits(type(kValue), d, rank) && is_less(elements(q), kMostElements) &&
         is_less(elements(k), kMostElements);
}

bool is_faster_than_library(const NodeView& view) {
  constexpr int64_t kMostKeys = 512, kMostRows = 64;  // a row has a block, and each a multiprocessor
  const auto shape = [&](Place place) -> const Shape& { return view.store.type(view.node.args[place].v).shape; };
  const Arg& mask = view.node.args[kMask];
  const Shape &q = shape(kQuery), &k = shape(kKey);
  return mask.present() && view.store.type(mask.v).dtype == DType::boolean && is_at_most(k[k.size() - 2], kMostKeys) &&
         is_at_most(elements(Shape(q.begin(), q.end() - 1)), kMostRows);
}

extern const Rules one_query_rules = kRules;

}  // namespace thunder::cuda_kernels
