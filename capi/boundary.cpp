#include "capi/boundary.h"

#include <array>

namespace thunder::capi {
namespace {

Status* make_status(Code code, std::string_view prefix, std::string_view message) noexcept {
  try {
    return make<Status>(code, cat(prefix, ": ", message)).detach();
  } catch (...) {
    return out_of_memory_status();
  }
}

}  // namespace

Status* status_of_current(const char* function) noexcept {
  try {
    throw;
  } catch (const Error& e) {
    return Ref<Status>(e.status()).detach();
  } catch (const Refusal& e) {
    return make_status(e.code, function, e.message);
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  } catch (const std::exception& e) {
    return make_status(Code::internal, cat("internal error in ", function, ", please report it"), e.what());
  } catch (...) {
    return make_status(Code::internal, function, "internal error, please report it: an unknown exception");
  }
}

namespace {

constexpr std::array kReasons{
    "the scope is NULL",
    "the scope is over: what a function is given to trace or run in ends with it",
    "what was given for the scope is no scope; thunder_handle_status() says what it is",
    "a scope belongs to the thread that made it; it was used on another thread",
    "the context is NULL",
    "the values are NULL",
    "out of memory",
};

struct LastingFailures {
  std::array<Ref<Tensor>, kReasons.size()> tensors;
  LastingFailures() {
    for (size_t i = 0; i < tensors.size(); i++) {
      const bool no_memory = i == static_cast<size_t>(Lasting::no_memory);
      tensors[i] = Tensor::failed(make<Status>(no_memory ? Code::out_of_memory : Code::invalid_argument, kReasons[i]));
      handle_or_throw(tensors[i].get());  // its place is taken now, when there is memory
    }
  }
};

const LastingFailures& lasting_failures() {
  // Never destroyed: a handle may be looked at while the process ends.
  static const LastingFailures* const failures = new LastingFailures;
  return *failures;
}

}  // namespace

void make_lasting_failures() {
  lasting_failures();
}

Tensor* lasting_failure(Lasting which) noexcept {
  return lasting_failures().tensors[static_cast<size_t>(which)].get();
}

Tensor* failed_tensor_in(thunder_scope* given) noexcept {
  if (!given) return lasting_failure(Lasting::no_scope);
  Scope* const scope = core(given);
  if (!scope) return lasting_failure(kind_of_handle(given) == HandleKind::scope ? Lasting::over : Lasting::no_handle);
  if (!scope->on_owner_thread()) return lasting_failure(Lasting::other_thread);
  return value_or(lasting_failure(Lasting::no_memory), [&] { return scope->failed_tensor(); });
}

}  // namespace thunder::capi
