// Copies of nests and regions whose sizes are of another type: numbers in the place of formulas, or formulas compiled.
#pragma once

#include "loops/cpu/stages.h"

namespace thunder::loops {

// `f`: the new one of a size.
template <class To, class S, class F>
void copy_with_sizes(const NestOf<S>& from, NestOf<To>& to, const F& f) {
  to.outer = from.outer, to.inner = from.inner, to.backwards = from.backwards, to.partial = from.partial;
  to.buffers = from.buffers, to.passes = from.passes;
  const auto copy = [&](const std::vector<S>& all) {
    std::vector<To> out;
    out.reserve(all.size());
    for (const S& s : all) out.push_back(f(s));
    return out;
  };
  to.extents = copy(from.extents);
  to.maps.reserve(from.maps.size()), to.exprs.reserve(from.exprs.size()), to.stores.reserve(from.stores.size());
  for (const MapOf<S>& m : from.maps) to.maps.push_back(copy(m));
  for (const ExprOf<S>& e : from.exprs)
    to.exprs.push_back({e.fn, e.dtype, e.in, e.count, e.buffer, e.map, f(e.offset), e.axis, f(e.bound), e.number,
                        e.axes, e.level});
  for (const OutputOf<S>& s : from.stores) {
    OutputOf<To>& out = to.stores.emplace_back(OutputOf<To>{s.value, s.kind, s.buffer, s.map, f(s.offset), {}});
    for (const IntervalOf<S>& only : s.only) out.only.push_back({only.axis, f(only.begin), f(only.end)});
  }
}

template <class To, class S, class F>
LoweredRegionOf<To> with_sizes(const LoweredRegionOf<S>& from, const F& f) {
  LoweredRegionOf<To> to;
  copy_with_sizes(from.nest, to.nest, f);
  to.reduced = from.reduced, to.device = from.device, to.on_host = from.on_host, to.tiles = from.tiles;
  for (const ColumnSumOf<S>& s : from.sums) to.sums.push_back({s.argument, f(s.elements), s.dtype});
  for (const BoundsCheckOf<S>& c : from.checks) to.checks.push_back({c.op, c.dim, f(c.size)});
  return to;
}

template <class To, class S, class F>
CpuKernelOf<To> with_sizes(const CpuKernelOf<S>& from, const F& f) {
  CpuKernelOf<To> to;
  to.region = with_sizes<To>(from.region, f);
  to.tiled = from.tiled, to.division = from.division, to.code = from.code;
  copy_with_sizes(from.nest, to.nest, f);
  to.nest.lane = from.nest.lane, to.nest.split = from.nest.split;
  to.nest.software_pipelined = from.nest.software_pipelined, to.nest.blocked = from.nest.blocked;
  to.nest.kept = from.nest.kept, to.nest.prefetches = from.nest.prefetches, to.nest.nontemporal = from.nest.nontemporal;
  return to;
}

}  // namespace thunder::loops
