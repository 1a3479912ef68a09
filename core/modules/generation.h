// Counts the changes of one module and of everything below it, so that a call checks one number a root.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thunder {

// Linked upwards, weakly, by the names that children have: a parent that is gone counts nothing.
class Generation {
 public:
  using Pointer = std::shared_ptr<Generation>;

  // Those that count a change of these: each, and all that are above any of them, once, however many ways lead there.
  static std::vector<Pointer> counting(std::span<const Pointer> changed);
  // One more change of each of what `counting` gave. It is asked before the change, so that nothing fails after it.
  static void bump(std::span<const Pointer> counting) noexcept;

  // All of it or, when this throws, nothing.
  void attach(const Pointer& parent, std::string_view name);
  void detach(const Pointer& parent, std::string_view name) noexcept;
  // From the topmost module above, "blocks.0.fc1"; "" for a root. What has several places is at the first.
  std::string path() const;
  // The longest way up, in steps; 0 for a root.
  size_t levels_above() const;
  const std::atomic<uint64_t>& counter() const { return value_; }

 private:
  void collect_parents(std::vector<Pointer>& into) const;

  std::atomic<uint64_t> value_{0};
  mutable std::mutex mutex_;  // handles are released on any thread
  struct Parent {
    std::weak_ptr<Generation> generation;
    std::string name;
  };
  std::vector<Parent> parents_;
};

}  // namespace thunder
