// All operations of a context, by name. Filled at run time: built-in rows first, then custom ones. Ops are never taken
// away, so that traces may point to them.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ops/op.h"

namespace thunder {

// All members are thread-safe: a lookup sees every op that was added before it.
class Registry {
 public:
  Registry();  // with every built-in op

  // Throws when the name is taken or the schema is malformed.
  const OpDef& add(const OpRow& row) { return add(std::make_unique<OpDef>(row)); }
  const OpDef& add(std::unique_ptr<OpDef> op);
  const OpDef* find(std::string_view name) const;
  // Throws not_found with the nearest name.
  const OpDef& get(std::string_view name) const;
  const OpDef& get(Prim prim) const { return *prims_[static_cast<size_t>(prim)]; }
  // All ops in the order in which they were added.
  std::vector<const OpDef*> all() const;
  // What `make` gives of the built-in ops, such as parsed rules: made at the first call, and kept. Throws as it does.
  template <class T>
  const T& once(T (*make)(const Registry&)) const {
    const std::lock_guard lock(made_mutex_);
    std::shared_ptr<const void>& kept = made_[reinterpret_cast<const void*>(make)];
    if (!kept) kept = std::make_shared<const T>(make(*this));
    return *static_cast<const T*>(kept.get());
  }

 private:
  // Lookup takes no lock: hash buckets are lists that only grow at the front.
  struct Entry {
    std::unique_ptr<OpDef> op;
    size_t hash;
    std::string_view name;  // the op's; both are here so that only the op that is meant is read
    const Entry* next;
  };
  std::atomic<const Entry*>& bucket(size_t hash) const { return buckets_[hash % buckets_.size()]; }

  mutable std::array<std::atomic<const Entry*>, 4096> buckets_{};
  mutable std::mutex mutex_;  // of adding
  std::vector<std::unique_ptr<Entry>> entries_;
  std::array<const OpDef*, 255> prims_{};  // by Prim
  mutable std::mutex made_mutex_;
  mutable std::map<const void*, std::shared_ptr<const void>> made_;  // by maker
};

}  // namespace thunder
