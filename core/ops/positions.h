// Where several index tensors of one shape together point: input[i, j].
#pragma once

#include "base/text.h"
#include "ops/indices.h"
#include "ops/kernels.h"

namespace thunder {

// The places that index tensors name in the leading dims of `whole`, one for each position of the indices, beside the
// place of that position in `indexed`, whose leading dims are those of the indices.
class Positions {
 public:
  static constexpr size_t kMost = 32;

  Positions(const Buffer& whole, const Buffer& indexed, std::span<const Buffer> indices)
      : whole_(whole), indices_(indices), lead_(indexed) {
    lead_.rank = indices[0].rank;
  }
  int64_t count() const { return indices_[0].elements(); }

  // Refuses the first position of which an index is out of range.
  Status* check(const Kernel& k, std::string_view op) const {
    return each(k, [&](const auto& block) -> Status* {
      bool bad = false;  // looked at after the block, so that its loops have no way out
      for (size_t d = 0; d < block.count(); d++) {
        const int64_t size = whole_.shape[d], step = block.steps[d];
        const auto* from = block.from[d];
        OutOfRange of_dim(2 * size);
        for (int64_t i = 0; i < block.n; i++) of_dim.add(added(from[i * step], size));
        bad |= of_dim.any();
      }
      return bad ? refuse_in(block, op) : nullptr;
    });
  }
  // Calls f(place in whole, place in indexed, first index counted from 0), both in elements, for each position, on the
  // threads of the kernel. Requires: check.
  template <class F>
  void each_place(const Kernel& k, const F& f) const {
    each(k, [&](const auto& block) -> Status* {
      std::array<int64_t, kBlock> places{};
      const int64_t n = block.n, step = block.step, indexed = block.indexed, first = whole_.shape[0];
      for (size_t d = 0; d < block.count(); d++) {
        const int64_t size = whole_.shape[d], stride = whole_.strides[d], index_step = block.steps[d];
        const auto* from = block.from[d];
        for (int64_t i = 0; i < n; i++) places[static_cast<size_t>(i)] += wrapped(from[i * index_step], size) * stride;
      }
      for (int64_t i = 0; i < n; i++)
        f(places[static_cast<size_t>(i)], indexed + i * step, wrapped(block.index(0, i), first));
      return nullptr;
    });
  }

 private:
  static constexpr int64_t kBlock = 128;
  // Of any two, wrapping around: the sum is out of range then.
  static int64_t added(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  static int64_t wrapped(int64_t index, int64_t size) { return index + (index < 0 ? size : 0); }

  // A few positions in a row: their indices, and where they lie in `indexed`.
  template <class I, size_t kN>
  struct Block {
    std::array<const I*, kN> from;
    std::array<int64_t, kN> steps;
    int64_t n, indexed, step;
    size_t indices;
    size_t count() const { return kN < kMost ? kN : indices; }
    int64_t index(size_t d, int64_t i) const { return from[d][i * steps[d]]; }
  };
  template <class I, size_t kN>
  Status* refuse_in(const Block<I, kN>& block, std::string_view op) const {
    for (int64_t i = 0; i < block.n; i++)
      for (size_t d = 0; d < indices_.size(); d++)
        if (const int64_t at = block.index(d, i), size = whole_.shape[d]; at < -size || at >= size)
          return refuse(cat(op, ": index ", at, " is out of range for dim ", d, " of size ", size));
    return nullptr;
  }
  template <class F>
  Status* each(const Kernel& k, const F& f) const {
    return indices_[0].dtype == DType::i32 ? each_of<int32_t>(k, f) : each_of<int64_t>(k, f);
  }
  template <class I, class F>
  Status* each_of(const Kernel& k, const F& f) const {
    switch (indices_.size()) {
      case 1: return each_row<I, 1>(k, f);
      case 2: return each_row<I, 2>(k, f);
      case 3: return each_row<I, 3>(k, f);
      default: return each_row<I, kMost>(k, f);
    }
  }
  // Of kMost views those behind the indices are the first index once more.
  template <class I, size_t kN, class F>
  Status* each_row(const Kernel& k, const F& f) const {
    std::array<const Buffer*, kN + 1> views;
    for (size_t d = 0; d < kN; d++) views[d] = &indices_[d < indices_.size() ? d : 0];
    views[kN] = &lead_;
    Rows<kN + 1> rows(indices_[0], views);
    return each_run(k, rows, [&](const auto& offset, int64_t length, int64_t) -> Status* {
      Block<I, kN> block;
      block.step = rows.step[kN], block.indices = indices_.size();
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

  const Buffer& whole_;
  std::span<const Buffer> indices_;
  Buffer lead_;  // the dims of `indexed` that the indices have
};

// The elements that one position pairs: the dims of `whole` that no index names, and those of `indexed` behind the
// indices'.
struct SlabPair {
  SlabPair(const Buffer& whole, const Buffer& indexed, size_t indices, int32_t lead)
      : from(behind(whole, static_cast<int32_t>(indices))), to(behind(indexed, lead)), rows(from, {&from, &to}) {}

  bool one_element() const { return rows.rows() == 1 && rows.row() == 1; }
  // Calls f(offset in whole's slab, in indexed's slab, n, step, step) for its rows.
  template <class F>
  void each_row(const F& f) const {
    if (rows.rows() == 1) return f(0, 0, rows.row(), rows.step[0], rows.step[1]);
    Rows<2> at = rows;
    for (int64_t r = 0; r < at.rows(); r++, at.next()) f(at.offset[0], at.offset[1], at.row(), at.step[0], at.step[1]);
  }

  Buffer from, to;
  Rows<2> rows;

 private:
  static Buffer behind(Buffer b, int32_t dims) {
    b.rank -= dims, b.shape += dims, b.strides += dims;
    return b;
  }
};

}  // namespace thunder
