// A cache of freed device memory, by size: the driver's allocation takes a lock and may wait for the device.
#pragma once

#include <mutex>
#include <vector>

#include "device/cuda/driver.h"
#include "device/memory_statistics.h"

namespace thunder::nvidia {

// Work on a device is done in the order in which it was asked for, so that a block which was given back may be used by
// whatever is asked for next. Any thread.
class MemoryPool {
 public:
  explicit MemoryPool(const Driver& driver) : driver_(driver) {}
  // Requires: the device's context is current, of all that follow. 0: `failed` is what the driver said.
  Pointer allocate(size_t bytes, int& failed);
  void deallocate(Pointer at, size_t bytes);
  // Returns all that is kept to the driver. Waits for the device.
  void trim();
  MemoryStatistics statistics() const;
  void reset_peaks();

 private:
  void give_back_kept();

  const Driver& driver_;
  mutable std::mutex mutex_;
  std::vector<std::vector<Pointer>> free_;  // by size class
  MemoryStatistics counts_;
};

}  // namespace thunder::nvidia
