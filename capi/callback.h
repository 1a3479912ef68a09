// Calls of the user's code: what it throws and what it returns become one status.
#pragma once

#include "base/thrown.h"
#include "capi/boundary.h"
#include "capi/handle.h"

namespace thunder::capi {

// What a callback gave; null: it succeeded. `who`: "the decomposition of f". A status that says OK is none: it is refused.
inline Ref<Status> outcome_of(std::string_view who, thunder_status* returned) {
  auto failed = Ref<Status>::adopt(core(returned));
  if (failed && failed->code() == Code::ok)
    return make<Status>(Code::callback, cat(who, " returned a status whose code is OK; NULL says that all went well"));
  return failed;
}

// Runs `callback`, which gives a thunder_status*.
template <class F>
Ref<Status> called(std::string_view who, F&& callback) {
  thunder_status* returned = nullptr;
  try {
    returned = callback();
  } catch (...) {
    return Ref<Status>::adopt(status_of_thrown(who));
  }
  return outcome_of(who, returned);
}

// The same of one that gives an answer; throws what it threw as an Error.
template <class F>
auto answered(std::string_view who, F&& callback) {
  try {
    return callback();
  } catch (...) {
    throw Error(Ref<Status>::adopt(status_of_thrown(who)));
  }
}

}  // namespace thunder::capi
