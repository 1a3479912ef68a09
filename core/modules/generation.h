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

// Linked weakly to the parents' generations, by the names of children: a parent that was destroyed is skipped.
class Generation {
 public:
  using Pointer = std::shared_ptr<Generation>;

  // The generations that count a change of these modules: their own and those above, each once.
  static std::vector<Pointer> collect_with_ancestors(std::span<const Pointer> changed);
  // Counts a change of each of these, from collect_with_ancestors() before the change: nothing fails after it.
  static void bump(std::span<const Pointer> generations) noexcept;

  // Makes the whole change or, when this throws, nothing of it.
  void attach(const Pointer& parent, std::string_view name);
  void detach(const Pointer& parent, std::string_view name) noexcept;
  // The path from the topmost module above, "blocks.0.fc1"; "" for a root. Of several paths the first one.
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
