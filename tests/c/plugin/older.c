/* A plugin that was compiled when the descriptors were shorter, against a table that ended earlier. */
#include <stddef.h>
#include <string.h>

#include <thunder/plugin.h>

static thunder_status *prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node, (void)user;
    *out_state = NULL, *out_scratch_bytes = 0;
    return NULL;
}
static thunder_status *run(const thunder_launch *launch, void *state)
{
    const float *x = launch->inputs[0].data;
    (void)state;
    for (int64_t i = 0; i < launch->outputs[0].shape[0]; i++) ((float *)launch->outputs[0].data)[i] = x[i] + 100;
    return NULL;
}

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    static const char *const ops[] = { "relu" };
    struct { thunder_executor_desc desc; char beyond[64]; } d;
    thunder_executor *e = NULL;
    if (host && host->size < THUNDER_SIZE_UPTO(thunder_host_api, executor_release)) return NULL;
    memset(&d, 0xee, sizeof d); /* what lies behind `destroy` is not the plugin's */
    d.desc.size = THUNDER_SIZE_UPTO(thunder_executor_desc, destroy);
    d.desc.name = "older", d.desc.ops = ops, d.desc.n_ops = 1, d.desc.flags = 0, d.desc.user = NULL;
    d.desc.claim = NULL, d.desc.claim_region = NULL, d.desc.prepare = prepare, d.desc.run = run, d.desc.drop = NULL, d.desc.destroy = NULL;
    thunder_status *status = thunder_executor_create(context, &d.desc, &e);
    if (!status) status = thunder_context_add_executor(context, e);
    thunder_executor_release(e);
    return status;
}

static const thunder_plugin_desc desc = { sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "older", "0.1", start };
THUNDER_PLUGIN_MAIN(&desc)
