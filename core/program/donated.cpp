#include "program/donated.h"

#include <algorithm>

#include "program/plan_steps.h"

namespace thunder {
namespace {

// Smaller values stay in the arena, which is in the caches.
constexpr size_t kLeast = size_t{1} << 16;

}  // namespace

DonatedMemory::DonatedMemory(const Trace& trace, std::span<const InputPlan> inputs, const Locations& locations) {
  for (uint32_t i = 0; i < inputs.size(); i++) {
    const TensorType& type = trace.type(trace.inputs[i].value);
    if (!inputs[i].donated || dense_bytes(type) < kLeast) continue;
    const Root& root = locations.roots[trace.inputs[i].value];
    donated_.push_back({i, type.device, static_cast<int64_t>(dense_bytes(type)), root.last_use + 1, {}});
  }
  std::stable_sort(donated_.begin(), donated_.end(), [](auto& a, auto& b) { return a.bytes < b.bytes; });
}

// The first offset in the donated memory with room for the wanted bytes, between the values that live at the same time.
std::optional<int64_t> DonatedMemory::find_gap(const Donated& in, const ArenaRequest& wanted) {
  int64_t end = 0;
  for (const ArenaRequest& r : in.taken) {
    if (r.last < wanted.first || wanted.last < r.first) continue;
    if (r.offset - end >= wanted.bytes) return end;
    end = std::max(end, r.offset + r.bytes);
  }
  if (in.bytes - end < wanted.bytes) return std::nullopt;
  return end;
}

std::optional<DonatedMemory::Place> DonatedMemory::reserve(Device device, size_t bytes, int64_t first, int64_t last) {
  if (bytes < kLeast) return std::nullopt;
  ArenaRequest wanted{static_cast<int64_t>(bytes), static_cast<size_t>(first), static_cast<size_t>(last)};
  for (Donated& in : donated_) {
    if (in.device != device || in.free_from > first || in.bytes < wanted.bytes) continue;
    const std::optional<int64_t> at = find_gap(in, wanted);
    if (!at) continue;
    wanted.offset = *at, wanted.bytes = aligned(bytes);
    const auto behind = [](const ArenaRequest& a, const ArenaRequest& b) { return a.offset < b.offset; };
    in.taken.insert(std::upper_bound(in.taken.begin(), in.taken.end(), wanted, behind), wanted);
    bytes_ += bytes;
    return Place{in.input, *at};
  }
  return std::nullopt;
}

}  // namespace thunder
