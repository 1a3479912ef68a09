// The scratch memory of a device's steps, which lies among the values of its arena: where it is used, what was computed
// before may be gone already. (On the CPU it lies behind them, where every step finds it in the caches.)
#include <algorithm>
#include <numeric>

#include "program/plan_steps.h"

namespace thunder {

void place_scratch(Plan& plan, uint32_t arena) {
  DeviceArena& into = plan.arenas[arena];
  const size_t values = into.requests.size();
  std::vector<ArenaRequest> all = into.requests;
  std::vector<size_t> steps;  // of the requests after those of values
  for (size_t i = 0; i < plan.steps.size(); i++) {
    const Step& step = plan.steps[i];
    if (step.arena != arena || !step.scratch_bytes) continue;
    all.push_back({aligned(step.scratch_bytes), step.time, step.time});
    steps.push_back(i);
  }
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return all[a].first < all[b].first; });
  std::vector<ArenaRequest> ordered;
  for (size_t i : order) ordered.push_back(all[i]);
  into.bytes = place_tightly(ordered);
  for (size_t i = 0; i < order.size(); i++) all[order[i]].offset = ordered[i].offset;

  for (BufferPlan& b : plan.buffers)
    if (b.place == Place::arena && b.index == arena && b.request >= 0) {
      const auto request = static_cast<size_t>(b.request);
      b.offset += all[request].offset - into.requests[request].offset;
    }
  for (ArenaSlot& s : plan.slots)
    if (s.arena == arena) s.offset = all[s.request].offset;
  for (size_t i = 0; i < steps.size(); i++) plan.steps[steps[i]].scratch = all[values + i].offset;
  all.resize(values);
  into.requests = std::move(all);
}

}  // namespace thunder
