#include "loops/cuda/fission.h"

#include <algorithm>

#include "loops/cuda/schedule.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

constexpr int64_t kShortRow = 1024;
constexpr int64_t kBusyThreads = 128 * kCudaThreads;
constexpr size_t kMostArguments = 96;  // of a nest, so that its addresses and sizes stay parameters

// Drops the expressions that no store needs.
void keep_needed(Nest& n) {
  std::vector<bool> needed(n.exprs.size());
  for (const Output& s : n.stores) needed[s.value] = true;
  for (size_t id = n.exprs.size(); id-- > 0;)
    for (uint32_t i = 0; needed[id] && i < n.exprs[id].count; i++) needed[n.exprs[id].in[i]] = true;
  std::vector<ExprId> place(n.exprs.size());
  std::vector<Expr> kept;
  for (size_t id = 0; id < n.exprs.size(); id++) {
    if (!needed[id]) continue;
    place[id] = static_cast<ExprId>(kept.size());
    Expr& e = kept.emplace_back(n.exprs[id]);
    for (uint32_t i = 0; i < e.count; i++) e.in[i] = place[e.in[i]];
  }
  n.exprs = std::move(kept);
  for (Output& s : n.stores) s.value = place[s.value];
}

class Splitter {
 public:
  explicit Splitter(const LoweredRegion& region) : region_(region), nest_(region.nest) {
    find_levels(nest_, region.reduced);
  }

  std::optional<Fission> run() {
    const bool two_passes = std::all_of(nest_.exprs.begin(), nest_.exprs.end(), [](const Expr& e) {
      return e.level <= 1 && !may_fail(e);
    });
    if (!two_passes || !runs_few_threads()) return std::nullopt;
    out_.sums = region_, out_.rest = region_;
    out_.sums.nest = nest_, out_.rest.nest = nest_;
    out_.sums.nest.stores.clear(), out_.rest.nest.stores.clear();
    for (const Output& s : nest_.stores) (is_row(s) ? out_.sums : out_.rest).nest.stores.push_back(s);
    keep_frontier();
    out_.rest.reduced = 0;
    for (LoweredRegion* part : {&out_.sums, &out_.rest}) {
      keep_needed(part->nest);
      if (!part->on_host.empty()) part->on_host.resize(part->nest.buffers.size());
    }
    if (nest_.buffers.size() + out_.kept.size() > kMostArguments || has_sums(out_.rest.nest)) return std::nullopt;
    return std::move(out_);
  }

 private:
  static bool has_sums(const Nest& n) {
    return std::any_of(n.exprs.begin(), n.exprs.end(), [](const Expr& e) { return is_reduction(e.fn); });
  }
  bool runs_few_threads() const {
    Nest ordered = nest_;
    order_loops(ordered, region_.reduced);
    if (ordered.passes != 2 || ordered.row_elements() < kShortRow || !has_reductions(ordered)) return false;
    const CudaSchedule schedule = cuda_schedule(ordered, region_.on_host);
    return schedule.rows == CudaSchedule::Rows::column && count_threads(ordered, schedule) < kBusyThreads;
  }
  bool is_row(ExprId e) const { return !(nest_.exprs[e].axes & region_.reduced); }
  bool is_row(const Output& s) const {
    for (uint32_t a = 0; a < nest_.axes(); a++)
      if (region_.reduced & axis_bit(a) && nest_.maps[s.map][a]) return false;
    return is_row(s.value);
  }

  // Stores the values of rows that are computed from sums where something at each position needs them.
  void keep_frontier() {
    std::vector<bool> kept(nest_.exprs.size());
    const auto keep = [&](ExprId id) {
      if (kept[id] || !is_row(id) || nest_.exprs[id].level == 0) return;
      kept[id] = true;
      keep_value(id);
    };
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      for (uint32_t i = 0; !is_row(id) && i < nest_.exprs[id].count; i++) keep(nest_.exprs[id].in[i]);
    for (const Output& s : out_.rest.nest.stores) keep(s.value);
  }

  void keep_value(ExprId id) {
    const Expr& e = nest_.exprs[id];
    const auto buffer = static_cast<uint32_t>(nest_.buffers.size() + out_.kept.size());
    Map map(nest_.axes(), 0);
    Output store{id, OutputKind::each, buffer, 0};
    int64_t elements = 1;
    for (uint32_t a = nest_.outer; a-- > 0;) {
      if (e.axes & axis_bit(a)) map[a] = elements, elements *= nest_.extents[a];
      else if (!(region_.reduced & axis_bit(a))) store.only.push_back({a, 0, 1});
    }
    for (LoweredRegion* part : {&out_.sums, &out_.rest}) {
      part->nest.buffers.push_back(e.dtype);
      part->nest.maps.push_back(map);
    }
    store.map = static_cast<uint32_t>(out_.sums.nest.maps.size() - 1);
    out_.sums.nest.stores.push_back(store);
    Expr load;
    load.fn = Fn::load, load.dtype = e.dtype, load.buffer = buffer, load.map = store.map;
    out_.rest.nest.exprs[id] = load;
    out_.kept.push_back({e.dtype, elements});
  }

  const LoweredRegion& region_;
  Nest nest_;
  Fission out_;
};

}  // namespace

std::optional<Fission> split_passes(const LoweredRegion& region) {
  return region.reduced ? Splitter(region).run() : std::nullopt;
}

}  // namespace thunder::loops
