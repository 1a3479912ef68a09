// How an action of a call runs: what it throws becomes the call's failure, what it returns its results.
#pragma once
#include <exception>

#include "call.h"
#include "schema.h"
#include "scope.h"

namespace thunder_swig {

template <class Action>
bool Call::perform(Action action) {
  if (status_) return false;  // the first failure stays
  try {
    Items made = action();
    items_ = std::move(made);
    at_ = 0;
    return true;
  } catch (const Refusal& refusal) {
    set_failure(refusal.status);
  } catch (const std::exception& thrown) {
    const std::string text = thrown.what();
    set_failure(thunder_status_create(THUNDER_INTERNAL, text.data(), text.size()));
  }
  return false;
}

// The items of one tensor that `make(thunder_tensor **out)` creates.
template <class Make>
Items tensor_made(Make make) {
  thunder_tensor* handle = nullptr;
  check(make(&handle));
  Items made{{ITEM_TENSOR, "", "", 0, 0, {Tensor(handle)}}};
  thunder_tensor_release(handle);  // the item has its own
  return made;
}

// Settings by name, from items that all have one.
struct Options {
  Options(thunder_context* context, const Items& items);
  Options(const Options&) = delete;
  ~Options() { thunder_options_release(handle); }
  thunder_options* handle = nullptr;
};

}  // namespace thunder_swig
