#include "loops/cpu/caches.h"

namespace thunder::loops {
namespace {

constexpr int kExpensive = 8;

// Kept rows must stay in the L2 cache during all passes, and they are on the stack. In bytes.
int64_t max_kept_bytes(const Machine& machine) {
  constexpr size_t kStack = 256 << 10;
  return static_cast<int64_t>(machine.l2 ? std::min(kStack, machine.l2 / 4) : kStack);
}

// `available`: expressions whose values are in row buffers already.
void mark_needed(const CpuNest& n, ExprId id, const std::vector<uint8_t>& available, std::vector<uint8_t>& needed) {
  if (needed[id] || n.is_row(id)) return;
  needed[id] = 1;
  if (available[id]) return;
  for (uint32_t i = 0; i < n.exprs[id].count; i++) mark_needed(n, n.exprs[id].in[i], available, needed);
}

// The expressions that a pass needs at each position of a row.
std::vector<uint8_t> exprs_needed_in_pass(const CpuNest& n, uint32_t pass, const std::vector<uint8_t>& available) {
  std::vector<uint8_t> needed(n.exprs.size(), 0);
  for (ExprId id = 0; id < n.exprs.size(); id++)
    if (is_reduction(n.exprs[id].fn) && n.exprs[id].level == pass + 1)
      mark_needed(n, n.exprs[id].in[0], available, needed);
  for (const Output& s : n.stores)
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

std::vector<Reads> count_reads(const CpuNest& n) {
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
size_t addressed_bytes(const CpuNest& n, uint32_t buffer, uint32_t map, AxisSet axes) {
  size_t elements = 1;
  for (uint32_t a = 0; a < n.outer + n.inner; a++)
    if (n.maps[map][a] && (axes & axis_bit(a))) elements *= static_cast<size_t>(n.extents[a]);
  return elements * size_of(n.buffers[buffer]);
}

size_t total_bytes(const CpuNest& n) {
  size_t all = 0;
  for (const Expr& e : n.exprs)
    if (e.fn == Fn::load) all += addressed_bytes(n, e.buffer, e.map, ~AxisSet{0});
  for (const Output& s : n.stores) all += addressed_bytes(n, s.buffer, s.map, ~AxisSet{0});
  return all;
}

// The working set of software pipelining: the bytes that the loop over one row in each pass accesses. Bytes that
// several passes of a row access are counted once for each row.
size_t bytes_in_flight(const CpuNest& n) {
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
  size_t all = 0;
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    const Expr& e = n.exprs[id];
    if (e.fn == Fn::load)
      all += addressed_bytes(n, e.buffer, e.map, n.inner_set()) * (n.maps[e.map][n.outer - 1] ? rows[id] : 1);
  }
  for (ExprId id : n.kept) all += static_cast<size_t>(n.row_elements()) * size_of(n.exprs[id].dtype) * rows[id];
  for (const Output& s : n.stores) all += addressed_bytes(n, s.buffer, s.map, n.inner_set());
  return all;
}

// Whether two loads read the same rows, as loads of several intervals of one row do.
bool read_same_rows(const CpuNest& n, const Expr& a, const Expr& b) {
  return a.fn == Fn::load && b.fn == Fn::load && a.buffer == b.buffer && a.map == b.map &&
         std::abs(a.offset - b.offset) < n.extents[n.lane];
}

bool shares_prefetch(const CpuNest& n, const std::vector<CpuNest::Prefetch>& others, const Expr& e) {
  return std::any_of(others.begin(), others.end(),
                     [&](const CpuNest::Prefetch& a) { return read_same_rows(n, n.exprs[a.load], e); });
}

// A tile has many rows at distant addresses, which the hardware prefetcher does not follow.
void choose_tile_prefetches(CpuNest& n) {
  if (!n.any_nontemporal()) return;
  for (ExprId id = 0; id < n.exprs.size(); id++)
    if (n.exprs[id].fn == Fn::load && n.maps[n.exprs[id].map][n.block_axis()] && n.maps[n.exprs[id].map][n.lane])
      n.prefetches.push_back({id, 0});
}

// The next row of a strip is at another address too; rows that are in the caches come soon enough.
void choose_strip_prefetches(CpuNest& n, size_t cache) {
  size_t all = 0;
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    const Expr& e = n.exprs[id];
    if (e.fn != Fn::load || !n.maps[e.map][n.outer - 1] || shares_prefetch(n, n.prefetches, e)) continue;
    all += addressed_bytes(n, e.buffer, e.map, ~AxisSet{0});
    n.prefetches.push_back({id, 0});
  }
  if (!cache || all <= cache) n.prefetches.clear();
}

}  // namespace

void choose_kept_rows(CpuNest& n, const Machine& machine) {
  // Along an axis with cuts, one pass may compute a value in some intervals while another needs it everywhere.
  if (n.lane_is_outer() || n.split || n.backwards || !n.cuts(n.lane).empty()) return;
  std::vector<int> passes(n.exprs.size(), 0);
  const std::vector<uint8_t> available(n.exprs.size(), 0);
  for (uint32_t pass = 0; pass < n.passes; pass++) {
    const std::vector<uint8_t> needed = exprs_needed_in_pass(n, pass, available);
    for (ExprId id = 0; id < n.exprs.size(); id++) passes[id] += needed[id];
  }
  int64_t bytes = 0;
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    if (passes[id] <= 1 || cost(n.exprs[id].fn) < kExpensive) continue;
    const int64_t row = n.row_elements() * static_cast<int64_t>(size_of(n.exprs[id].dtype));
    if (bytes + row > max_kept_bytes(machine)) continue;
    bytes += row;
    n.kept.push_back(id);
  }
}

void choose_nontemporal_stores(CpuNest& n, const Machine& machine) {
  const size_t cache = machine.last_level;
  n.nontemporal.clear();
  for (const Output& s : n.stores)
    n.nontemporal.push_back(s.kind == OutputKind::each && n.maps[s.map][n.lane] == 1 && !has_short_lanes(n) && cache &&
                            addressed_bytes(n, s.buffer, s.map, ~AxisSet{0}) >= cache / 2);
}

void choose_software_pipeline(CpuNest& n, const Machine& machine) {
  const bool rows = n.outer > 0 && n.inner == 1 && !n.lane_is_outer() && !n.split && !n.blocked;
  if (!rows || n.any_nontemporal() || n.passes < 2) return;
  n.software_pipelined =
      bytes_in_flight(n) <= machine.l1 && (!machine.last_level || total_bytes(n) <= machine.last_level);
}

bool sums_whole_rows(const CpuNest& n, const Machine& machine) {
  size_t row = 0;
  bool parts = false;
  for (const Expr& e : n.exprs) {
    if (e.fn != Fn::load) continue;
    row += addressed_bytes(n, e.buffer, e.map, axis_bit(n.lane));
    const auto reads_on = [&](const Expr& other) { return read_same_rows(n, other, e) && other.offset != e.offset; };
    parts |= n.maps[e.map][n.lane] != 0 && std::any_of(n.exprs.begin(), n.exprs.end(), reads_on);
  }
  for (const Output& s : n.stores) row += addressed_bytes(n, s.buffer, s.map, axis_bit(n.lane));
  return parts && row <= machine.l2 / 2;
}

void choose_prefetches(CpuNest& n, const Machine& machine) {
  n.prefetches.clear();
  if (n.blocked) return choose_tile_prefetches(n);
  if (n.strips_are_outermost()) return choose_strip_prefetches(n, machine.last_level);
  if (n.outer == 0 || n.lane_is_outer() || n.backwards || n.software_pipelined) return;
  const std::vector<Reads> reads = count_reads(n);
  size_t row = 0, all = 0;
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    const Expr& e = n.exprs[id];
    if (e.fn != Fn::load || !reads[id].any || shares_prefetch(n, n.prefetches, e)) continue;
    row += addressed_bytes(n, e.buffer, e.map, n.inner_set());
    all += addressed_bytes(n, e.buffer, e.map, ~AxisSet{0});
    if (reads[id].longest && n.maps[e.map][n.outer - 1] != 0) n.prefetches.push_back({id, reads[id].longest});
  }
  if (row > machine.l2 / 2 || all <= machine.l2) n.prefetches.clear();
}

}  // namespace thunder::loops
