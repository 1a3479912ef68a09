#include "scope.h"

#include <mutex>
#include <set>

#include "items.h"

namespace thunder_swig {

thunder_context* context() {
  static std::mutex mutex;
  static thunder_context* made = nullptr;
  const std::lock_guard<std::mutex> guard(mutex);
  if (!made) check(thunder_context_create(nullptr, &made));
  return made;
}

thunder_scope*& current_scope() {
  static thread_local thunder_scope* scope = nullptr;
  return scope;
}

namespace {
struct Eager {
  thunder_scope* scope = nullptr;
  ~Eager() { thunder_scope_release(scope); }
};
thread_local Eager eager;
}  // namespace

thunder_scope* scope_now() {
  if (current_scope()) return current_scope();
  if (!eager.scope) check(thunder_scope_create(context(), 0, &eager.scope));
  return eager.scope;
}

void scope_check(thunder_scope* scope) {
  thunder_status* status = thunder_scope_status(scope);
  if (!status) return;
  scope_done(scope);
  check(status);
}

void scope_done(thunder_scope* scope) {
  if (scope == eager.scope && !current_scope()) thunder_scope_reset(scope);
}

const char* intern_place(const char* where) {
  if (!where || !*where) return nullptr;
  static std::mutex mutex;
  static auto* const places = new std::set<std::string>;  // traces point into it
  const std::lock_guard<std::mutex> guard(mutex);
  return places->insert(where).first->c_str();
}

}  // namespace thunder_swig
