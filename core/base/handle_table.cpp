#include "base/handle_table.h"

#include <mutex>
#include <new>

#include "base/handle_history.h"

namespace thunder {

constinit HandleTable::Place HandleTable::first_[kFirst] = {};
constinit std::atomic<HandleTable::Place*> HandleTable::blocks_[kPlaces / kBlock] = {};
bool Handled::keeps_history_ = HandleHistory::is_kept();

namespace {

// The free places are a stack, linked by what the places count when they are taken; its top has a count of changes
// beside it, so that a place that was taken and given back meanwhile is not mistaken for the one that was read.
constinit std::atomic<uint64_t> top{0};
std::mutex growing;
constinit uint32_t used = 1;  // places that were taken once; 0 says that there is none. Guarded by `growing`

constexpr uint64_t changed(uint64_t before, uint32_t place) {
  return ((before >> 32) + 1) << 32 | place;
}

}  // namespace

HandleTable::Place* HandleTable::place_in_later_block(uint32_t place) {
  Place* const block = blocks_[place / kBlock].load(std::memory_order_acquire);
  return block ? block + place % kBlock : nullptr;
}

uint32_t HandleTable::take() {
  uint64_t before = top.load(std::memory_order_acquire);
  while (const auto place = static_cast<uint32_t>(before)) {
    if (!top.compare_exchange_weak(before, changed(before, place_at(place)->owned()), std::memory_order_acq_rel))
      continue;
    Place& taken = *place_at(place);
    taken.state.store(taken.generation(), std::memory_order_relaxed);
    return place;
  }
  const std::lock_guard lock(growing);
  if (used == kPlaces) throw std::bad_alloc();
  std::atomic<Place*>& block = blocks_[used / kBlock];
  if (used >= kFirst && !block.load(std::memory_order_relaxed))
    block.store(new Place[kBlock], std::memory_order_release);
  return used++;
}

void HandleTable::give_back(uint32_t place) noexcept {
  Place& given = *place_at(place);
  uint64_t before = top.load(std::memory_order_relaxed);
  do given.state.store(given.generation() | uint64_t{static_cast<uint32_t>(before)} << 32, std::memory_order_relaxed);
  while (!top.compare_exchange_weak(before, changed(before, place), std::memory_order_acq_rel));
}

uintptr_t Handled::first_handle(void* object, uint8_t kind) const {
  uint32_t at = place_.load(std::memory_order_acquire);
  if (!at) {
    const uint32_t taken = HandleTable::take();
    HandleTable::place_at(taken)->set_object(object);
    if (place_.compare_exchange_strong(at, taken, std::memory_order_acq_rel))
      at = taken;
    else
      HandleTable::place_at(taken)->set_object(nullptr), HandleTable::give_back(taken);
  }
  const uintptr_t made = bits(*HandleTable::place_at(at), at, kind);
  HandleHistory::note_made(made);
  return made;
}

// With a history each handle has a place of its own.
void Handled::move_to_history() const noexcept {
  HandleHistory::note_released(place_.exchange(0, std::memory_order_relaxed));
}

void Handled::leave_table() const noexcept {
  retire();
  if (const uint32_t at = place_.load(std::memory_order_relaxed)) HandleTable::give_back(at);
}

}  // namespace thunder
