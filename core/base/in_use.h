// The objects that a call works on while it runs the caller's code, which may release the last handle of any of them.
#pragma once

#include <cstddef>
#include <span>

namespace thunder {

// While it lives, the thread that made it does not destroy these objects: whoever releases the last reference of one
// leaves it to this instead, whose owner releases it at the end. So a call whose objects nobody releases changes no
// count, each change of which would be a locked instruction. `destroy() const` of a class whose objects may be listed
// asks keep_alive_if_in_use() first. One listed twice is taken once.
class InUse {
 public:
  // `objects` must stay where they are, and are put into another order. Those of a thread end in the reverse order.
  InUse(const void** objects, size_t count) noexcept : outer_(innermost_), objects_(objects), count_(count) {
    innermost_ = this;
  }
  InUse(const InUse&) = delete;
  ~InUse() { innermost_ = outer_; }

  // The objects whose only reference is the one in this list.
  std::span<const void* const> kept_alive() const { return {objects_, taken_}; }
  // Whether an object of this thread that has no other reference is in use, and therefore must not be destroyed.
  static bool keep_alive_if_in_use(const void* object) noexcept { return innermost_ && innermost_->keep_alive(object); }

 private:
  bool keep_alive(const void* object) noexcept;

  // Eight bytes of the space that a loader keeps for such variables, found without a call.
  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local InUse* innermost_ = nullptr;
  InUse* outer_;
  const void** objects_;  // those that were taken first
  size_t count_, taken_ = 0;
};

}  // namespace thunder
