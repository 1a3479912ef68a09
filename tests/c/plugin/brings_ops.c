/* A plugin that brings an op with a decomposition, one with a kernel that is a symbol of its own, and a pass. */
#include <string.h>

#include <thunder/plugin.h>
#include <thunder/ops.h>

static thunder_status *cube(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_mul(s, th_mul(s, x, x), x));
    return NULL;
}

static thunder_status *like_input(const thunder_node *node, thunder_types *results, void *user)
{
    (void)user;
    thunder_types_push_like(results, thunder_node_input(node, 0));
    return NULL;
}

static thunder_status *count_cubes(thunder_editor *editor, void *user)
{
    for (size_t i = 0; i < thunder_editor_line_count(editor); i++)
        *(int *)user += !strcmp(thunder_node_op(thunder_editor_line(editor, i)), "plugin.cube");
    return NULL;
}

__attribute__((visibility("default"))) int plugin_cubes_seen;

__attribute__((visibility("default"))) thunder_status *plugin_negate(const thunder_launch *, const thunder_any *, void *);
thunder_status *plugin_negate(const thunder_launch *launch, const thunder_any *args, void *user)
{
    (void)args, (void)user;
    for (int64_t i = 0; i < launch->outputs[0].shape[0]; i++)
        ((float *)launch->outputs[0].data)[i] = -((const float *)launch->inputs[0].data)[i];
    return NULL;
}

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    thunder_op_desc op;
    thunder_pass_desc pass;
    thunder_pass *made = NULL;
    if (host && host->size < THUNDER_SIZE_UPTO(thunder_host_api, values_push_tensor))
        return thunder_status_create(THUNDER_FAILED_PRECONDITION, "the host is too old", 19);
    memset(&op, 0, sizeof op);
    memset(&pass, 0, sizeof pass);
    op.size = sizeof op, op.schema = "plugin.cube(tensor x) -> tensor", op.doc = "x * x * x.", op.decompose = cube;
    thunder_status *status = thunder_context_add_op(context, &op);
    op.schema = "plugin.negate(tensor x) -> tensor", op.doc = "-x.", op.decompose = NULL, op.meta = like_input;
    if (!status) status = thunder_context_add_op(context, &op);
    pass.size = sizeof pass, pass.name = "count_cubes", pass.before = "descend", pass.run = count_cubes, pass.user = &plugin_cubes_seen;
    if (!status) status = thunder_pass_create(context, &pass, &made);
    if (!status) status = thunder_context_add_pass(context, made);
    thunder_pass_release(made);
    return status;
}

static const thunder_plugin_desc desc = { sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "brings_ops", "1.0", start };
THUNDER_PLUGIN_MAIN(&desc)
