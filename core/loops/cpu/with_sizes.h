// Copies of a CPU's nests and kernels whose sizes are of another type.
#pragma once

#include "loops/cpu/stages.h"

namespace thunder::loops {

template <class To, class S, class F>
CpuNestOf<To> with_sizes(const CpuNestOf<S>& from, const F& f) {
  CpuNestOf<To> to;
  copy_with_sizes(from, to, f);
  to.lane = from.lane, to.split = from.split;
  to.software_pipelined = from.software_pipelined, to.blocked = from.blocked;
  to.kept = from.kept, to.prefetches = from.prefetches, to.nontemporal = from.nontemporal;
  return to;
}

template <class To, class S, class F>
CpuKernelOf<To> with_sizes(const CpuKernelOf<S>& from, const F& f) {
  return {with_sizes<To>(from.region, f), from.tiled, with_sizes<To>(from.nest, f), from.division, from.code};
}

}  // namespace thunder::loops
