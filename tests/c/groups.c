/* Modules looked into, copied and brought to another dtype; optimisers over several groups of parameters. */
#include "test.h"

/* What a kind was made with, a copy, and the same in another dtype. */
static void copies(thunder_context *context)
{
    const thunder_any args[] = { thunder_any_i64(2), thunder_any_i64(3) };
    thunder_any value = thunder_any_i64(0);
    thunder_module *m = NULL, *net = NULL, *copy = NULL;
    thunder_values *text = NULL, *state = NULL;
    OK(thunder_module_create(context, "Linear", args, 2, NULL, &m));
    OK(thunder_module_create(context, "Sequential", NULL, 0, NULL, &net));
    OK(thunder_module_add(net, "0", m));
    OK(thunder_module_option(m, "out_features", &value));
    CHECK(value.kind == THUNDER_INT && value.u.i == 3);
    REFUSED(thunder_module_option(m, "out_feature", &value), THUNDER_NOT_FOUND, "'out_features'");
    CHECK(!strcmp(thunder_module_child_name(net, 0), "0") && !thunder_module_child_name(net, 1));
    OK(thunder_values_create(context, &text));
    OK(thunder_values_create(context, &state));
    OK(thunder_module_text(net, text));
    OK(thunder_values_get(text, 0, &value));
    CHECK(!strcmp(value.u.s, "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n)"));
    OK(thunder_module_copy(net, &copy));
    OK(thunder_module_to_dtype(copy, THUNDER_BF16));
    REFUSED(thunder_module_to_dtype(copy, THUNDER_I64), THUNDER_INVALID_ARGUMENT, "got i64");
    OK(thunder_module_state(copy, state));
    CHECK(thunder_tensor_dtype(thunder_values_tensor(state, 0)) == THUNDER_BF16);
    OK(thunder_module_state(net, state));
    CHECK(thunder_tensor_dtype(thunder_values_tensor(state, 0)) == THUNDER_F32);
    thunder_values_release(state);
    thunder_values_release(text);
    thunder_module_release(copy);
    thunder_module_release(net);
    thunder_module_release(m);
}

/* Two groups, of which the second learns by a rate of its own. */
static void groups(thunder_context *context)
{
    const int64_t shape[] = { 1 };
    const float one[] = { 1 };
    float r[1];
    double lr = 0;
    thunder_any value;
    thunder_tensor *p[2] = { test_f32(context, 1, shape, one), test_f32(context, 1, shape, one) };
    thunder_values *params = NULL, *grads = NULL, *rates = NULL;
    thunder_options *options = NULL;
    thunder_optimizer *o = NULL;
    thunder_schedule *schedule = NULL;
    thunder_scope *s = NULL;
    OK(thunder_values_create(context, &params));
    OK(thunder_values_create(context, &grads));
    OK(thunder_values_create(context, &rates));
    OK(thunder_options_create(context, &options));
    OK(thunder_optimizer_create(context, "SGD", NULL, NULL, &o));
    thunder_options_set_f64(options, "lr", 0.5);
    thunder_values_push_tensor(params, p[0]);
    OK(thunder_optimizer_add_group(o, params, options));
    thunder_options_set_f64(options, "lr", 0.25);
    REFUSED(thunder_optimizer_add_group(o, params, options), THUNDER_INVALID_ARGUMENT, "one tensor");
    thunder_values_reset(params);
    thunder_values_push_tensor(params, p[1]);
    OK(thunder_optimizer_add_group(o, params, options));
    CHECK(thunder_optimizer_group_count(o) == 2);
    OK(thunder_scope_create(context, 0, &s));
    for (int i = 0; i < 2; i++) thunder_values_push_tensor(grads, p[1]);
    thunder_optimizer_step(s, o, grads);
    OK(thunder_scope_status(s));
    OK(thunder_tensor_read(p[0], r, sizeof r));
    CHECK(r[0] == 0.5f);
    OK(thunder_tensor_read(p[1], r, sizeof r));
    CHECK(r[0] == 0.75f);
    OK(thunder_optimizer_get_f64(o, "param_groups.1.lr", &lr));
    CHECK(lr == 0.25);
    thunder_options_release(options);
    OK(thunder_options_create(context, &options));
    thunder_options_set_f64(options, "gamma", 0.5);
    OK(thunder_schedule_create(o, "ExponentialLR", options, &schedule));
    OK(thunder_schedule_step(schedule));
    OK(thunder_schedule_last_lr(schedule, rates));
    OK(thunder_values_get(rates, 1, &value));
    CHECK(thunder_values_count(rates) == 2 && value.u.f == 0.125);
    thunder_values_reset(rates);
    OK(thunder_optimizer_text(o, rates));
    OK(thunder_values_get(rates, 0, &value));
    CHECK(strstr(value.u.s, "Parameter Group 1\n    lr: 0.125\n"));
    /* Of schedules, and one that a metric decides. */
    thunder_schedule *parts[2] = {schedule, NULL}, *chained = NULL, *plateau = NULL;
    OK(thunder_schedule_create(o, "ExponentialLR", options, &parts[1]));
    OK(thunder_schedule_compose("ChainedScheduler", parts, 2, NULL, &chained));
    OK(thunder_schedule_step(chained));
    OK(thunder_optimizer_get_f64(o, "param_groups.0.lr", &lr));
    CHECK(lr == 0.0625); /* each halves the rate that is there */
    REFUSED(thunder_schedule_compose("ChainedScheduler", parts, 0, NULL, &plateau), THUNDER_INVALID_ARGUMENT, "is empty");
    REFUSED(thunder_schedule_step_metric(chained, 1), THUNDER_INVALID_ARGUMENT, "takes no metric");
    REFUSED(thunder_schedule_create(o, "SequentialLR", NULL, &plateau), THUNDER_INVALID_ARGUMENT, "milestones");
    OK(thunder_schedule_create(o, "ReduceLROnPlateau", NULL, &plateau));
    OK(thunder_schedule_step_metric(plateau, 1));
    REFUSED(thunder_schedule_step(plateau), THUNDER_INVALID_ARGUMENT, "needs the metric");
    thunder_schedule_release(plateau);
    thunder_schedule_release(chained);
    for (int i = 0; i < 2; i++) thunder_schedule_release(parts[i]);
    thunder_scope_release(s);
    thunder_optimizer_release(o);
    thunder_options_release(options);
    thunder_values_release(rates);
    thunder_values_release(grads);
    thunder_values_release(params);
    for (int i = 0; i < 2; i++) thunder_tensor_release(p[i]);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    test_seed(context, 0);
    copies(context);
    groups(context);
    thunder_context_release(context);
    return 0;
}
