#include "loops/cpu/caches.h"

#include "ir/symbolic/size.h"

namespace thunder::loops {
namespace {

constexpr int kExpensive = 8;

// Kept rows must stay in the L2 cache during all passes, and they are on the stack. In bytes.
int64_t max_kept_bytes(const Machine& machine) {
  constexpr size_t kStack = 256 << 10;
  return static_cast<int64_t>(machine.l2 ? std::min(kStack, machine.l2 / 4) : kStack);
}

// `available`: expressions whose values are in row buffers already.
template <class S>
void mark_needed(const CpuNestOf<S>& n, ExprId id, const std::vector<uint8_t>& available,
                 std::vector<uint8_t>& needed) {
  if (needed[id] || n.is_row(id)) return;
  needed[id] = 1;
  if (available[id]) return;
  for (uint32_t i = 0; i < n.exprs[id].count; i++) mark_needed(n, n.exprs[id].in[i], available, needed);
}

// The expressions that a pass needs at each position of a row.
template <class S>
std::vector<uint8_t> exprs_needed_in_pass(const CpuNestOf<S>& n, uint32_t pass, const std::vector<uint8_t>& available) {
  std::vector<uint8_t> needed(n.exprs.size(), 0);
  for (ExprId id = 0; id < n.exprs.size(); id++)
    if (is_reduction(n.exprs[id].fn) && n.exprs[id].level == pass + 1)
      mark_needed(n, n.exprs[id].in[0], available, needed);
  for (const OutputOf<S>& s : n.stores)
    if (!n.is_row(s) && n.exprs[s.value].level == pass) mark_needed(n, s.value, available, needed);
  return needed;
}

// The passes that need an expression: whether there are any, and of those after the first the one with the most work,
// which best hides the latency of a prefetch (0: none).
struct Reads {
  bool any = false;
  uint32_t longest = 0;
  int cost = -1;
};

template <class S>
std::vector<Reads> count_reads(const CpuNestOf<S>& n) {
  std::vector<Reads> reads(n.exprs.size());
  std::vector<uint8_t> available(n.exprs.size(), 0);
  for (uint32_t pass = 0; pass < n.passes; pass++) {
    const std::vector<uint8_t> needed = exprs_needed_in_pass(n, pass, available);
    int work = 0;
    for (ExprId id = 0; id < n.exprs.size(); id++)
      if (needed[id] && !available[id]) work += cost(n.exprs[id].fn);
    for (ExprId id = 0; id < n.exprs.size(); id++) {
      if (!needed[id]) continue;
      Reads& r = reads[id];
      if (r.any && work > r.cost) r.longest = pass, r.cost = work;
      r.any = true;
    }
    for (ExprId id : n.kept) available[id] |= needed[id];
  }
  return reads;
}

// The size of the elements that a map addresses in a buffer along some axes.
template <class S>
S addressed_bytes(const CpuNestOf<S>& n, uint32_t buffer, uint32_t map, AxisSet axes) {
  S elements = 1;
  for (uint32_t a = 0; a < n.outer + n.inner; a++)
    if ((axes & axis_bit(a)) && n.maps[map][a] != 0) elements *= n.extents[a];
  return elements * static_cast<int64_t>(size_of(n.buffers[buffer]));
}

template <class S>
S total_bytes(const CpuNestOf<S>& n) {
  S all = 0;
  for (const ExprOf<S>& e : n.exprs)
    if (e.fn == Fn::load) all += addressed_bytes(n, e.buffer, e.map, ~AxisSet{0});
  for (const OutputOf<S>& s : n.stores) all += addressed_bytes(n, s.buffer, s.map, ~AxisSet{0});
  return all;
}

// The working set of software pipelining: the bytes that the loop over one row in each pass accesses. Bytes that
// several passes of a row access are counted once for each row.
template <class S>
S bytes_in_flight(const CpuNestOf<S>& n) {
  std::vector<uint8_t> available(n.exprs.size(), 0);
  std::vector<uint32_t> first(n.exprs.size(), 0), rows(n.exprs.size(), 0);
  for (uint32_t pass = 0; pass < n.passes; pass++) {
    const std::vector<uint8_t> needed = exprs_needed_in_pass(n, pass, available);
    for (ExprId id = 0; id < n.exprs.size(); id++) {
      if (!needed[id]) continue;
      if (!rows[id]) first[id] = pass;
      rows[id] = pass - first[id] + 1;
    }
    for (ExprId id : n.kept) available[id] |= needed[id];
  }
  S all = 0;
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    const ExprOf<S>& e = n.exprs[id];
    if (e.fn == Fn::load)
      all += addressed_bytes(n, e.buffer, e.map, n.inner_set()) * (n.maps[e.map][n.outer - 1] != 0 ? rows[id] : 1);
  }
  for (ExprId id : n.kept) all += n.row_elements() * static_cast<int64_t>(size_of(n.exprs[id].dtype)) * rows[id];
  for (const OutputOf<S>& s : n.stores) all += addressed_bytes(n, s.buffer, s.map, n.inner_set());
  return all;
}

// Whether two loads read the same rows, as loads of several intervals of one row do.
template <class S>
bool read_same_rows(const CpuNestOf<S>& n, const ExprOf<S>& a, const ExprOf<S>& b) {
  return a.fn == Fn::load && b.fn == Fn::load && a.buffer == b.buffer && a.map == b.map &&
         magnitude(S(a.offset - b.offset)) < n.extents[n.lane];
}

template <class S>
bool shares_prefetch(const CpuNestOf<S>& n, const std::vector<Prefetch>& others, const ExprOf<S>& e) {
  return std::any_of(others.begin(), others.end(),
                     [&](const Prefetch& a) { return read_same_rows(n, n.exprs[a.load], e); });
}

// A tile has many rows at distant addresses, which the hardware prefetcher does not follow.
template <class S>
void choose_tile_prefetches(CpuNestOf<S>& n) {
  if (!n.any_nontemporal()) return;
  for (ExprId id = 0; id < n.exprs.size(); id++)
    if (n.exprs[id].fn == Fn::load && n.maps[n.exprs[id].map][n.block_axis()] != 0 &&
        n.maps[n.exprs[id].map][n.lane] != 0)
      n.prefetches.push_back({id, 0});
}

// The next row of a strip is at another address too; rows that are in the caches come soon enough.
template <class S>
void choose_strip_prefetches(CpuNestOf<S>& n, size_t cache) {
  S all = 0;
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    const ExprOf<S>& e = n.exprs[id];
    if (e.fn != Fn::load || n.maps[e.map][n.outer - 1] == 0 || shares_prefetch(n, n.prefetches, e)) continue;
    all += addressed_bytes(n, e.buffer, e.map, ~AxisSet{0});
    n.prefetches.push_back({id, 0});
  }
  if (!cache || all <= static_cast<int64_t>(cache)) n.prefetches.clear();
}

}  // namespace

template <class S>
void choose_kept_rows(CpuNestOf<S>& n, const Machine& machine) {
  // Along an axis with cuts, one pass may compute a value in some intervals while another needs it everywhere.
  if (n.lane_is_outer() || n.split || n.backwards || !n.cuts(n.lane).empty()) return;
  std::vector<int> passes(n.exprs.size(), 0);
  const std::vector<uint8_t> available(n.exprs.size(), 0);
  for (uint32_t pass = 0; pass < n.passes; pass++) {
    const std::vector<uint8_t> needed = exprs_needed_in_pass(n, pass, available);
    for (ExprId id = 0; id < n.exprs.size(); id++) passes[id] += needed[id];
  }
  S bytes = 0;
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    if (passes[id] <= 1 || cost(n.exprs[id].fn) < kExpensive) continue;
    const S row = n.row_elements() * static_cast<int64_t>(size_of(n.exprs[id].dtype));
    if (bytes + row > max_kept_bytes(machine)) continue;
    bytes += row;
    n.kept.push_back(id);
  }
}

template <class S>
void choose_nontemporal_stores(CpuNestOf<S>& n, const Machine& machine) {
  const auto cache = static_cast<int64_t>(machine.last_level);
  n.nontemporal.clear();
  for (const OutputOf<S>& s : n.stores)
    n.nontemporal.push_back(s.kind == OutputKind::each && n.maps[s.map][n.lane] == 1 && !has_short_lanes(n) && cache &&
                            addressed_bytes(n, s.buffer, s.map, ~AxisSet{0}) >= cache / 2);
}

template <class S>
void choose_software_pipeline(CpuNestOf<S>& n, const Machine& machine) {
  const bool rows = n.outer > 0 && n.inner == 1 && !n.lane_is_outer() && !n.split && !n.blocked;
  if (!rows || n.any_nontemporal() || n.passes < 2) return;
  n.software_pipelined =
      bytes_in_flight(n) <= static_cast<int64_t>(machine.l1) &&
                         (!machine.last_level || total_bytes(n) <= static_cast<int64_t>(machine.last_level));
}

template <class S>
bool sums_whole_rows(const CpuNestOf<S>& n, const Machine& machine) {
  S row = 0;
  bool parts = false;
  for (const ExprOf<S>& e : n.exprs) {
    if (e.fn != Fn::load) continue;
    row += addressed_bytes(n, e.buffer, e.map, axis_bit(n.lane));
    const auto reads_on = [&](const auto& other) { return read_same_rows(n, other, e) && other.offset != e.offset; };
    parts |= n.maps[e.map][n.lane] != 0 && std::any_of(n.exprs.begin(), n.exprs.end(), reads_on);
  }
  for (const OutputOf<S>& s : n.stores) row += addressed_bytes(n, s.buffer, s.map, axis_bit(n.lane));
  return parts && row <= static_cast<int64_t>(machine.l2 / 2);
}

template <class S>
void choose_prefetches(CpuNestOf<S>& n, const Machine& machine) {
  n.prefetches.clear();
  if (n.blocked) return choose_tile_prefetches(n);
  if (n.strips_are_outermost()) return choose_strip_prefetches(n, machine.last_level);
  if (n.outer == 0 || n.lane_is_outer() || n.backwards || n.software_pipelined) return;
  const std::vector<Reads> reads = count_reads(n);
  S row = 0, all = 0;
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    const ExprOf<S>& e = n.exprs[id];
    if (e.fn != Fn::load || !reads[id].any || shares_prefetch(n, n.prefetches, e)) continue;
    row += addressed_bytes(n, e.buffer, e.map, n.inner_set());
    all += addressed_bytes(n, e.buffer, e.map, ~AxisSet{0});
    if (reads[id].longest && n.maps[e.map][n.outer - 1] != 0) n.prefetches.push_back({id, reads[id].longest});
  }
  const auto l2 = static_cast<int64_t>(machine.l2);
  if (row > l2 / 2 || all <= l2) n.prefetches.clear();
}

template void choose_kept_rows(CpuNestOf<int64_t>&, const Machine&);
template void choose_nontemporal_stores(CpuNestOf<int64_t>&, const Machine&);
template void choose_software_pipeline(CpuNestOf<int64_t>&, const Machine&);
template void choose_prefetches(CpuNestOf<int64_t>&, const Machine&);
template void choose_kept_rows(CpuNestOf<Size>&, const Machine&);
template void choose_nontemporal_stores(CpuNestOf<Size>&, const Machine&);
template void choose_software_pipeline(CpuNestOf<Size>&, const Machine&);
template void choose_prefetches(CpuNestOf<Size>&, const Machine&);
template bool sums_whole_rows(const CpuNestOf<int64_t>&, const Machine&);

}  // namespace thunder::loops
