#include "ops/lines.h"

namespace thunder {
namespace {

Reshaped with_all_axes(const Buffer& b) {
  return {b, Sizes(b.shape, b.shape + b.rank), Sizes(b.strides, b.strides + b.rank)};
}
Reshaped without_axis(const Buffer& b, size_t axis) {
  Sizes sizes(b.shape, b.shape + b.rank), strides(b.strides, b.strides + b.rank);
  if (b.rank) sizes.erase(axis), strides.erase(axis);
  return {b, std::move(sizes), std::move(strides)};
}
Rows<3> rows_of(std::array<const Buffer*, 3> views, size_t axis, bool reduced) {
  const bool lost = reduced || views[0]->rank == 0;
  const Reshaped from = without_axis(*views[0], axis),
                 a = lost ? with_all_axes(*views[1]) : without_axis(*views[1], axis),
                 b = lost ? with_all_axes(*views[2]) : without_axis(*views[2], axis);
  return Rows<3>(from.buffer, {&from.buffer, &a.buffer, &b.buffer});
}

}  // namespace

bool side_by_side(const Buffer& in, size_t axis) {
  if (in.rank == 0) return false;
  for (size_t i = 0; i < static_cast<size_t>(in.rank); i++)
    if (i != axis && in.shape[i] > 1 && std::abs(in.strides[i]) < std::abs(in.strides[axis])) return true;
  return false;
}

LineGroups::LineGroups(std::array<const Buffer*, 3> views, size_t axis, bool reduced, int64_t most)
    : most_(most), rows_(rows_of(views, axis, reduced)) {
  per_row_ = (rows_.row() + most - 1) / std::max<int64_t>(most, 1);
}

LineGroups::Cursor::Cursor(const LineGroups& all, int64_t begin)
    : at_(begin), most_(all.most_), per_row_(all.per_row_), rows_(all.rows_) {
  rows_.seek(begin / per_row_);
}

const LineGroup& LineGroups::Cursor::next() {
  const int64_t first = at_ % per_row_ * most_;
  if (!fresh_ && first == 0) rows_.next();
  group_.count = 0;
  for (int64_t i = first; i < std::min(first + most_, rows_.row()); i++) {
    const auto n = static_cast<size_t>(group_.count++);
    group_.in[n] = rows_.offset[0] + i * rows_.step[0];
    group_.a[n] = rows_.offset[1] + i * rows_.step[1], group_.b[n] = rows_.offset[2] + i * rows_.step[2];
  }
  fresh_ = false, at_++;
  return group_;
}

void picked_vjp(Grad& g) {
  if (!g.reached(0)) return;
  Var ct = computed(g.cotangent());
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), ct.type().device), g.type(0).shape);
  g.add(0, g.builder.call(Prim::scatter_add, {zeros, g.integer(1), g.result(1), ct}));
}

}  // namespace thunder
