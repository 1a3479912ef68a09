// Small tensors that were released, as they are, for the next one of their type: a call's result then costs neither
// malloc nor the writing of what describes it. Each thread keeps a few, and frees them when it ends; no context knows
// of them.
#pragma once

#include "tensor/tensor.h"

namespace thunder {

class Spares {
 public:
  // A kept dense tensor of this type and allocator, with unknown contents and one reference, or null.
  static Tensor* take(const Allocator&, const DenseType&);
  // Returns false if the tensor is not kept. Requires: it has no references.
  static bool keep(Tensor&);
  // A borrowed tensor that is held once, for other memory of the same type: a call's argument, for the next one.
  // False: it is as it was.
  static bool reborrow(Tensor&, void* data);

 private:
  static constexpr size_t kSlots = 8;
  struct Slots;
  struct AtExit;
  static size_t slot(uint64_t guard, size_t bytes) {
    return (guard >> 8 ^ guard >> 24 ^ bytes >> 2 ^ bytes >> 6) % kSlots;
  }
  static Slots& of_this_thread();
  [[gnu::noinline]] static bool register_cleanup(const Slots&);
  static bool fits(const Tensor&, const DenseType&);
};

}  // namespace thunder
