// thunder_optimizer_*, thunder_schedule_*, thunder_clip_*: how parameters move.
#include "capi/function.h"
#include "capi/module.h"
#include "capi/options.h"
#include "modules/clip.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" {

thunder_status* thunder_optimizer_create(thunder_context* context, const char* kind,
                                         const thunder_values* params_or_null, const thunder_options* options_or_null,
                                         thunder_optimizer** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(kind, "kind"), need(out, "out");
    Ref<Context> owner(core(context));
    const ModuleEnvironment environment = owner->module_environment();
    const Options* options = usable_options(options_or_null);
    auto optimizer = params_or_null
                         ? make<Optimizer>(environment, kind, require_usable(params_or_null, "params"), options)
                         : make<Optimizer>(environment, kind, options);
    *out = given(make<OptimizerHandle>(std::move(owner), std::move(optimizer)));
  }));
}

thunder_status* thunder_optimizer_add_group(thunder_optimizer* optimizer, const thunder_values* params,
                                            const thunder_options* options_or_null) noexcept {
  return given(guarded(__func__, [&] {
    need(optimizer, "optimizer");
    core(optimizer)->optimizer->add_group(core(optimizer)->context->module_environment(),
                                          require_usable(params, "params"), usable_options(options_or_null));
  }));
}

size_t thunder_optimizer_group_count(const thunder_optimizer* optimizer) noexcept {
  const auto* const object = core(optimizer);
  return object ? object->optimizer->group_count() : 0;
}

thunder_optimizer* thunder_optimizer_retain(thunder_optimizer* optimizer) noexcept {
  return retained(optimizer);
}
void thunder_optimizer_release(thunder_optimizer* optimizer) noexcept {
  released(optimizer);
}

void thunder_optimizer_step(thunder_scope* scope, thunder_optimizer* optimizer, const thunder_values* grads) noexcept {
  value_in<int>(core(scope), __func__, 0, [&] {
    need(optimizer, "optimizer");
    const Ref<OptimizerHandle> stepped(core(optimizer));
    stepped->steps.step(*core(scope), require_usable(grads, "grads"));
    return 0;
  });
}

thunder_tensor* thunder_optimizer_step_closure(thunder_scope* scope, thunder_optimizer* optimizer, thunder_fn closure,
                                               void* user) noexcept {
  return handle(make_tensor_in(scope, __func__, [&] {
    need(optimizer, "optimizer"), need(reinterpret_cast<const void*>(closure), "closure");
    const Ref<Optimizer> stepped = core(optimizer)->optimizer;  // the closure may release the handle
    return stepped->step(*core(scope), *callback_function("closure", closure, user, nullptr));
  }));
}

thunder_module* thunder_optimizer_state(thunder_optimizer* optimizer) noexcept {
  const OptimizerHandle* const o = core(optimizer);
  return o ? handle(o->state.get()) : nullptr;
}

thunder_status* thunder_optimizer_set_f64(thunder_optimizer* optimizer, const char* name, double value) noexcept {
  return given(guarded(__func__, [&] {
    need(optimizer, "optimizer"), need(name, "name");
    core(optimizer)->optimizer->set(core(optimizer)->context->module_environment(), name, value);
  }));
}

thunder_status* thunder_optimizer_get_f64(const thunder_optimizer* optimizer, const char* name, double* out) noexcept {
  return given(guarded(__func__, [&] {
    need(optimizer, "optimizer"), need(name, "name"), need(out, "out");
    *out = core(optimizer)->optimizer->get_f64(name);
  }));
}

thunder_status* thunder_optimizer_text(const thunder_optimizer* optimizer, thunder_values* out) noexcept {
  return given(guarded(__func__, [&] {
    need(optimizer, "optimizer"), need(out, "out");
    core(out)->push(Any::string(core(optimizer)->optimizer->text()));
  }));
}

thunder_values* thunder_clip_grad_norm(thunder_scope* scope, const thunder_values* grads, double max_norm,
                                       thunder_tensor** out_total_or_null) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    Tensor* total = nullptr;
    Values* clipped = clip_grad_norm(*core(scope), require_usable(grads, "grads"), max_norm, &total);
    if (out_total_or_null) *out_total_or_null = handle(total);
    return clipped;
  }));
}

thunder_values* thunder_clip_grad_value(thunder_scope* scope, const thunder_values* grads, double clip_value) noexcept {
  return handle(make_values_in(core(scope), __func__, [&] {
    return clip_grad_value(*core(scope), require_usable(grads, "grads"), clip_value);
  }));
}

thunder_status* thunder_schedule_create(thunder_optimizer* optimizer, const char* kind,
                                        const thunder_options* options_or_null, thunder_schedule** out) noexcept {
  return given(guarded(__func__, [&] {
    need(optimizer, "optimizer"), need(kind, "kind"), need(out, "out");
    Ref<Context> owner = core(optimizer)->context;
    auto schedule = make<LrScheduler>(owner->module_environment(), kind, core(optimizer)->optimizer,
                                      usable_options(options_or_null));
    auto made = make<ScheduleHandle>(std::move(owner), std::move(schedule));
    made->schedule->start();  // after it nothing fails: the optimizer has changed
    *out = given(std::move(made));
  }));
}

void thunder_schedule_release(thunder_schedule* schedule) noexcept {
  released(schedule);
}

thunder_status* thunder_schedule_step(thunder_schedule* schedule) noexcept {
  return given(guarded(__func__, [&] {
    need(schedule, "schedule");
    core(schedule)->schedule->step();
  }));
}

thunder_status* thunder_schedule_step_metric(thunder_schedule* schedule, double metric) noexcept {
  return given(guarded(__func__, [&] {
    need(schedule, "schedule");
    core(schedule)->schedule->step(metric);
  }));
}

thunder_status* thunder_schedule_compose(const char* kind, thunder_schedule* const* schedules, size_t n,
                                         const thunder_options* options_or_null, thunder_schedule** out) noexcept {
  return given(guarded(__func__, [&] {
    need(kind, "kind"), need(schedules, "schedules"), need(out, "out");
    std::vector<Ref<LrScheduler>> parts;
    for (size_t i = 0; i < n; i++) need(schedules[i], "schedules"), parts.push_back(core(schedules[i])->schedule);
    require(n > 0, kind, ": the list of schedules is empty");
    Ref<Context> owner = core(schedules[0])->context;
    auto schedule =
        make<LrScheduler>(owner->module_environment(), kind, std::move(parts), usable_options(options_or_null));
    auto made = make<ScheduleHandle>(std::move(owner), std::move(schedule));
    made->schedule->start();  // after it nothing fails: the optimizer has changed
    *out = given(std::move(made));
  }));
}

thunder_status* thunder_schedule_last_lr(const thunder_schedule* schedule, thunder_values* out) noexcept {
  return given(guarded(__func__, [&] {
    need(schedule, "schedule"), need(out, "out");
    for (double lr : core(schedule)->schedule->last_lr()) core(out)->push(Any::real(lr));
  }));
}

thunder_module* thunder_schedule_state(thunder_schedule* schedule) noexcept {
  const ScheduleHandle* const s = core(schedule);
  return s ? handle(s->state.get()) : nullptr;
}

}  // extern "C"
