#include "base/in_use.h"

#include <algorithm>

namespace thunder {

bool InUse::keep_alive(const void* object) noexcept {
  for (InUse* in_use = this; in_use; in_use = in_use->outer_) {
    const void** const end = in_use->objects_ + in_use->count_;
    const void** const first = in_use->objects_ + in_use->taken_;
    const void** const found = std::find(first, end, object);
    if (found == end) continue;
    std::swap(*first, *found);
    in_use->taken_++;
    return true;
  }
  return false;
}

}  // namespace thunder
