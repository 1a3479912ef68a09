// Host memory on its way to a device: copied to pinned blocks in turn, which the device reads while the caller goes on.
#pragma once

#include <array>
#include <mutex>

#include "device/cuda/driver.h"

namespace thunder::nvidia {

class Staging {
 public:
  explicit Staging(const Driver& driver) : driver_(driver) {}
  Staging(const Staging&) = delete;
  // Gives the blocks back. Requires, of both: the device's context is current; of this, that it reads no block.
  void close();
  // Copies pageable memory, which may be reused when this returns; later work on the stream reads the copy. Returns the
  // driver's result. Any thread.
  int copy_in(Pointer to, const void* from, size_t bytes, Stream stream);

  // Less goes through the driver's own buffers, which then do not wait for the device either.
  static constexpr size_t kLeast = size_t{64} << 10;

 private:
  static constexpr size_t kBlocks = 2, kBlockBytes = size_t{4} << 20;
  struct Block {
    void* memory = nullptr;
    Event read = nullptr;  // when the device has read what was last put there
    bool in_use = false;
  };
  int open(Block& block) const;

  const Driver& driver_;
  std::mutex mutex_;  // of what follows
  std::array<Block, kBlocks> blocks_;
  size_t next_ = 0;
};

}  // namespace thunder::nvidia
