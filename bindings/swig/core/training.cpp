// What a call can do with what trains: optimisers, schedules, gradients and batches.
#include <utility>

#include "action.h"
#include "call.h"
#include "names.h"

namespace thunder_swig {

namespace {
Items leaf(int kind) { return {{kind, "", "", 0, 0, {}}}; }

Items number(double value) {
  Items made = leaf(ITEM_REAL);
  made[0].real = value;
  return made;
}

// A borrowed module as one that a language holds.
Module* held(thunder_module* borrowed) { return new Module(thunder_module_retain(borrowed)); }
}  // namespace

Optimizer* Call::make_optimizer(const char* kind) {
  Optimizer* made = nullptr;
  perform([&] {
    const size_t end = behind(items_, 0);
    const Values parameters(context());
    fill_values(Items(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(end)), parameters);
    const Options options(context(), Items(items_.begin() + static_cast<std::ptrdiff_t>(end), items_.end()));
    thunder_optimizer* handle = nullptr;
    check(thunder_optimizer_create(context(), kind, parameters, options.handle, &handle));
    made = new Optimizer(handle);
    return Items{};
  });
  return made;
}

bool Call::step(const Optimizer& optimizer) {
  return perform([&] {
    thunder_scope* scope = scope_now();
    const Values gradients(context());
    fill_values(items_, gradients);
    thunder_optimizer_step(scope, optimizer.handle, gradients);
    scope_check(scope);
    scope_done(scope);
    return Items{};
  });
}

namespace {
// A compiled function with what it is called with, as the closure of a step.
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

bool Call::step_closure(const Optimizer& optimizer, const Compiled& compiled) {
  return perform([&] {
    const Values in(context());
    fill_values(items_, in);
    thunder_scope* scope = scope_now();
    Closure closure{compiled, in, here() != nullptr};
    thunder_tensor* loss = nullptr;
    without_lock([&] { loss = thunder_optimizer_step_closure(scope, optimizer.handle, run_closure, &closure); });
    scope_check(scope);
    Items made{{ITEM_TENSOR, "", "", 0, 0, {Tensor(loss)}}};
    scope_done(scope);
    return made;
  });
}

Module* Call::optimizer_state(const Optimizer& optimizer) {
  Module* made = nullptr;
  perform([&] {
    made = held(thunder_optimizer_state(optimizer.handle));
    return Items{};
  });
  return made;
}

bool Call::get_number(const Optimizer& optimizer, const char* name) {
  return perform([&] {
    double value = 0;
    check(thunder_optimizer_get_f64(optimizer.handle, name, &value));
    return number(value);
  });
}

bool Call::set_number(const Optimizer& optimizer, const char* name, double value) {
  return perform([&] {
    check(thunder_optimizer_set_f64(optimizer.handle, name, value));
    return Items{};
  });
}

bool Call::clip_grad_norm(double max_norm) {
  return perform([&] {
    thunder_scope* scope = scope_now();
    const Values gradients(context());
    fill_values(items_, gradients);
    thunder_tensor* norm = nullptr;
    const thunder_values* clipped = thunder_clip_grad_norm(scope, gradients, max_norm, &norm);
    scope_check(scope);
    Items made = items_of(clipped, thunder_scope_is_tracing(scope));
    made.push_back({ITEM_TENSOR, "", "", 0, 0, {Tensor(norm)}});
    scope_done(scope);
    return made;
  });
}

bool Call::clip_grad_value(double bound) {
  return perform([&] {
    thunder_scope* scope = scope_now();
    const Values gradients(context());
    fill_values(items_, gradients);
    const thunder_values* clipped = thunder_clip_grad_value(scope, gradients, bound);
    scope_check(scope);
    Items made = items_of(clipped, thunder_scope_is_tracing(scope));
    scope_done(scope);
    return made;
  });
}

Schedule* Call::make_schedule(const char* kind, const Optimizer& optimizer) {
  Schedule* made = nullptr;
  perform([&] {
    const Options options(context(), items_);
    thunder_schedule* handle = nullptr;
    check(thunder_schedule_create(optimizer.handle, kind, options.handle, &handle));
    made = new Schedule(handle);
    return Items{};
  });
  return made;
}

bool Call::schedule_step(const Schedule& schedule) {
  return perform([&] {
    if (items_.empty()) {
      check(thunder_schedule_step(schedule.handle));
      return Items{};
    }
    const Item& metric = items_[0];
    if (metric.kind != ITEM_REAL && metric.kind != ITEM_INTEGER) refuse(THUNDER_INVALID_ARGUMENT, "step: the metric is a number");
    check(thunder_schedule_step_metric(schedule.handle,
                                       metric.kind == ITEM_REAL ? metric.real : static_cast<double>(metric.integer)));
    return Items{};
  });
}

bool Call::last_lr(const Schedule& schedule) {
  return perform([&] {
    const Values rates(context());
    check(thunder_schedule_last_lr(schedule.handle, rates));
    Items made = leaf(ITEM_LIST);
    for (Item& rate : items_of(rates, false)) made.push_back(std::move(rate));
    made.push_back(leaf(ITEM_CLOSE)[0]);
    return made;
  });
}

Module* Call::schedule_state(const Schedule& schedule) {
  Module* made = nullptr;
  perform([&] {
    made = held(thunder_schedule_state(schedule.handle));
    return Items{};
  });
  return made;
}

Batches* Call::make_batches(long long size, bool shuffle, bool drop_last, long long seed, const std::string& device) {
  Batches* made = nullptr;
  perform([&] {
    const thunder_device on = device_named(device);
    if (!on) refuse(THUNDER_INVALID_ARGUMENT, "batches: device must be \"cpu\" or \"cuda:N\", got \"" + device + "\"");
    std::vector<thunder_tensor*> tensors;
    for (const Item& item : items_) {
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

bool Call::next_batch(const Batches& batches) {
  return perform([&] {
    const Values batch(context());
    check(thunder_batches_next(batches.handle, batch));
    Items made = leaf(ITEM_LIST);
    for (Item& tensor : items_of(batch, false)) made.push_back(std::move(tensor));
    made.push_back(leaf(ITEM_CLOSE)[0]);
    return made;
  });
}

bool Call::batches_state(const Batches& batches) {
  return perform([&] { return tensor_made([&](thunder_tensor** out) { return thunder_batches_state(batches.handle, out); }); });
}

bool Call::set_batches_state(const Batches& batches, const Tensor& state) {
  return perform([&] {
    check(thunder_batches_set_state(batches.handle, state.handle));
    return Items{};
  });
}

}  // namespace thunder_swig
