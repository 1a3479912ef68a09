// The only place in the library that catches: what core throws leaves as an owned status, as rules 1 and 4 of
// thunder.h ask. Every exported function that can fail has its body inside one of these.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>

#include "base/text.h"
#include "capi/live.h"

namespace thunder::capi {

// A mistake that an exported function finds itself. The boundary puts the function's name in front of the message.
struct Refusal {
  Code code;
  std::string message;
};
template <class... T>
void check(bool holds, const T&... parts) {
  if (!holds) [[unlikely]]
    throw Refusal{Code::invalid_argument, cat(parts...)};
}
inline void need(const void* argument, const char* name) {
  check(argument != nullptr, name, " is NULL");
}
// Of a handle: that it lives and is of its parameter's kind, too.
template <IsHandle H>
void need(H* handle, const char* name) {
  if (is_live(handle)) [[likely]]
    return;
  check(handle != nullptr, name, " is NULL");
  throw Refusal{Code::invalid_argument, describe_misused(name, handle, HandleOf<std::remove_const_t<H>>::kind)};
}
// Of a handle that may be NULL.
template <IsHandle H>
void need_if_given(H* handle, const char* name) {
  if (handle) need(handle, name);
}

// Copies as much of the structure as the caller's header declared, which its first member, the size, says; the rest is
// zero, and all of it if `given` is null.
template <class T>
T copy_descriptor(const T* given) {
  T copy{};
  if (given) std::memcpy(&copy, given, std::min(given->size, sizeof copy));
  return copy;
}

// Rule: `destroy(user)` runs exactly once, also when the call that took it fails before anything else owns it.
class UserGuard {
 public:
  UserGuard(void (*destroy)(void*), void* user) : destroy_(destroy), user_(user) {}
  ~UserGuard() {
    if (destroy_) destroy_(user_);
  }
  UserGuard(const UserGuard&) = delete;
  void dismiss() { destroy_ = nullptr; }

 private:
  void (*destroy_)(void*);
  void* user_;
};

// Owned status of the exception being handled. Requires: called inside a catch.
Status* status_of_current(const char* function) noexcept;

// Runs `body`; null or an owned status.
template <class F>
Status* guarded(const char* function, F&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return status_of_current(function);
  }
}

// Runs `body` for its value; `otherwise` when it throws. For functions whose errors have no place to go.
template <class T, class F>
T value_or(T otherwise, F&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

// Checks values that a call reads as a whole: they must have no error and no open group.
inline const Values& require_usable(const thunder_values* given, const char* name) {
  need(given, name);
  const Values& values = *core(given);
  if (values.status()) throw Error(values.status());
  check(values.complete(), "a group of ", name, " is still open; close it first");
  return values;
}

// Runs `body`; an error sticks to what it works on, values or options. After an earlier error nothing happens.
template <class T, class F>
void run_unless_failed(T* target, const char* function, F&& body) noexcept {
  if (!target || target->status()) return;
  if (Status* failed = guarded(function, body)) target->fail(Ref<Status>::adopt(failed));
}

// Failed tensors that nobody owns and that are always there, for where there is no scope to own one.
enum class Lasting { no_scope, over, no_handle, other_thread, no_context, no_values, no_memory };
Tensor* lasting_failure(Lasting which) noexcept;
// Allocates these tensors early, so that none has to be allocated when memory is short. Throws.
void make_lasting_failures();

// Whether a scope given by a caller may be used: its handle was good, and it belongs to this thread.
inline bool is_ours(const Scope* scope) {
  return scope && scope->on_owner_thread();
}
// Rule 4 of thunder.h for functions that take a scope: false if the call must do nothing.
inline bool is_usable(const Scope* scope) {
  return is_ours(scope) && !scope->status();
}

// The failed tensor to return for a scope that is not usable, or after an error.
Tensor* failed_tensor_in(thunder_scope* scope) noexcept;

// Frees a scope of the caller's.
void free_scope(Scope* scope) noexcept;

// A call that is at work in a scope: a callback of the caller's that releases the scope meanwhile does not take it from
// under the call, which frees it when it is done.
class InUse {
 public:
  explicit InUse(Scope* scope) : scope_(scope) { scope_->uses++; }
  ~InUse() {
    if (--scope_->uses == 0 && scope_->released) [[unlikely]]
      free_scope(scope_);
  }
  InUse(const InUse&) = delete;
  // Whether the scope was released and this call is the last one in it: then the scope is freed when the call ends.
  bool ends_scope() const { return scope_->uses == 1 && scope_->released; }

 private:
  Scope* scope_;
};

// Runs `body`; its error sticks to the scope. Requires: the scope is usable, and in use.
template <class T, class F>
T value_of(Scope* scope, const char* function, T otherwise, F&& body) noexcept {
  try {
    return body();
  } catch (...) {
    scope->fail(Ref<Status>::adopt(status_of_current(function)));
    return otherwise;
  }
}

// Runs `body` for something that the scope owns or a plain value; `otherwise` after an error, which sticks.
template <class T, class F>
T value_in(Scope* scope, const char* function, T otherwise, F&& body) noexcept {
  if (!is_usable(scope)) return otherwise;
  const InUse use(scope);
  return value_of<T>(scope, function, otherwise, body);
}

// Never null.
template <class F>
Tensor* make_tensor_in(thunder_scope* given, const char* function, F&& body) noexcept {
  Scope* const scope = core(given);
  if (!is_usable(scope)) return failed_tensor_in(given);
  const InUse use(scope);
  Tensor* made = value_of<Tensor*>(scope, function, nullptr, body);
  if (use.ends_scope()) return lasting_failure(Lasting::no_scope);
  return made ? made : failed_tensor_in(given);
}

// Runs `body` and returns its values; after an error empty values, without a scope of this thread null.
template <class F>
Values* make_values_in(Scope* scope, const char* function, F&& body) noexcept {
  if (!is_ours(scope)) return nullptr;
  const InUse use(scope);
  Values* made = scope->status() ? nullptr : value_of<Values*>(scope, function, nullptr, body);
  if (use.ends_scope()) return nullptr;
  return made ? made : value_or<Values*>(nullptr, [&] { return scope->own(make<Values>()); });
}

// Holds values while a call reads them, also when a callback releases them. No reference is taken of lent values: their
// owner keeps them, and notices when they are released.
inline Ref<const Values> hold_values(const Values& values) {
  return values.lent ? Ref<const Values>() : Ref<const Values>(&values);
}

}  // namespace thunder::capi
