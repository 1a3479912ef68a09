#include "loops/cuda/schedule.h"

#include <algorithm>

#include "loops/order.h"

namespace thunder::loops {
namespace {

using Rows = CudaSchedule::Rows;

// Rows of fewer elements are reduced by a thread each, or by a warp: most threads of a block would have nothing to do.
constexpr int64_t kRowOfThread = 32, kRowOfWarp = 1024;
constexpr uint32_t kPackBytes = 16, kMostPacked = 8;

// The elements that a map reaches from its origin, at most.
int64_t max_offset(const Nest& nest, const Map& map) {
  int64_t far = 0;
  for (uint32_t a = 0; a < nest.axes(); a++) far += std::abs(map[a]) * std::max<int64_t>(0, nest.extents[a] - 1);
  return far;
}

// Whether positions fit in 32 bits, also those past the end to which a loop over the grid steps.
bool is_narrow(const Nest& nest) {
  constexpr int64_t kMost = int64_t{1} << 30;
  bool narrow = count_positions(nest, 0, nest.outer + nest.inner) < kMost;
  for (const Map& map : nest.maps) narrow = narrow && max_offset(nest, map) < kMost;
  for (const Expr& e : nest.exprs) narrow = narrow && (e.fn == Fn::uniform || std::abs(e.offset) < kMost);
  for (const Output& s : nest.stores) narrow = narrow && std::abs(s.offset) < kMost;
  return narrow;
}

// A row is reduced by one thread if it is short. If its neighbour in memory is the next row rather than the row's next
// element, neighbouring threads take neighbouring rows, so that their accesses coalesce.
Rows choose_rows(const Nest& nest) {
  const Map& main = main_map(nest);
  const uint32_t last = nest.outer + nest.inner - 1;
  const bool down = nest.outer > 0 && std::abs(main[nest.outer - 1]) == 1 && std::abs(main[last]) != 1;
  if (down) return Rows::column;
  if (nest.row_elements() <= kRowOfThread) return Rows::thread;
  return nest.row_elements() <= kRowOfWarp ? Rows::warp : Rows::block;
}

int64_t count_column_tiles(const Nest& nest, const CudaSchedule& s) {
  const int64_t packs = count_positions(nest, 0, nest.outer) / s.pack;
  return (packs + s.lanes - 1) / s.lanes;
}

// Into how many parts each row is cut, where rows are too few to keep a device busy.
int64_t choose_parts(const Nest& nest, const CudaSchedule& s) {
  constexpr int64_t kThreads = 1 << 17, kBlocks = 1 << 10, kLeastOfThread = 16, kLeastOfBlock = 4096;
  if (!can_split_rows(nest)) return 1;
  const bool thread = s.rows == Rows::thread, column = s.rows == Rows::column;
  const int64_t count = column ? count_column_tiles(nest, s) : count_positions(nest, 0, nest.outer),
                least = column ? kLeastOfThread * s.groups() : thread ? kLeastOfThread : kLeastOfBlock;
  return std::clamp<int64_t>((thread ? kThreads : kBlocks) / std::max<int64_t>(1, count), 1,
                             std::max<int64_t>(1, nest.row_elements() / least));
}

// Divides a tile of columns among the threads of a block. Narrow tiles have several threads for each column.
void choose_lanes(const Nest& nest, CudaSchedule& s) {
  constexpr int64_t kLeastRowsOfGroup = 4;
  const int64_t packs = count_positions(nest, 0, nest.outer) / s.pack;
  while (s.lanes > 1 && s.lanes / 2 >= packs) s.lanes /= 2;
  while (s.lanes < s.threads && s.groups() * kLeastRowsOfGroup > nest.row_elements()) s.lanes *= 2;
}

// Whether accesses along an axis are contiguous, and packs of n elements aligned to n.
bool can_pack(const Nest& nest, uint32_t axis, uint32_t map, int64_t offset, uint32_t n) {
  if (nest.maps[map][axis] != 1 || offset % n) return false;
  for (uint32_t a = 0; a < nest.axes(); a++)
    if (a != axis && nest.maps[map][a] % n) return false;
  return true;
}

// Packs of at most so many elements.
void choose_packs(const Nest& nest, CudaSchedule& s, uint32_t most) {
  s.pack = 1, s.packed_loads.clear(), s.packed_stores.clear();
  const uint32_t axis = pack_axis(nest, s);
  const auto each = [&](auto&& see) {
    for (ExprId id = 0; id < nest.exprs.size(); id++) {
      const Expr& e = nest.exprs[id];
      if (e.fn == Fn::load && !(e.buffer < s.on_host.size() && s.on_host[e.buffer]))
        see(e.buffer, e.map, e.offset, &s.packed_loads, id);
    }
    for (size_t k = 0; k < nest.stores.size(); k++)
      if (const Output& o = nest.stores[k]; o.only.empty()) see(o.buffer, o.map, o.offset, &s.packed_stores, k);
  };
  size_t least = kPackBytes;
  each([&](uint32_t buffer, uint32_t map, int64_t, auto*, size_t) {
    if (nest.maps[map][axis] == 1) least = std::min(least, size_of(nest.buffers[buffer]));
  });
  uint32_t n = std::min(most, static_cast<uint32_t>(kPackBytes / least));
  while (n > 1 && nest.extents[axis] % n) n /= 2;
  if (n == 1) return;
  s.packed_loads.assign(nest.exprs.size(), false), s.packed_stores.assign(nest.stores.size(), false);
  each([&](uint32_t, uint32_t map, int64_t offset, std::vector<bool>* of, size_t at) {
    if (can_pack(nest, axis, map, offset, n)) (*of)[at] = true, s.pack = n;
  });
}

// How many passes need each load of a pack for all elements, by expression.
std::vector<uint32_t> count_passes_of_loads(const Nest& nest, const CudaSchedule& s) {
  std::vector<uint32_t> count(nest.exprs.size());
  for (uint32_t pass = 0; pass < nest.passes; pass++) {
    std::vector<bool> seen(nest.exprs.size());
    const auto need = [&](auto&& self, ExprId id) -> void {
      const Expr& e = nest.exprs[id];
      if (seen[id] || nest.is_row(id) || e.fn == Fn::select) return;
      seen[id] = true;
      if (e.fn == Fn::load) count[id] += s.packed_loads[id];
      else if (e.fn == Fn::gather) self(self, e.in[1]);
      else
        for (uint32_t i = 0; i < e.count; i++) self(self, e.in[i]);
    };
    for (const Expr& e : nest.exprs)
      for (uint32_t i = 0; is_reduction(e.fn) && e.level == pass + 1 && i < e.count; i++) need(need, e.in[i]);
    for (const Output& o : nest.stores)
      if (!nest.is_row(o) && nest.exprs[o.value].level == pass && o.only.empty()) need(need, o.value);
  }
  return count;
}

size_t pack_bytes(const Nest& nest, const CudaSchedule& s, ExprId load) {
  return s.pack * size_of(nest.buffers[nest.exprs[load].buffer]);
}

// Row values that several passes read are kept in registers, if few, or in shared memory; else they are read again.
// Operands that all rows share are in the cache anyway.
void choose_kept_loads(const Nest& nest, CudaSchedule& s) {
  constexpr uint32_t kMostTrips = 4;     // each is code of its own
  constexpr size_t kMostRegisters = 16;
  constexpr int64_t kLongRow = 2048;     // packs, which take a larger block
  if (s.rows == Rows::column || s.split() || s.pack == 1 || nest.passes < 2) return;
  const std::vector<uint32_t> passes = count_passes_of_loads(nest, s);
  size_t bytes = 0;  // of a pack of each
  s.kept_loads.assign(nest.exprs.size(), false);
  for (ExprId id = 0; id < passes.size(); id++) {
    const bool kept = passes[id] > 1 && nest.exprs[id].axes & nest.outer_set() && pack_bytes(nest, s, id) >= kPackBytes;
    if (kept) s.kept_loads[id] = true, bytes += pack_bytes(nest, s, id);
  }
  if (!bytes) return;
  const int64_t packs = nest.row_elements() / s.pack, each = s.threads_of_row(), trips = (packs + each - 1) / each;
  if (trips <= kMostTrips && static_cast<size_t>(trips) * bytes / sizeof(int32_t) <= kMostRegisters) {
    s.keep = CudaSchedule::Keep::registers, s.trips = static_cast<uint32_t>(trips);
    return;
  }
  if (s.rows == Rows::thread) return;
  if (s.rows == Rows::block && packs >= kLongRow) s.threads = 2 * kCudaThreads;
  s.keep = CudaSchedule::Keep::shared;
  if (shared_bytes(nest, s) > kMostShared) s.keep = CudaSchedule::Keep::nothing;
}

}  // namespace

int64_t count_positions(const Nest& nest, uint32_t begin, uint32_t end) {
  int64_t n = 1;
  for (uint32_t a = begin; a < end; a++) n *= nest.extents[a];
  return n;
}

bool has_reductions(const Nest& nest) {
  return nest.passes > 1 ||
         std::any_of(nest.exprs.begin(), nest.exprs.end(), [](const Expr& e) { return is_reduction(e.fn); });
}

bool can_split_rows(const Nest& nest) {
  return nest.passes == 1 && has_reductions(nest) &&
         std::all_of(nest.exprs.begin(), nest.exprs.end(),
                     [](const Expr& e) { return !is_reduction(e.fn) || e.level == 1; });
}

size_t count_reductions(const Nest& nest) {
  return static_cast<size_t>(
      std::count_if(nest.exprs.begin(), nest.exprs.end(), [](const Expr& e) { return is_reduction(e.fn); }));
}

size_t shared_bytes(const Nest& nest, const CudaSchedule& s) {
  if (s.keep != CudaSchedule::Keep::shared) return 0;
  size_t bytes = 0;
  for (ExprId id = 0; id < s.kept_loads.size(); id++)
    if (s.kept_loads[id]) bytes += pack_bytes(nest, s, id);
  const auto rows = static_cast<size_t>(s.threads / s.threads_of_row());
  return rows * static_cast<size_t>(nest.row_elements() / s.pack) * bytes;
}

uint32_t pack_axis(const Nest& nest, const CudaSchedule& s) {
  return has_reductions(nest) && s.rows == Rows::column ? nest.outer - 1 : nest.outer + nest.inner - 1;
}

int64_t count_threads(const Nest& nest, const CudaSchedule& s) {
  if (!has_reductions(nest)) return count_positions(nest, 0, nest.outer + nest.inner) / s.pack;
  if (s.rows == Rows::column) return count_column_tiles(nest, s) * s.parts * s.threads;
  return count_positions(nest, 0, nest.outer) * s.parts * s.threads_of_row();
}

int64_t count_finish_threads(const Nest& nest) {
  const int64_t rows = count_positions(nest, 0, nest.outer), lanes = finish_lanes(nest);
  return (rows + lanes - 1) / lanes * kCudaThreads;
}

int finish_lanes(const Nest& nest) {
  int lanes = kWarp;
  while (lanes > 1 && lanes / 2 >= count_positions(nest, 0, nest.outer)) lanes /= 2;
  return lanes;
}

CudaSchedule cuda_schedule(const Nest& nest, const std::vector<bool>& on_host) {
  constexpr int64_t kLeastBlocks = 128;
  CudaSchedule s;
  s.on_host = on_host;
  s.narrow = is_narrow(nest);
  if (has_reductions(nest)) s.rows = choose_rows(nest);
  choose_packs(nest, s, kMostPacked);
  if (!has_reductions(nest)) return s;
  if (s.rows == Rows::column) {
    while (!can_split_rows(nest) && s.pack > 1 && count_column_tiles(nest, s) < kLeastBlocks)
      choose_packs(nest, s, s.pack / 2);
    choose_lanes(nest, s);
  }
  s.parts = choose_parts(nest, s);
  if (s.split() && s.rows == Rows::warp) s.rows = Rows::block;
  choose_kept_loads(nest, s);
  return s;
}

}  // namespace thunder::loops
