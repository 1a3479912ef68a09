// A bump allocator: objects made in it live until it is destroyed, and their destructors do not run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace thunder {

class Arena {
 public:
  void* allocate(size_t bytes, size_t align) {
    // Aligns the address, since a block has only the alignment that operator new promises.
    const size_t skip = -(reinterpret_cast<uintptr_t>(block_) + used_) & (align - 1);
    if (!block_ || skip > size_ - used_ || bytes > size_ - used_ - skip) return grow(bytes, align);
    void* at = block_ + used_ + skip;
    used_ += skip + bytes;
    return at;
  }

  template <class T, class... A>
  T* make(A&&... a) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<A>(a)...};
  }
  template <class T>
  std::span<T> copy(std::span<const T> from) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (from.empty()) return {};
    T* to = static_cast<T*>(allocate(from.size_bytes(), alignof(T)));
    std::memcpy(static_cast<void*>(to), from.data(), from.size_bytes());
    return {to, from.size()};
  }
  // Frees everything, so that the arena is empty again.
  void clear() {
    blocks_.clear();
    block_ = nullptr;
    used_ = size_ = bytes_ = 0;
  }
  // Of all its blocks.
  size_t bytes() const { return bytes_; }
  // Terminated by a zero.
  const char* copy(std::string_view text) {
    char* to = static_cast<char*>(allocate(text.size() + 1, 1));
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    to[text.size()] = 0;
    return to;
  }

 private:
  // No member changes before the last allocation that may fail.
  void* grow(size_t bytes, size_t align) {
    const size_t size = bytes + align > kBlock ? bytes + align : kBlock;
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    block_ = blocks_.back().get();
    size_ = size;
    bytes_ += size;
    used_ = 0;
    return allocate(bytes, align);
  }

  static constexpr size_t kBlock = 64 << 10;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* block_ = nullptr;
  size_t used_ = 0, size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace thunder
