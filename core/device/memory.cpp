#include "device/memory.h"

#include <new>

#include "base/text.h"

namespace thunder {

Allocator default_allocator() {
  return {[](size_t bytes, size_t align, void*) -> void* {
            return ::operator new(bytes, std::align_val_t(align), std::nothrow);
          },
          [](void* p, size_t, size_t align, void*) { ::operator delete(p, std::align_val_t(align)); }, nullptr};
}

Ref<Storage> Storage::allocate(const Allocator& allocator, size_t bytes) {
  auto storage = Ref<Storage>::adopt(new Storage);
  if (bytes) {
    void* p = allocator.allocate(bytes, kAlign, allocator.user);
    if (!p) fail(Code::out_of_memory, "out of memory: could not allocate ", bytes, " bytes");
    storage->data_ = static_cast<std::byte*>(p);
  }
  storage->bytes_ = bytes;
  storage->allocator_ = allocator;
  return storage;
}

Ref<Storage> Storage::borrow(void* data, size_t bytes, void (*destroy)(void*), void* user) {
  auto storage = Ref<Storage>::adopt(new Storage);
  storage->data_ = static_cast<std::byte*>(data);
  storage->bytes_ = bytes;
  storage->borrowed_ = true;
  storage->destroy_ = destroy;
  storage->user_ = user;
  return storage;
}

Storage::~Storage() {
  if (destroy_) destroy_(user_);
  if (!borrowed_ && data_) allocator_.deallocate(data_, bytes_, kAlign, allocator_.user);
}

}  // namespace thunder
