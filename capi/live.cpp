#include "capi/live.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace thunder::capi {
namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<const Scope*, size_t> uses;
};

std::atomic<uint64_t> ends{0};  // how often a scope has ended

// Never destroyed: scopes may end while the process does.
Registry& registry() {
  static Registry& made = *new Registry;
  return made;
}

// The scope that this thread last found to be live; it is live until any scope ends.
struct Known {
  const Scope* scope = nullptr;
  uint64_t ended = 0;
};
constinit thread_local Known known;

}  // namespace

Live::Live(const Scope& scope) : scope_(scope) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.uses[&scope]++;
}

Live::~Live() {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  const auto found = all.uses.find(&scope_);
  if (--found->second) return;
  all.uses.erase(found);
  ends.fetch_add(1, std::memory_order_release);
}

bool is_live(const Scope* scope) noexcept {
  const uint64_t ended = ends.load(std::memory_order_acquire);
  Known& last = known;
  if (scope == last.scope && ended == last.ended) [[likely]]
    return scope != nullptr;
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  if (!all.uses.contains(scope)) return false;
  last = {scope, ended};
  return true;
}

}  // namespace thunder::capi
