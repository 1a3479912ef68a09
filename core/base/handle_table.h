// What callers of the C API hold: not an address but a place in a table, the generation that the place had when the
// handle was given out, and the kind of the object. A handle of another kind, one whose object is gone, and a pointer
// to something else are told apart from a good one without looking at any object's memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace thunder {

// Bits of a handle from the lowest: 1, which no address of an object has; 7 of the kind; 26 of the place; 30 of the
// generation. Threads: any; a handle that one thread uses while another releases its last reference is the caller's
// mistake, and is noticed or not.
class HandleTable {
 public:
  // The object of a place, and beside it the generation, below, and how many references the caller owns, above.
  struct Place {
    void* object() const { return reinterpret_cast<void*>(object_.load(std::memory_order_acquire) ^ kHidden); }
    void set_object(void* object) {
      object_.store(reinterpret_cast<uintptr_t>(object) ^ kHidden, std::memory_order_release);
    }
    uint32_t generation() const { return static_cast<uint32_t>(state.load(std::memory_order_relaxed)); }
    uint32_t owned() const { return static_cast<uint32_t>(state.load(std::memory_order_relaxed) >> 32); }

    std::atomic<uint64_t> state{0};

   private:
#ifdef __SANITIZE_ADDRESS__
    static constexpr uintptr_t kHidden = ~uintptr_t{0};  // LeakSanitizer is not to take the table for an owner
#else
    static constexpr uintptr_t kHidden = 0;
#endif
    std::atomic<uintptr_t> object_{kHidden};
  };
  static constexpr uint64_t kOneOwned = uint64_t{1} << 32;

  static constexpr uintptr_t tag_of(uint8_t kind) {
    return uintptr_t{kind} << 1 | 1;
  }
  // The place of a handle that lives and is of this kind; else null.
  [[gnu::always_inline]] static Place* find(uintptr_t handle, uint8_t kind) {
    if ((handle & 0xff) != tag_of(kind)) return nullptr;
    Place* const place = place_at(place_in(handle));
    return place && place->generation() == handle >> 34 ? place : nullptr;
  }
  // Whether it looks like a handle, and then of which kind. 0: it is a pointer to something else.
  static uint8_t kind_in(uintptr_t handle) {
    return handle & 1 ? static_cast<uint8_t>(handle >> 1 & 0x7f) : 0;
  }
  static uint32_t place_in(uintptr_t handle) {
    return static_cast<uint32_t>(handle >> 8 & (kPlaces - 1));
  }
  // Null: there is no such place yet.
  [[gnu::always_inline]] static Place* place_at(uint32_t place) {
    return place < kFirst ? first_ + place : place_in_later_block(place);
  }

 private:
  friend class Handled;
  friend class HandleHistory;
  static constexpr uint32_t kPlaces = 1u << 26, kBlock = 1u << 14, kFirst = kBlock;
  static constexpr uint32_t kGenerations = 1u << 30;

  [[gnu::noinline]] static Place* place_in_later_block(uint32_t place);
  // A free place, never 0. Throws std::bad_alloc, also when all are taken.
  static uint32_t take();
  static void give_back(uint32_t place) noexcept;
  static uint64_t next_generation(uint64_t state) {
    return (static_cast<uint32_t>(state) + 1) % kGenerations;
  }

  // Its pages are touched as places are taken.
  static Place first_[kFirst];
  static std::atomic<Place*> blocks_[kPlaces / kBlock];
};

// An object that may have a handle. It takes its place in the table when the first one is asked for.
class Handled {
 public:
  Handled() = default;
  Handled(const Handled&) {}  // a copy is another object
  Handled& operator=(const Handled&) = delete;

  // The handle of `object`, which is this one under its public type. Throws std::bad_alloc.
  [[gnu::always_inline]] uintptr_t handle_word(void* object, uint8_t kind) const {
    const uint32_t at = place_.load(std::memory_order_acquire);
    return at ? bits(*HandleTable::place_at(at), at, kind) : first_handle(object, kind);
  }
  // Handles given out so far are no longer good.
  void retire_handles() const noexcept {
    if (place_.load(std::memory_order_relaxed)) retire();
  }

 protected:
  ~Handled() {
    if (place_.load(std::memory_order_relaxed)) leave_table();
  }

 private:
  static uintptr_t bits(const HandleTable::Place& place, uint32_t at, uint8_t kind) {
    return uint64_t{place.generation()} << 34 | uint64_t{at} << 8 | HandleTable::tag_of(kind);
  }
  uintptr_t first_handle(void* object, uint8_t kind) const;
  void retire() const noexcept {
    HandleTable::Place& place = *HandleTable::place_at(place_.load(std::memory_order_relaxed));
    place.state.store(HandleTable::next_generation(place.state.load(std::memory_order_relaxed)),
                      std::memory_order_release);
    if (keeps_history_) [[unlikely]]
      move_to_history();
  }
  void move_to_history() const noexcept;
  void leave_table() const noexcept;

  static bool keeps_history_;               // set when the library is loaded
  mutable std::atomic<uint32_t> place_{0};  // 0: none yet
};

static_assert(sizeof(uintptr_t) == 8, "a handle has 64 bits");

}  // namespace thunder
