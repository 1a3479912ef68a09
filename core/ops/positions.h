// Positions given by several index tensors of one shape: input[i, j].
#pragma once

#include <string_view>

#include "ops/kernels.h"

namespace thunder {

// A few positions in a row. Those of i < count: the place in `whole` is places[i], the place in `indexed` is indexed +
// i * step, both in elements, and the first index counted from 0 is first[i].
struct PlaceBlock {
  const int64_t* places;
  const int64_t* first;
  int64_t count, indexed, step;
};

// For each position of the index tensors: the position in the leading dims of `whole` that they name, and the position
// in the leading dims of `indexed`, whose shape is that of the indices.
class Positions {
 public:
  Positions(const Buffer& whole, const Buffer& indexed, std::span<const Buffer> indices)
      : whole_(whole), indices_(indices), lead_(indexed) {
    lead_.rank = indices[0].rank;
  }
  int64_t count() const { return indices_[0].elements(); }

  // Refuses the first position of which an index is out of range.
  Status* check(const KernelArgs& k, std::string_view op) const;
  // Calls f(PlaceBlock) for blocks that hold every position once, in order within a thread, on the threads of the
  // kernel. Requires: check.
  template <class F>
  void each_block(const KernelArgs& k, const F& f) const {
    walk(k, &f, [](const void* function, const PlaceBlock& block) { (*static_cast<const F*>(function))(block); });
  }

 private:
  using Visit = void (*)(const void* function, const PlaceBlock&);
  void walk(const KernelArgs& k, const void* function, Visit visit) const;

  const Buffer& whole_;
  std::span<const Buffer> indices_;
  Buffer lead_;  // the dims of `indexed` that the indices have
};

// The elements that one position pairs: the dims of `whole` that no index names, and those of `indexed` behind the
// indices'.
struct SlabPair {
  SlabPair(const Buffer& whole, const Buffer& indexed, size_t indices, int32_t lead);

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
};

}  // namespace thunder
