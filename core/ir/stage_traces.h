// The traces of one compile, first to last. Those that nobody may ever look at can be deferred until somebody does.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ir/trace.h"

namespace thunder {

// Traces that are made when they are first looked at. Any thread.
class DeferredTraces {
 public:
  explicit DeferredTraces(std::function<std::vector<Trace>()> make) : make_(std::move(make)) {}
  // Throws what making them throws.
  const std::vector<Trace>& get() const;

 private:
  const std::function<std::vector<Trace>()> make_;
  mutable std::once_flag once_;
  mutable std::vector<Trace> made_;
};

class StageTraces {
 public:
  StageTraces() = default;
  // `before`: those that stand before the others; null: none do.
  explicit StageTraces(std::vector<Trace> made, std::shared_ptr<const DeferredTraces> before = nullptr)
      : before_(std::move(before)), made_(std::move(made)) {}

  const Trace& front() const { return before_ ? before_->get().front() : made_.front(); }
  const Trace& back() const { return made_.empty() ? before_->get().back() : made_.back(); }
  bool empty() const { return !before_ && made_.empty(); }
  std::vector<Trace> all() const;
  // Those that were not deferred.
  const std::vector<Trace>& made() const { return made_; }
  std::vector<Trace>& made() { return made_; }
  const std::shared_ptr<const DeferredTraces>& before() const { return before_; }

 private:
  std::shared_ptr<const DeferredTraces> before_;
  std::vector<Trace> made_;
};

}  // namespace thunder
