// A thread's memory for packed operands and for sums.
#pragma once

#include <memory>
#include <new>

namespace thunder {

// The scratch memory of this thread, allocated for its first product and kept. Null: out of memory.
template <class Scratch>
Scratch* thread_scratch() {
  thread_local std::unique_ptr<Scratch> scratch;
  if (!scratch) scratch.reset(new (std::nothrow) Scratch);
  return scratch.get();
}

}  // namespace thunder
