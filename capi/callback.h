// Calls of the user's code: what it throws and what it returns become one status.
#pragma once

#include "base/thrown.h"
#include "capi/boundary.h"
#include "capi/handle.h"

namespace thunder::capi {

// Checks the status that a callback returned; null means success. `who`: "the decomposition of f". A status whose code
// is OK is refused.
inline Ref<Status> check_returned_status(std::string_view who, thunder_status* returned) {
  auto failed = Ref<Status>::adopt(core(returned));
  if (returned && !failed)
    return make<Status>(Code::callback, cat(who, " returned a status that was released before, or no status"));
  if (failed && failed->code() == Code::ok)
    return make<Status>(Code::callback, cat(who, " returned a status whose code is OK; NULL says that all went well"));
  return failed;
}

// Runs `callback`, which gives a thunder_status*.
template <class F>
Ref<Status> call_with_status(std::string_view who, F&& callback) {
  thunder_status* returned = nullptr;
  try {
    returned = callback();
  } catch (...) {
    return Ref<Status>::adopt(status_of_thrown(who));
  }
  return check_returned_status(who, returned);
}

// Calls a callback that returns an answer; what it throws is thrown as an Error.
template <class F>
auto call_or_throw(std::string_view who, F&& callback) {
  try {
    return callback();
  } catch (...) {
    throw Error(Ref<Status>::adopt(status_of_thrown(who)));
  }
}

// Keeps a descriptor of the caller's; from here on the destructor calls the caller's `destroy`.
template <class Kept, class Desc>
std::shared_ptr<Kept> keep_descriptor(const Desc* desc) {
  need(desc, "desc");
  const Desc copy = copy_descriptor(desc);
  UserGuard guard(copy.destroy, copy.user);
  const auto made = std::make_shared<Kept>();
  made->desc = copy;
  guard.dismiss();
  return made;
}

// A list of texts in a descriptor. `what`: "op"; `whose`: "executor 'mine'".
inline std::vector<std::string> texts_of(const char* const* texts, size_t count, const char* what,
                                         const std::string& whose) {
  check(count == 0 || texts, what, "s of ", whose, " is NULL");
  std::vector<std::string> out;
  for (size_t i = 0; i < count; i++) {
    check(texts[i] != nullptr, what, " ", i, " of ", whose, " is NULL");
    out.emplace_back(texts[i]);
  }
  return out;
}

}  // namespace thunder::capi
