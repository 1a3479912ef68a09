// Memory of the context: the user's allocator behind one interface.
#pragma once

#include <cstddef>

#include "base/ref.h"

namespace thunder {

class Accelerator;

// thunder_hooks' allocate and deallocate; the default uses malloc.
struct Allocator {
  void* (*allocate)(size_t bytes, size_t align, void* user) = nullptr;
  void (*deallocate)(void*, size_t bytes, size_t align, void* user) = nullptr;
  void* user = nullptr;
  bool ours = false;  // plain host memory: one block may hold the data and the objects that describe them
  Accelerator* accelerator = nullptr;  // of memory that the host cannot read: whose it is
};
Allocator default_allocator();
// The default's functions. Null: out of memory. Requires: align is a power of two, at least a pointer's.
void* allocate_aligned(size_t bytes, size_t align);
void deallocate_aligned(void*);

// Alignment of every buffer we make: a cache line, and the widest vector.
constexpr size_t kAlign = 64;

// Blocks of fewer bytes are malloc's, which keeps what is given back: no cache of ours counts them, and any of our
// allocators takes them.
constexpr size_t kSmallBlock = 1024;

// Bytes with an owner: ours, or borrowed with a destroy callback that runs when the last use ends.
class Storage : public Counted<Storage> {
 public:
  // Throws Error(out_of_memory), or what lost the device. The bytes are not initialised. `room` more bytes, aligned as
  // malloc's, are for an object of the caller that lies beside this one and is gone before it.
  static Ref<Storage> allocate(const Allocator&, size_t bytes, size_t room = 0);
  // `accelerator`: whose memory it is; null: the host's.
  static Ref<Storage> borrow(void* data, size_t bytes, void (*destroy)(void*), void* user,
                             Accelerator* accelerator = nullptr);
  ~Storage();
  void destroy() const;
  void* room() { return this + 1; }
  // Sets the function called at the end of a borrowed storage, for owners who keep the bytes until nothing can fail.
  void on_release(void (*destroy)(void*), void* user) { destroy_ = destroy, user_ = user; }

  // Borrowed memory of a device then ends with the last handle, not when our work on it is done: its lender's stream
  // waits for that.
  void release_at_once() { at_once_ = true; }

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // The device that the memory is of; null: the host, which may read and write it directly.
  Accelerator* accelerator() const { return allocator_.accelerator; }
  bool owned() const { return destroy_ == nullptr && !borrowed_; }
  // Whether the memory and its description are one block, which belongs to no context.
  bool small() const { return block_ && block_ < kSmallBlock && owned(); }
  // Resets it as if it had just been allocated. Requires: small; the allocator is ours.
  void renew(const Allocator& allocator) { version_.store(0, std::memory_order_relaxed), allocator_ = allocator; }
  // How often it was written, as far as the library was told.
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  // Not atomic: only one thread at a time may work on the data.
  void bump() { version_.store(version() + 1, std::memory_order_relaxed); }

 private:
  Storage() = default;

  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  std::atomic<uint64_t> version_{0};
  size_t block_ = 0;  // bytes of the block that holds this object and the data; 0: they are apart
  bool borrowed_ = false;
  bool at_once_ = false;
  Allocator allocator_;
  void (*destroy_)(void*) = nullptr;
  void* user_ = nullptr;
};

}  // namespace thunder
