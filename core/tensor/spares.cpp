#include "tensor/spares.h"

#include <algorithm>
#include <utility>

namespace thunder {

// Tensors that destructors of the thread release later are freed at once: `open` is false before the first one is kept,
// and after the end.
struct Spares::Slots {
  Tensor* kept[kSlots];
  bool open, closed;
};

struct Spares::AtExit {
  AtExit() { of_this_thread().open = true; }
  ~AtExit() {
    Slots& slots = of_this_thread();
    slots.open = false, slots.closed = true;
    for (Tensor*& t : slots.kept)
      if (t) std::exchange(t, nullptr)->free();
  }
};

// Has no constructor, so that no guard is tested at each use.
inline Spares::Slots& Spares::of_this_thread() {
  static constinit thread_local Slots slots{};
  return slots;
}

// Compared by hand, since a call of memcmp takes longer.
inline bool Spares::fits(const Tensor& t, const DenseType& dense) {
  if (t.guard_ != dense.guard) return false;
  for (size_t i = 0; i < dense.sizes.size(); i++)
    if (t.sizes_[i] != dense.sizes[i]) return false;
  return true;
}

Tensor* Spares::take(const Allocator& allocator, const DenseType& dense) {
  Slots& slots = of_this_thread();
  Tensor*& kept = slots.kept[slot(dense.guard, dense.bytes)];
  Tensor* t = kept;
  if (!t || !allocator.ours || !fits(*t, dense)) return nullptr;
  kept = nullptr;
  t->storage_->renew(allocator);
  t->read_only_ = false;
  t->reset_count();
  return t;
}

// Separate from `keep`, so that that looks up its thread's slots only once.
bool Spares::register_cleanup(const Slots& slots) {
  if (slots.closed) return false;
  static thread_local AtExit at_exit;
  return true;
}

bool Spares::keep(Tensor& t) {
  if (!t.storage_->small() || !t.storage_->unique() || t.sharding_) return false;
  Slots& slots = of_this_thread();
  if (!slots.open && !register_cleanup(slots)) [[unlikely]]
    return false;
  Tensor*& kept = slots.kept[slot(t.guard_, t.storage_->bytes())];
  if (Tensor* before = std::exchange(kept, &t)) before->free();  // what was released last is wanted next
  return true;
}

bool Spares::reborrow(Tensor& t, void* data) {
  if (!t.concrete() || !t.unique() || t.read_only_ || t.offset_ || t.storage_->owned() || t.storage_->accelerator())
    return false;
  t.storage_ = Storage::borrow(data, t.storage_->bytes(), nullptr, nullptr);
  t.data_ = t.storage_->data();
  return true;
}

}  // namespace thunder
