#include "ops/rows.h"

namespace thunder {

template <size_t N>
Rows<N>::Rows(const Buffer& shape_of, const std::array<const Buffer*, N>& views) {
  for (int32_t i = shape_of.rank; i-- > 0;) {
    const int64_t size = shape_of.shape[i];
    if (size == 1) continue;
    std::array<int64_t, N> strides;
    for (size_t k = 0; k < N; k++) strides[k] = views[k]->strides[i];
    add(size, strides);
  }
  if (row_ == 0) rows_ = 0;
}

template <size_t N>
void Rows<N>::next() {
  for (Axis& axis : outer_) {
    for (size_t k = 0; k < N; k++) offset[k] += axis.strides[k];
    if (++axis.at < axis.size) return;
    for (size_t k = 0; k < N; k++) offset[k] -= axis.strides[k] * axis.size;
    axis.at = 0;
  }
}

template <size_t N>
void Rows<N>::seek(int64_t r) {
  offset.fill(0);
  for (Axis& axis : outer_) {
    axis.at = r % axis.size, r /= axis.size;
    for (size_t k = 0; k < N; k++) offset[k] += axis.at * axis.strides[k];
  }
}

template <size_t N>
void Rows<N>::add(int64_t size, const std::array<int64_t, N>& strides) {
  if (empty_) {
    row_ = size, step = strides, empty_ = false;
    return;
  }
  int64_t& last = outer_.empty() ? row_ : outer_.back().size;
  const auto& under = outer_.empty() ? step : outer_.back().strides;
  bool merge = true;
  for (size_t k = 0; k < N; k++) merge &= strides[k] == under[k] * last;
  if (merge)
    last *= size;
  else
    outer_.push_back({size, 0, strides});
  if (!merge || !outer_.empty()) rows_ *= size;
}

namespace {

// The runs of the elements [begin, end), of which the first is the element `skipped` of the row that `rows` is at.
template <size_t N>
Status* walk_runs(Rows<N>& rows, int64_t skipped, int64_t begin, int64_t end, RunFunction<N> f) {
  for (; begin < end; rows.next(), skipped = 0) {
    const int64_t length = std::min(rows.row() - skipped, end - begin);
    auto offset = rows.offset;
    for (size_t i = 0; i < N; i++) offset[i] += skipped * rows.step[i];
    if (Status* failed = f(offset, length, begin)) return failed;
    begin += length;
  }
  return nullptr;
}

}  // namespace

template <size_t N>
Status* each_run(const KernelArgs& k, Rows<N>& all, std::type_identity_t<RunFunction<N>> f) {
  const int64_t n = all.rows() * all.row();
  if (is_one_part(k, n, n)) return walk_runs(all, 0, 0, n, f);
  return in_parts(k, n, n, [&](int64_t begin, int64_t end) {
    Rows<N> rows = all;
    rows.seek(begin / rows.row());
    return walk_runs(rows, begin % rows.row(), begin, end, f);
  });
}

#define THUNDER_ROWS(N)   \
  template class Rows<N>; \
  template Status* each_run<N>(const KernelArgs&, Rows<N>&, RunFunction<N>);
THUNDER_ROWS(1)
THUNDER_ROWS(2)
THUNDER_ROWS(3)
THUNDER_ROWS(4)
THUNDER_ROWS(kMostIndices + 1)
#undef THUNDER_ROWS

}  // namespace thunder
