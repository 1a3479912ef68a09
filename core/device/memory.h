// Memory of the context: the user's allocator behind one interface.
#pragma once

#include <cstddef>

#include "base/ref.h"

namespace thunder {

// thunder_hooks' allocate and deallocate; the default uses aligned operator new.
struct Allocator {
  void* (*allocate)(size_t bytes, size_t align, void* user) = nullptr;
  void (*deallocate)(void*, size_t bytes, size_t align, void* user) = nullptr;
  void* user = nullptr;
};
Allocator default_allocator();

// Alignment of every buffer we make: a cache line, and the widest vector.
constexpr size_t kAlign = 64;

// Bytes with an owner: ours, or borrowed with a destroy callback that runs when the last use ends.
class Storage : public Counted<Storage> {
 public:
  // Throws Error(out_of_memory). The bytes are not initialised.
  static Ref<Storage> allocate(const Allocator&, size_t bytes);
  static Ref<Storage> borrow(void* data, size_t bytes, void (*destroy)(void*), void* user);
  ~Storage();
  // Sets what a borrowed storage calls when it ends. For owners who keep the bytes until nothing can fail any more.
  void on_release(void (*destroy)(void*), void* user) { destroy_ = destroy, user_ = user; }

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  bool owned() const { return destroy_ == nullptr && !borrowed_; }

 private:
  Storage() = default;
  template <class T, class... A>
  friend Ref<T> make(A&&...);

  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  bool borrowed_ = false;
  Allocator allocator_;
  void (*destroy_)(void*) = nullptr;
  void* user_ = nullptr;
};

}  // namespace thunder
