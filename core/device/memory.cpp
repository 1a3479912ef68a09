#include "device/memory.h"

#include <cstdint>
#include <cstdlib>

#include "base/text.h"

namespace thunder {

Allocator default_allocator() {
  // malloc's fast path for small blocks does not serve aligned ones: align by hand, with the block's own address
  // just before what is given out.
  return {[](size_t bytes, size_t align, void*) -> void* {
            if (bytes > SIZE_MAX / 2) return nullptr;
            void* block = std::malloc(bytes + align + sizeof(void*));
            if (!block) return nullptr;
            auto at = (reinterpret_cast<uintptr_t>(block) + sizeof(void*) + align - 1) & ~(align - 1);
            reinterpret_cast<void**>(at)[-1] = block;
            return reinterpret_cast<void*>(at);
          },
          [](void* p, size_t, size_t, void*) { std::free(static_cast<void**>(p)[-1]); }, nullptr};
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
