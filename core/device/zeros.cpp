#include "device/zeros.h"

#include <sys/mman.h>

#include <new>

namespace thunder {
namespace {

struct Pages {
  void* at;
  size_t bytes;
};

}  // namespace

Ref<Storage> zeros_on_demand(const Allocator& allocator, size_t bytes) {
  if (!allocator.ours || !bytes) return {};
  auto* const pages = new Pages{nullptr, bytes};
  pages->at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages->at == MAP_FAILED) {
    delete pages;
    return {};
  }
  return Storage::borrow(
      pages->at, bytes,
      [](void* user) {
        auto* const of = static_cast<Pages*>(user);
        ::munmap(of->at, of->bytes);
        delete of;
      },
      pages);
}

}  // namespace thunder
