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

// All work on a device is done in order, so freed memory may be reused at once. Any thread. Functions that return a
// Status return null or an owned one.
class Accelerator : public Counted<Accelerator> {
 public:
  explicit Accelerator(Device id) : id_(id) {}
  virtual ~Accelerator() = default;

  Device id() const { return id_; }
  // Allocates memory of the device. allocate() returns null when there is none, or failure() says what else went wrong.
  // Requires: the device lives as long as what is allocated; a Storage keeps it alive.
  Allocator allocator();
  // A name of the hardware and its size: "NVIDIA H100, 79 GiB".
  virtual std::string describe() const = 0;

  // The error that lost the device, after which every use fails; null while it works.
  virtual Status* failure() const = 0;

  // Copies from host memory, which may be reused on return; and to host memory, which is filled on return.
  virtual Status* copy_in(void* to, const void* from, size_t bytes) = 0;
  virtual Status* copy_out(void* to, const void* from, size_t bytes) = 0;
  // Copies on the device. Both arrays have the same sizes, and elements of `item` bytes (1, 2, 4, 8 or 16).
  virtual Status* copy(const StridedBytes& from, const StridedBytes& to, size_t item) = 0;
  virtual Status* fill_with_zeros(void* to, size_t bytes) = 0;
  // The stream on which all this work is launched, as the device's own library names it (CUstream).
  virtual void* native_stream() const = 0;
  // Orders this stream and a caller's: later work here waits for work that the caller's stream has now, and the other
  // way round.
  virtual Status* wait_for(void* stream) = 0;
  virtual Status* make_stream_wait(void* stream) = 0;
  // Waits until the work queued on a caller's stream is done.
  virtual Status* synchronize_stream(void* stream) = 0;
  // Waits until all queued work is done; returns its first error.
  virtual Status* wait() = 0;
  // An empty one. Throws.
  virtual std::unique_ptr<Recording> recording() = 0;

  // Statistics of the blocks that its allocator hands out.
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
