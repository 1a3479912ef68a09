// Counts the changes of one module and of everything below it, so that a call checks one number a root.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace thunder {

// Linked upwards, weakly: a parent that is gone counts nothing.
class Generation {
 public:
  using Pointer = std::shared_ptr<Generation>;

  // Those that count a change of these: each, and all that are above any of them, once, however many ways lead there.
  static std::vector<Pointer> counting(std::span<const Pointer> changed);
  // One more change of each of what `counting` gave. It is asked before the change, so that nothing fails after it.
  static void bump(std::span<const Pointer> counting) noexcept;

  // All of it or, when this throws, nothing.
  void attach(const Pointer& parent);
  void detach(const Pointer& parent) noexcept;
  // The longest way up, in steps; 0 for a root.
  size_t levels_above() const;
  const std::atomic<uint64_t>& counter() const { return value_; }

 private:
  void collect_parents(std::vector<Pointer>& into) const;

  std::atomic<uint64_t> value_{0};
  mutable std::mutex mutex_;  // handles are released on any thread
  std::vector<std::weak_ptr<Generation>> parents_;
};

}  // namespace thunder
