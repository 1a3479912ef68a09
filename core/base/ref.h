// Intrusive reference counting for the few objects that cross the C boundary or are shared between threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/handle_table.h"

namespace thunder {

// Derive from Counted<T>; a new object has one reference, owned by whoever adopts it (Ref::adopt, make<T>). A class
// whose objects do not come from operator new has a `destroy() const` of its own.
template <class T>
class Counted : public Handled {
 public:
  Counted() = default;
  Counted(const Counted&) : Handled() {}  // a copy is a new object with a count of its own
  Counted& operator=(const Counted&) = delete;

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    // The last owner needs no locked instruction. Else not a release followed by a fence: ThreadSanitizer does not see
    // fences.
    if (!unique() && count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    retire_handles();
    static_cast<const T*>(this)->destroy();
  }
  bool unique() const { return count_.load(std::memory_order_acquire) == 1; }

  void destroy() const { delete static_cast<const T*>(this); }

 protected:
  // Sets the count back to that of a new object, where destroy() kept the object.
  void reset_count() { count_.store(1, std::memory_order_relaxed); }
  ~Counted() = default;

 private:
  mutable std::atomic<int32_t> count_{1};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->release();
  }

  // Takes over the reference that the caller owns.
  static Ref adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  // Gives the reference to the caller, who must release it.
  T* detach() { return std::exchange(p_, nullptr); }

  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

template <class T, class... A>
Ref<T> make(A&&... a) {
  return Ref<T>::adopt(new T(std::forward<A>(a)...));
}

}  // namespace thunder
