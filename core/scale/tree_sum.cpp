#include "scale/tree_sum.h"

#include <algorithm>
#include <cstring>

#include "scale/scratch.h"

namespace thunder::scale {
namespace {

// One exchange of so many bytes takes less time than two of fewer.
constexpr size_t kFewBytes = size_t{32} << 10;
constexpr int64_t kBlock = 4096;  // elements of a row at a time, which stay in the cache

// rows[0] += all others, by pairs of neighbours, then pairs of these pairs.
template <class T>
void add_rows(T* rows, int64_t count, int64_t elements) {
  for (int64_t from = 0; from < elements; from += kBlock) {
    const int64_t n = std::min(kBlock, elements - from);
    for (int64_t apart = 1; apart < count; apart *= 2)
      for (int64_t row = 0; row + apart < count; row += 2 * apart) {
        T* const sum = rows + row * elements + from;
        const T* const other = rows + (row + apart) * elements + from;
        for (int64_t i = 0; i < n; i++) sum[i] += other[i];
      }
  }
}

bool adds_on_all(const GroupCall& call, int64_t ranks) {
  return call.what == Collective::all_reduce &&
         static_cast<size_t>(call.count * ranks) * size_of(call.dtype) <= kFewBytes;
}
int64_t part_of(const GroupCall& call, int64_t ranks) {
  return call.what == Collective::reduce_scatter || adds_on_all(call, ranks) ? call.count
                                                                             : (call.count + ranks - 1) / ranks;
}

}  // namespace

bool TreeSum::makes(const GroupCall& call, const Group& group) {
  const bool adds = call.what == Collective::all_reduce || call.what == Collective::reduce_scatter;
  return adds && call.reduction == RankReduction::sum && !call.device && group.sums_by_tree() &&
         (call.dtype == DType::f32 || call.dtype == DType::f64);
}

size_t TreeSum::result_bytes(const GroupCall& call, int64_t ranks) {
  const bool in_parts = call.what == Collective::all_reduce && !adds_on_all(call, ranks);
  return static_cast<size_t>(in_parts ? part_of(call, ranks) * ranks : call.count) * size_of(call.dtype);
}

TreeSum::TreeSum(const GroupCall& call, int64_t ranks)
    : call_(call), ranks_(ranks), on_all_(adds_on_all(call, ranks)), part_(part_of(call, ranks)) {
  brought_ = scratch(bytes(part_ * ranks_));
  if (call_.what == Collective::reduce_scatter || on_all_) return;
  own_ = scratch(bytes(part_));
  if (part_ * ranks_ == call_.count) return;
  padded_ = scratch(bytes(part_ * ranks_));
  std::memcpy(padded_.get(), call_.in, bytes(call_.count));
  std::memset(padded_.get() + bytes(call_.count), 0, bytes(part_ * ranks_ - call_.count));
}

GroupCall TreeSum::first() const {
  GroupCall out = call_;
  out.what = on_all_ ? Collective::all_gather : Collective::all_to_all;
  out.in = padded_ ? padded_.get() : call_.in;
  out.out = brought_.get(), out.count = part_;
  return out;
}

std::optional<GroupCall> TreeSum::second() {
  if (call_.dtype == DType::f32)
    add_rows(reinterpret_cast<float*>(brought_.get()), ranks_, part_);
  else
    add_rows(reinterpret_cast<double*>(brought_.get()), ranks_, part_);
  std::memcpy(own_ ? own_.get() : call_.out, brought_.get(), bytes(part_));
  if (!own_) return std::nullopt;
  GroupCall out = call_;
  out.what = Collective::all_gather;
  out.in = own_.get(), out.count = part_;
  return out;
}

}  // namespace thunder::scale
