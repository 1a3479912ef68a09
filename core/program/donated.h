// Uses the memory of donated inputs for values computed after they were read.
#pragma once

#include <optional>

#include "program/locations.h"

namespace thunder {

class DonatedMemory {
 public:
  // Once every root has its last use.
  DonatedMemory(const Trace& trace, std::span<const InputPlan> inputs, const Locations& locations);

  struct Place {
    uint32_t input;
    int64_t offset;
  };
  // A place for so many bytes between two nodes, both included, in the smallest donated input with room, if any.
  std::optional<Place> reserve(Device device, size_t bytes, int64_t first, int64_t last);
  // Whether there is memory of this kind at all.
  bool empty() const { return donated_.empty(); }
  size_t bytes() const { return bytes_; }  // that were taken in all

 private:
  struct Donated {
    uint32_t input;
    Device device;
    int64_t bytes, free_from;  // bytes; the first node at which nobody reads it
    std::vector<ArenaRequest> taken;  // by offset
  };
  static std::optional<int64_t> find_gap(const Donated& in, const ArenaRequest& wanted);

  std::vector<Donated> donated_;  // smallest first
  size_t bytes_ = 0;
};

}  // namespace thunder
