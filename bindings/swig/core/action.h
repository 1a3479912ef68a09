// Runs the action of a call: an exception becomes the call's failure, its return value the call's results.
#pragma once
#include <exception>

#include "call.h"
#include "schema.h"
#include "scope.h"

namespace thunder_swig {

template <class Action>
bool Call::perform(Action action) {
  if (status_) return false;  // keep the first failure
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

// ---- items of what an action gave ----

inline Items leaf(int kind) { return {{kind, "", "", 0, 0, {}}}; }
inline Items text_item(const std::string& text) { return {{ITEM_TEXT, "", text, 0, 0, {}}}; }
template <class Integer>
Items integer_item(Integer value) { return {{ITEM_INTEGER, "", "", static_cast<long long>(value), 0, {}}}; }
inline Items real_item(double value) { return {{ITEM_REAL, "", "", 0, value, {}}}; }
inline Items tensor_item(thunder_tensor* tensor) { return {{ITEM_TENSOR, "", "", 0, 0, {Tensor(tensor)}}}; }
inline Items owned_tensor(thunder_tensor* owned) {
  Items made = tensor_item(owned);
  thunder_tensor_release(owned);  // the item holds a reference of its own
  return made;
}
inline Items joined(Items first, const Items& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
inline Items listed(const Items& items) { return joined(joined(leaf(ITEM_LIST), items), leaf(ITEM_CLOSE)); }

template <class Make>
Items make_tensor_item(Make make) {
  thunder_tensor* handle = nullptr;
  check(make(&handle));
  return owned_tensor(handle);
}

// ---- what an action was given ----

// The positional values, and the named ones.
Items positional(const Items& items);
Items named(const Items& items);
size_t count_from(long long value, const char* what);  // throws for a negative one

// Settings by name, from items that all have one.
struct Options {
  Options(thunder_context* context, const Items& items);
  Options(const Options&) = delete;
  ~Options() { thunder_options_release(handle); }
  thunder_options* handle = nullptr;
};

}  // namespace thunder_swig
