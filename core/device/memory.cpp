#include "device/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/text.h"
#include "device/exchange.h"

namespace thunder {

namespace {

// A huge page takes one TLB entry and one page fault where small pages take hundreds.
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

// malloc's fast path for small blocks does not serve aligned ones: align by hand, with the block's own address just
// before what is given out.
void* allocate_aligned(size_t bytes, size_t align) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  const bool huge = bytes >= kHugePage;
  if (huge) align = kHugePage;
  void* block = std::malloc(bytes + align + sizeof(void*));
  if (!block) return nullptr;
  auto at = (reinterpret_cast<uintptr_t>(block) + sizeof(void*) + align - 1) & ~(align - 1);
  reinterpret_cast<void**>(at)[-1] = block;
#ifdef MADV_HUGEPAGE
  if (huge) ::madvise(reinterpret_cast<void*>(at), bytes & ~(kHugePage - 1), MADV_HUGEPAGE);  // a hint
#endif
  return reinterpret_cast<void*>(at);
}

void deallocate_aligned(void* p) { std::free(static_cast<void**>(p)[-1]); }

Allocator default_allocator() {
  return {[](size_t bytes, size_t align, void*) { return allocate_aligned(bytes, align); },
          [](void* p, size_t, size_t, void*) { deallocate_aligned(p); }, nullptr, true};
}

namespace {

void* data_block(const Allocator& allocator, size_t block, size_t bytes) {
  void* p = block < bytes ? nullptr : allocator.allocate(block, kAlign, allocator.user);
  if (Status* failed = p || !allocator.accelerator ? nullptr : allocator.accelerator->failure())
    throw Error(Ref<Status>::adopt(failed));
  if (!p) fail(Code::out_of_memory, "out of memory: could not allocate ", bytes, " bytes");
  return p;
}

}  // namespace

Ref<Storage> Storage::allocate(const Allocator& allocator, size_t bytes, size_t room) {
  const size_t head = (sizeof(Storage) + room + kAlign - 1) / kAlign * kAlign;
  Ref<Storage> storage;
  if (allocator.ours && bytes) {
    auto* block = static_cast<std::byte*>(data_block(allocator, head + bytes, bytes));
    storage = Ref<Storage>::adopt(new (block) Storage);
    storage->block_ = head + bytes;
    storage->data_ = block + head;
  } else {
    storage = Ref<Storage>::adopt(new (::operator new(head)) Storage);
    if (bytes) storage->data_ = static_cast<std::byte*>(data_block(allocator, bytes, bytes));
  }
  storage->bytes_ = bytes;
  storage->allocator_ = allocator;
  if (allocator.accelerator) allocator.accelerator->retain();  // memory keeps its device alive
  return storage;
}

Ref<Storage> Storage::borrow(void* data, size_t bytes, void (*destroy)(void*), void* user, Accelerator* accelerator) {
  auto storage = Ref<Storage>::adopt(new (::operator new(sizeof(Storage))) Storage);
  storage->data_ = static_cast<std::byte*>(data);
  storage->bytes_ = bytes;
  storage->borrowed_ = true;
  storage->destroy_ = destroy;
  storage->user_ = user;
  if (accelerator) accelerator->retain();
  storage->allocator_.accelerator = accelerator;
  return storage;
}

Storage::~Storage() {
  Accelerator* const lent = destroy_ && !at_once_ ? allocator_.accelerator : nullptr;
  if (lent) exchange_of(*lent).give_back(this, destroy_, user_);
  else if (destroy_) destroy_(user_);
  if (!borrowed_ && data_ && !block_) allocator_.deallocate(data_, bytes_, kAlign, allocator_.user);
  if (allocator_.accelerator) allocator_.accelerator->release();
}

void Storage::destroy() const {
  auto* self = const_cast<Storage*>(this);
  const Allocator allocator = allocator_;
  const size_t block = block_;
  self->~Storage();
  if (block) allocator.deallocate(self, block, kAlign, allocator.user);
  else ::operator delete(self);
}

}  // namespace thunder
