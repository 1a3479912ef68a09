// Ops, functions and callbacks that are at work inside one another on a thread. A recursion without an end becomes an
// error that shows its cycle, before it reaches the end of the thread's stack.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace thunder {

// The greatest depth of all calls, and of ops alone: an op's body is a tree that every pass walks recursively.
constexpr size_t kDeepestNesting = 1000, kDeepestOps = 100;

// Counts one more level of nesting on this thread while it lives. Throws when the nesting would be too deep. Requires:
// `what` lives as long.
class Nesting {
 public:
  enum class Of { call, op };
  explicit Nesting(std::string_view what, Of of = Of::call);
  ~Nesting();
  Nesting(const Nesting&) = delete;

 private:
  Nesting(std::string_view what, Of of, void* thread);
  [[noreturn]] void refuse(size_t stack_left) const;

  const std::string_view what_;
  void* const thread_;  // what is kept of the thread; to be found once
  const Nesting* const outer_;
  const size_t depth_, ops_;
};

// The bytes between here and the end of this thread's stack; SIZE_MAX where that is not known, as on a fiber's.
size_t stack_left() noexcept;

// Runs `body` here, or where fewer than `bytes` of the stack are left on a thread that has them, and waits for it. What
// it throws comes back.
void with_stack(size_t bytes, const std::function<void()>& body);

}  // namespace thunder
