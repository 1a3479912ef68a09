// A device whose memory the host cannot read: where its blocks come from and how bytes get there and back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "device/memory.h"
#include "device/memory_statistics.h"
#include "device/recording.h"
#include "ir/device.h"

namespace thunder {

// A strided array in some memory: rank sizes, and as many steps in bytes.
struct StridedBytes {
  std::byte* data;
  int32_t rank;
  const int64_t* sizes;
  const int64_t* steps;
};

// All work on a device is done in the order in which it was asked for, so memory that was given back may be handed out
// again at once. Any thread. What returns a Status returns null or an owned one.
class Accelerator : public Counted<Accelerator> {
 public:
  explicit Accelerator(Device id) : id_(id) {}
  virtual ~Accelerator() = default;

  Device id() const { return id_; }
  // Of the device's memory. Null from its allocate: out of memory, or failure() says what else. Requires: the device
  // lives as long as what is allocated; a Storage keeps it.
  Allocator allocator();
  // A name of the hardware and its size: "NVIDIA H100, 79 GiB".
  virtual std::string describe() const = 0;

  // The error that lost the device, after which every use fails; null while it works.
  virtual Status* failure() const = 0;

  // From host memory, which may be reused when this returns; to host memory, where the bytes are when this returns.
  virtual Status* copy_in(void* to, const void* from, size_t bytes) = 0;
  virtual Status* copy_out(void* to, const void* from, size_t bytes) = 0;
  // On the device. Both have the same sizes, and elements of `item` bytes (1, 2, 4, 8 or 16).
  virtual Status* copy(const StridedBytes& from, const StridedBytes& to, size_t item) = 0;
  virtual Status* fill_with_zeros(void* to, size_t bytes) = 0;
  // The stream that all of it is asked for on, as the device's own library knows it (CUstream).
  virtual void* native_stream() const = 0;
  // Between our stream and a caller's: what is asked for from now on waits for what the caller's stream holds, and the
  // other way round.
  virtual Status* wait_for(void* stream) = 0;
  virtual Status* let_wait(void* stream) = 0;
  // Until what a caller's stream holds is done.
  virtual Status* wait_on(void* stream) = 0;
  // Until all that was asked for is done; reports what went wrong in it.
  virtual Status* wait() = 0;
  // An empty one. Throws.
  virtual std::unique_ptr<Recording> recording() = 0;

  // Of the blocks that its allocator hands out.
  virtual MemoryStatistics memory() const = 0;
  virtual void reset_peak_memory() = 0;
  // Blocks that are kept for reuse go back to the device. Waits for it.
  virtual Status* trim_memory() = 0;

 protected:
  virtual void* allocate(size_t bytes) = 0;
  virtual void deallocate(void* block, size_t bytes) = 0;

 private:
  const Device id_;
};

inline Allocator Accelerator::allocator() {
  Allocator out;
  out.allocate = [](size_t bytes, size_t, void* self) { return static_cast<Accelerator*>(self)->allocate(bytes); };
  out.deallocate = [](void* block, size_t bytes, size_t, void* self) {
    static_cast<Accelerator*>(self)->deallocate(block, bytes);
  };
  out.user = this;
  out.accelerator = this;
  return out;
}

}  // namespace thunder
