// Actions for modules and optimizers that take more than one function of the library.
#include <utility>

#include "action.h"
#include "call.h"
#include "names.h"

namespace thunder_swig {

namespace {
// A compiled function and its arguments, as the closure that an optimizer's step calls.
struct Closure {
  const Compiled& compiled;
  const thunder_values* in;
  bool recorded;
};

thunder_status* run_closure(thunder_scope* scope, const thunder_values*, thunder_values* out, void* user) {
  const Closure& closure = *static_cast<Closure*>(user);
  if (!closure.recorded) return thunder_compiled_call(closure.compiled.handle, nullptr, closure.in, out);
  const thunder_values* made = thunder_function_apply(scope, closure.compiled.function, closure.in);
  if (thunder_status* failed = thunder_scope_status(scope)) return failed;
  fill_values(items_of(made, true), out);
  return nullptr;
}
}  // namespace

bool Call::optimizer_step_closure(const Optimizer& self, const Compiled& compiled) {
  return perform([&] {
    const Values in(context());
    fill_values(items_, in);
    thunder_scope* scope = scope_now();
    Closure closure{compiled, in, current_scope() != nullptr};
    thunder_tensor* loss = nullptr;
    without_lock([&] { loss = thunder_optimizer_step_closure(scope, self.handle, run_closure, &closure); });
    scope_check(scope);
    Items made = tensor_item(loss);
    scope_done(scope);
    return made;
  });
}

bool Call::schedule_step(const Schedule& self) {
  return perform([&] {
    if (items_.empty()) {
      check(thunder_schedule_step(self.handle));
      return Items{};
    }
    const Item& metric = items_[0];
    if (metric.kind != ITEM_REAL && metric.kind != ITEM_INTEGER) refuse(THUNDER_INVALID_ARGUMENT, "step: the metric is a number");
    check(thunder_schedule_step_metric(self.handle, metric.kind == ITEM_REAL ? metric.real : static_cast<double>(metric.integer)));
    return Items{};
  });
}

Batches* Call::batches_new(long long size, bool shuffle, bool drop_last, long long seed, const char* device) {
  Batches* made = nullptr;
  perform([&] {
    const thunder_device on = device_named(device);
    if (!on) refuse(THUNDER_INVALID_ARGUMENT, "batches: device must be \"cpu\" or \"cuda:N\", got \"" + std::string(device) + "\"");
    std::vector<thunder_tensor*> tensors;
    for (const Item& item : items_) {
      if (item.kind == ITEM_LIST || item.kind == ITEM_CLOSE) continue;
      if (item.kind != ITEM_TENSOR) refuse(THUNDER_INVALID_ARGUMENT, "batches: tensors were expected");
      tensors.push_back(item.tensor[0].handle);
    }
    thunder_batches* handle = nullptr;
    check(thunder_batches_create(context(), tensors.data(), tensors.size(), size, shuffle, drop_last,
                                 static_cast<uint64_t>(seed), &handle));
    made = new Batches(handle);
    if (thunder_status* failed = on == THUNDER_CPU ? nullptr : thunder_batches_set_device(handle, on)) {
      delete std::exchange(made, nullptr);
      check(failed);
    }
    return Items{};
  });
  return made;
}

}  // namespace thunder_swig
