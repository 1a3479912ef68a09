// The functions of a device for programs in which other libraries use it too.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "device/accelerator.h"
#include "device/event.h"

namespace thunder {

// The properties of its hardware.
struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;  // its compute capability
  int multiprocessors = 0;
  size_t bytes = 0, l2_bytes = 0, shared_bytes_of_block = 0;
};

// Another library's allocator for a device's memory.
struct BlockLender {
  // A block that `stream` will use; null: there is no memory. The lender writes the stream of the block's former users:
  // ours waits for it, and it for ours when the block goes back. Into `block` goes what give_back() gets.
  void* (*lend)(size_t bytes, void** stream, void** block, void* user) = nullptr;
  void (*give_back)(void* block, void* user) = nullptr;
  void* user = nullptr;
};

// Any thread. Functions that return a Status return null or an owned one. Streams are named as in the device's own
// library; null: the legacy default stream, which synchronizes with ours implicitly.
class Exchange {
 public:
  virtual DeviceFacts facts() const = 0;
  // Free and total bytes.
  virtual Status* free_memory(size_t& free, size_t& total) const = 0;
  // Whether what a stream holds is done.
  virtual Status* query(void* stream, bool& done) = 0;
  // Throws. `timed`: the time between two such can be asked for.
  virtual std::unique_ptr<DeviceEvent> event(bool timed) = 0;

  // Work is queued that may never be over, unless another thread ends it: until that is taken back as often, waits for
  // the device look again and again, and hold nothing of the driver's meanwhile.
  virtual void expect_stall(bool expected) = 0;
  // What is queued now has no good result: the next wait for the device, or copy to the host, returns `why`, once.
  virtual void fail_next_wait(Ref<Status> why) = 0;

  // From now on all blocks come from the lender; none: from the device itself.
  virtual void borrow_from(const std::optional<BlockLender>& lender) = 0;

  // Memory that others lent us is theirs again when our work on it is done: `end(user)` is called then, by a thread
  // that uses the device. If somebody said so for this storage, their stream is made to wait for that work now.
  virtual void give_back(const Storage* of, void (*end)(void*), void* user) = 0;
  // The stream on which the lender works. Throws.
  virtual void note_lender_stream(const Storage* what, void* stream) = 0;
  // For memory lent to other libraries: later work here waits for the work that their stream holds now.
  virtual void take_back(void* stream) = 0;

 protected:
  ~Exchange() = default;
};

// The exchange of a device that Devices has opened.
Exchange& exchange_of(Accelerator& device);

}  // namespace thunder
