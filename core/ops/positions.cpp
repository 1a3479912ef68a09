#include "ops/positions.h"

#include "base/text.h"
#include "ops/indices.h"

namespace thunder {
namespace {

constexpr int64_t kBlock = 128;

// Adds any two, wrapping around on overflow: the sum is out of range then.
int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrap_index(int64_t index, int64_t size) { return index + (index < 0 ? size : 0); }

// A few positions in a row: their indices, and where they lie in `indexed`.
template <class I, size_t kN>
struct IndexBlock {
  std::array<const I*, kN> from;
  std::array<int64_t, kN> steps;
  int64_t n, indexed, step;
  size_t indices;
  size_t count() const { return kN < kMostIndices ? kN : indices; }
  int64_t index_at(size_t d, int64_t i) const { return from[d][i * steps[d]]; }
};

// Calls f(IndexBlock) for blocks that make up all positions. Always walks kMostIndices views; unused ones repeat the
// first index.
template <class I, size_t kN, class F>
Status* each_of_views(const KernelArgs& k, std::span<const Buffer> indices, const Buffer& lead, const F& f) {
  std::array<const Buffer*, kN + 1> views;
  for (size_t d = 0; d < kN; d++) views[d] = &indices[d < indices.size() ? d : 0];
  views[kN] = &lead;
  Rows<kN + 1> rows(indices[0], views);
  return each_run(k, rows, [&](const auto& offset, int64_t length, int64_t) -> Status* {
    IndexBlock<I, kN> block;
    block.step = rows.step[kN], block.indices = indices.size();
    for (int64_t i = 0; i < length; i += kBlock) {
      block.n = std::min(kBlock, length - i), block.indexed = offset[kN] + i * block.step;
      for (size_t d = 0; d < kN; d++) {
        block.steps[d] = rows.step[d];
        block.from[d] = views[d]->template as<I>() + offset[d] + i * rows.step[d];
      }
      if (Status* failed = f(block)) return failed;
    }
    return nullptr;
  });
}
template <class I, class F>
Status* each_of_type(const KernelArgs& k, std::span<const Buffer> indices, const Buffer& lead, const F& f) {
  switch (indices.size()) {
    case 1: return each_of_views<I, 1>(k, indices, lead, f);
    case 2: return each_of_views<I, 2>(k, indices, lead, f);
    case 3: return each_of_views<I, 3>(k, indices, lead, f);
    default: return each_of_views<I, kMostIndices>(k, indices, lead, f);
  }
}
template <class F>
Status* each_block_of(const KernelArgs& k, std::span<const Buffer> indices, const Buffer& lead, const F& f) {
  return indices[0].dtype == DType::i32 ? each_of_type<int32_t>(k, indices, lead, f)
                                        : each_of_type<int64_t>(k, indices, lead, f);
}

Buffer drop_leading_dims(Buffer b, int32_t dims) {
  b.rank -= dims, b.shape += dims, b.strides += dims;
  return b;
}

}  // namespace

Status* Positions::check(const KernelArgs& k, std::string_view op) const {
  return each_block_of(k, indices_, lead_, [&](const auto& block) -> Status* {
    bool bad = false;  // looked at after the block, so that its loops have no way out
    for (size_t d = 0; d < block.count(); d++) {
      const int64_t size = whole_.shape[d], step = block.steps[d];
      const auto* from = block.from[d];
      OutOfRange of_dim(2 * size);
      for (int64_t i = 0; i < block.n; i++) of_dim.add(wrapping_add(from[i * step], size));
      bad |= of_dim.any();
    }
    for (int64_t i = 0; bad && i < block.n; i++)
      for (size_t d = 0; d < block.count(); d++)
        if (const int64_t at = block.index_at(d, i), size = whole_.shape[d]; at < -size || at >= size)
          return out_of_range(op, at, d, size);
    return nullptr;
  });
}

void Positions::walk(const KernelArgs& k, const void* function, Visit visit) const {
  Status* none = each_block_of(k, indices_, lead_, [&](const auto& block) -> Status* {
    std::array<int64_t, kBlock> places, first;
    for (size_t d = 0; d < block.count(); d++) {
      const int64_t size = whole_.shape[d], stride = whole_.strides[d], step = block.steps[d], n = block.n;
      const auto* from = block.from[d];
      int64_t *place = places.data(), *leading = first.data();
      if (d == 0)
        for (int64_t i = 0; i < n; i++) place[i] = (leading[i] = wrap_index(from[i * step], size)) * stride;
      else
        for (int64_t i = 0; i < n; i++) place[i] += wrap_index(from[i * step], size) * stride;
    }
    visit(function, {places.data(), first.data(), block.n, block.indexed, block.step});
    return nullptr;
  });
  (void)none;  // nothing is refused
}

SlabPair::SlabPair(const Buffer& whole, const Buffer& indexed, size_t indices, int32_t lead)
    : from(drop_leading_dims(whole, static_cast<int32_t>(indices))),
      to(drop_leading_dims(indexed, lead)),
      rows(from, {&from, &to}) {}

}  // namespace thunder
