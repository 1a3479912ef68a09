// A vector of trivially copyable things whose first N live inside it: shapes and strides must not allocate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

namespace thunder {

[[noreturn]] void throw_out_of_bounds(size_t position, size_t size);
inline size_t within(size_t position, size_t size) {
  if (position >= size) [[unlikely]]
    throw_out_of_bounds(position, size);
  return position;
}

template <class T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() {}
  SmallVector(size_t n, const T& value) { resize(n, value); }
  SmallVector(std::initializer_list<T> items) { assign(items.begin(), items.end()); }
  template <class It>
  SmallVector(It first, It last) {
    assign(first, last);
  }
  explicit SmallVector(std::span<const T> items) { assign(items.begin(), items.end()); }
  SmallVector(const SmallVector& o) { copy(o); }
  SmallVector& operator=(const SmallVector& o) {
    if (this != &o) copy(o);
    return *this;
  }
  SmallVector(SmallVector&& o) noexcept { take(o); }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this != &o) take(o);
    return *this;
  }

  template <class It>
  void assign(It first, It last) {
    const auto n = static_cast<size_t>(last - first);
    size_ = 0;
    reserve(n);
    size_ = static_cast<uint32_t>(n);
    for (T* to = data(); first != last; ++first) *to++ = *first;
  }
  void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_);
    data()[size_++] = value;
  }
  void insert(size_t at, T value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    size_--;
  }
  void pop_back() { size_--; }
  void clear() { size_ = 0; }
  // Added elements are not initialised.
  void resize_uninitialized(size_t n) {
    reserve(n);
    size_ = static_cast<uint32_t>(n);
  }
  void resize(size_t n, T value = T{}) {  // by value: it may be one of ours
    reserve(n);
    T* to = data();
    for (size_t i = size_; i < n; i++) to[i] = value;
    size_ = static_cast<uint32_t>(n);
  }
  void reserve(size_t n) {
    if (n <= capacity_) return;
    std::unique_ptr<T[]> bigger(new T[n]);
    std::copy(begin(), end(), bigger.get());
    heap_ = std::move(bigger);
    capacity_ = static_cast<uint32_t>(n);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  // Throws THUNDER_INTERNAL unless i < size(): a wrong position becomes an error of the op, never a read of other
  // memory.
  T& operator[](size_t i) { return data()[within(i, size_)]; }
  const T& operator[](size_t i) const { return data()[within(i, size_)]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void copy(const SmallVector& o) {
    // Shapes are copied at each call: copying the whole inline storage costs less than counting the used elements.
    if (heap_ || o.heap_ || sizeof inline_ > 128) return assign(o.begin(), o.end());
    std::memcpy(inline_, o.inline_, sizeof inline_);
    size_ = o.size_;
  }
  void take(SmallVector& o) {
    if (o.heap_) {
      heap_ = std::move(o.heap_);
      capacity_ = o.capacity_;
    } else {
      heap_.reset();
      capacity_ = N;
      std::copy(o.inline_, o.inline_ + o.size_, inline_);
    }
    size_ = o.size_;
    o.size_ = 0;
    o.capacity_ = N;
  }

  uint32_t size_ = 0, capacity_ = N;
  std::unique_ptr<T[]> heap_;
  union {
    T inline_[N];  // begins uninitialised: clearing it would cost more than most uses of it
  };
};

}  // namespace thunder
