// Where handles were made and released, kept where the environment says THUNDER_DEBUG_HANDLES=1: then a handle that is
// used after its release is found however many others were made since, and its error says both places.
#pragma once

#include <cstdint>
#include <string>

namespace thunder {

// Threads: any.
class HandleHistory {
 public:
  static bool is_kept() noexcept;
  static void note_made(uintptr_t handle) noexcept;
  // The handle of this place; the place is given to another one only when a million were released after it. Requires:
  // the history is kept.
  static void note_released(uint32_t place) noexcept;
  // "made by FRAMES; released by FRAMES", as far as it is known; "" else.
  static std::string text(uint32_t place);
};

}  // namespace thunder
