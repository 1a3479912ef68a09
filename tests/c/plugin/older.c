/* A plugin that was compiled when the descriptors were shorter, against a table that ended earlier: all that the first
 * table had is called, and what lies behind the descriptor is rubbish. */
#include <string.h>

#include "first.h"

static int32_t claim(const thunder_node *node, void *user)
{
    const thunder_tensor *x = thunder_node_input(node, 0);
    return !strcmp(thunder_node_op(node), user) && thunder_tensor_dtype(x) == THUNDER_F32 && thunder_tensor_rank(x) == 1 &&
           thunder_tensor_device(x) == thunder_tensor_device(thunder_node_output(node, 0));
}
static thunder_status *prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    static float hundred = 100;
    (void)user;
    if (thunder_tensor_size(thunder_node_input(node, 0), 0) > 1000) return thunder_status_create(THUNDER_DECLINED, "too long", 8);
    *out_state = &hundred, *out_scratch_bytes = sizeof(float);
    return NULL;
}

struct call { const thunder_launch *launch; float add; };
static thunder_status *part(int64_t begin, int64_t end, void *arg)
{
    const struct call *c = arg;
    const float *x = c->launch->inputs[0].data;
    for (int64_t i = begin; i < end; i++) ((float *)c->launch->outputs[0].data)[i] = x[i] + c->add;
    return NULL;
}
static thunder_status *run(const thunder_launch *launch, void *state)
{
    struct call c = { launch, 0 };
    memcpy(launch->scratch, state, sizeof c.add);
    memcpy(&c.add, launch->scratch, sizeof c.add);
    return launch->parallel_for(launch, launch->outputs[0].shape[0], 1, part, &c);
}

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    static const char *const ops[] = { "relu" };
    struct { thunder_executor_desc desc; char beyond[64]; } d;
    thunder_executor *e = NULL;
    if (host->size < sizeof *host) return thunder_status_create(13, "the table has become shorter", 28);
    memset(&d, 0xee, sizeof d);
    d.desc.size = sizeof d.desc;
    d.desc.name = "older", d.desc.ops = ops, d.desc.n_ops = 1, d.desc.flags = 0, d.desc.user = "relu";
    d.desc.claim = claim, d.desc.claim_region = NULL, d.desc.prepare = prepare, d.desc.run = run;
    d.desc.drop = NULL, d.desc.destroy = NULL;
    thunder_status *status = thunder_executor_create(context, &d.desc, &e);
    if (!status) status = thunder_context_add_executor(context, e);
    thunder_executor_release(e);
    return status;
}

static const thunder_plugin_desc desc = { sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "older", "0.1", start };
THUNDER_PLUGIN_MAIN(&desc)
