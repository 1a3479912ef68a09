/* A plugin of executors that decline, fail and lie, one of each kind; all of them claim relu. */
#include <string.h>

#include <thunder/plugin.h>
#include <thunder/ops.h>

static thunder_status *say(thunder_code code, const char *text) { return thunder_status_create(code, text, strlen(text)); }

static thunder_status *ready(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node, (void)user;
    *out_state = NULL, *out_scratch_bytes = 0;
    return NULL;
}
static thunder_status *decline(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node, (void)out_state, (void)out_scratch_bytes, (void)user;
    return say(THUNDER_DECLINED, "not this one");
}
static thunder_status *cannot_prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node, (void)out_state, (void)out_scratch_bytes, (void)user;
    return say(THUNDER_BACKEND, "no licence was found");
}
static thunder_status *cannot_lay_out(const thunder_node *node, const thunder_launch *layout, void *state, size_t *scratch_bytes, void *user)
{
    (void)node, (void)layout, (void)state, (void)scratch_bytes, (void)user;
    return say(THUNDER_BACKEND, "too many strides");
}
static thunder_status *all_of_memory(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node, (void)user;
    *out_state = NULL;
    *out_scratch_bytes = SIZE_MAX;
    return NULL;
}
static thunder_status *lay_out_all_of_memory(const thunder_node *node, const thunder_launch *layout, void *state, size_t *scratch_bytes, void *user)
{
    (void)node, (void)layout, (void)state, (void)user;
    *scratch_bytes = SIZE_MAX;
    return NULL;
}
static thunder_status *never_run(const thunder_launch *launch, void *state)
{
    (void)launch, (void)state;
    return say(THUNDER_INTERNAL, "must not be run");
}
static thunder_status *cannot_run(const thunder_launch *launch, void *state)
{
    (void)launch, (void)state;
    return say(THUNDER_BACKEND, "the device is on fire");
}
static thunder_status *fail_in_part(int64_t begin, int64_t end, void *arg)
{
    (void)begin, (void)end, (void)arg;
    return say(THUNDER_BACKEND, "a part is on fire");
}
static thunder_status *cannot_run_parts(const thunder_launch *launch, void *state)
{
    (void)state;
    return launch->parallel_for(launch, launch->outputs[0].shape[0], 1, fail_in_part, NULL);
}
static thunder_status *cannot_transform(thunder_scope *s, const thunder_node *node, const thunder_values *in, thunder_values *out, void *user)
{
    (void)s, (void)node, (void)in, (void)out, (void)user;
    return say(THUNDER_BACKEND, "nothing stands for it");
}
static thunder_status *refused_transform(thunder_scope *s, const thunder_node *node, const thunder_values *in, thunder_values *out, void *user)
{
    const int64_t shape[] = { 5 };
    (void)node, (void)user;
    thunder_values_push_tensor(out, th_view(s, thunder_values_tensor(in, 0), shape, 1));
    return NULL;
}
static thunder_status *another_type(thunder_scope *s, const thunder_node *node, const thunder_values *in, thunder_values *out, void *user)
{
    (void)node, (void)user;
    thunder_values_push_tensor(out, th_sum(s, thunder_values_tensor(in, 0)));
    return NULL;
}
static thunder_status *no_result(thunder_scope *s, const thunder_node *node, const thunder_values *in, thunder_values *out, void *user)
{
    (void)s, (void)node, (void)in, (void)out, (void)user;
    return NULL;
}

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    static const char *const ops[] = { "relu" };
    const thunder_executor_desc rows[] = {
        { .name = "declines", .prepare = decline, .run = never_run },
        { .name = "cannot_prepare", .prepare = cannot_prepare, .run = never_run },
        { .name = "cannot_lay_out", .prepare = ready, .lay_out = cannot_lay_out, .run = never_run },
        { .name = "all_of_memory", .prepare = all_of_memory, .run = never_run },
        { .name = "lay_out_all_of_memory", .prepare = ready, .lay_out = lay_out_all_of_memory, .run = never_run },
        { .name = "cannot_run", .prepare = ready, .run = cannot_run },
        { .name = "cannot_run_parts", .prepare = ready, .run = cannot_run_parts },
        { .name = "cannot_transform", .prepare = ready, .run = never_run, .execution_transform = cannot_transform },
        { .name = "refused_transform", .prepare = ready, .run = never_run, .execution_transform = refused_transform },
        { .name = "another_type", .prepare = ready, .run = never_run, .execution_transform = another_type },
        { .name = "no_result", .prepare = ready, .run = never_run, .execution_transform = no_result },
    };
    thunder_status *status = NULL;
    (void)host;
    for (size_t i = 0; !status && i < sizeof rows / sizeof rows[0]; i++) {
        thunder_executor_desc d = rows[i];
        thunder_executor *e = NULL;
        d.size = sizeof d, d.ops = ops, d.n_ops = 1;
        status = thunder_executor_create(context, &d, &e);
        if (!status) status = thunder_context_add_executor(context, e);
        thunder_executor_release(e);
    }
    return status;
}

static const thunder_plugin_desc desc = { sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "every_mistake", "1.0", start };
THUNDER_PLUGIN_MAIN(&desc)
