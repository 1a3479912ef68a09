#include "loops/cpu/nest.h"

#include "base/text.h"
#include "ir/symbolic/size.h"

namespace thunder::loops {

int64_t work_items(const CpuNest& nest, int64_t strip, int64_t block) {
  int64_t items = 1;
  for (const ItemAxis& c : item_axes(nest)) {
    const int64_t length = c.kind == ItemAxis::Kind::strip ? strip : c.kind == ItemAxis::Kind::block ? block : 1;
    items *= (nest.extents[c.axis] + length - 1) / length;
  }
  return items;
}

template <class S>
std::string print(const CpuNestOf<S>& n) {
  std::string out = print(static_cast<const NestOf<S>&>(n));
  out += cat("on a CPU: lane ", n.lane, n.split ? " split" : "", n.blocked ? " blocked" : "",
             has_short_lanes(n)  ? " short"
             : has_whole_vectors_only(n) ? " even"
                          : "",
             sums_in_runs(n) ? " runs" : "", n.software_pipelined ? " pipelined" : "", "\n");
  for (ExprId e : n.kept) out += cat("  keep e", e, "\n");
  for (const Prefetch& a : n.prefetches) out += cat("  prefetch e", a.load, " in pass ", a.pass, "\n");
  for (const OutputOf<S>& s : n.stores)
    if (n.is_nontemporal(s)) out += cat("  nontemporal b", s.buffer, "\n");
  return out;
}

template std::string print(const CpuNestOf<int64_t>&);
template std::string print(const CpuNestOf<Size>&);

}  // namespace thunder::loops
