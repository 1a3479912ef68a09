/* A plugin whose executor claims layer_norm over the last axis of f32 tensors on the CPU. It links nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <thunder/plugin.h>

struct state { double eps; };
struct rows { const float *input, *weight, *bias; float *output; size_t length; double eps; };

static int32_t claim(const thunder_node *node, void *user)
{
    (void)user;
    thunder_any shape;
    thunder_tensor *x = thunder_node_input(node, 0);
    thunder_status *status = thunder_node_arg(node, "normalized_shape", &shape);
    const int32_t yes = !status && shape.kind == THUNDER_DIMS && shape.count == 1 &&
                        thunder_tensor_dtype(x) == THUNDER_F32 && thunder_tensor_device(x) == THUNDER_CPU;
    thunder_status_release(status);
    return yes;
}

static thunder_status *prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)user;
    thunder_any eps;
    thunder_status *status = thunder_node_arg(node, "eps", &eps);
    if (status) return status;
    struct state *state = malloc(sizeof *state);
    if (!state) return thunder_status_create(THUNDER_OUT_OF_MEMORY, "fast_layer_norm: state", 22);
    state->eps = eps.u.f;
    *out_scratch_bytes = 0;
    *out_state = state;
    return NULL;
}

static thunder_status *normalize(int64_t begin, int64_t end, void *arg)
{
    const struct rows *job = arg;
    for (int64_t r = begin; r < end; r++) {
        const float *x = job->input + (size_t)r * job->length;
        float *y = job->output + (size_t)r * job->length;
        double mean = 0, variance = 0;
        for (size_t i = 0; i < job->length; i++) mean += x[i];
        mean /= (double)job->length;
        for (size_t i = 0; i < job->length; i++) variance += (x[i] - mean) * (x[i] - mean);
        const double scale = 1.0 / sqrt(variance / (double)job->length + job->eps);
        for (size_t i = 0; i < job->length; i++)
            y[i] = (float)((x[i] - mean) * scale) * (job->weight ? job->weight[i] : 1.0f) +
                   (job->bias ? job->bias[i] : 0.0f);
    }
    return NULL;
}

static thunder_status *run(const thunder_launch *launch, void *state)
{
    const thunder_buffer *x = &launch->inputs[0];
    const size_t length = (size_t)x->shape[x->rank - 1];
    struct rows job = { x->data, launch->inputs[1].data, launch->inputs[2].data, launch->outputs[0].data, length,
                        ((const struct state *)state)->eps };
    int64_t n = 1;
    for (int32_t i = 0; i + 1 < x->rank; i++) n *= x->shape[i];
    return length ? launch->parallel_for(launch, n, 1 + 4096 / (int64_t)length, normalize, &job) : NULL;
}

static const char *const ops[] = { "layer_norm" };

static thunder_status *start(thunder_context *context, const thunder_host_api *host)
{
    (void)host;
    thunder_executor_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.size = sizeof desc;
    desc.name = "fast_layer_norm";
    desc.ops = ops;
    desc.n_ops = 1;
    desc.claim = claim;
    desc.prepare = prepare;
    desc.run = run;
    desc.drop = free;
    thunder_executor *executor = NULL;
    thunder_status *status = thunder_executor_create(context, &desc, &executor);
    if (!status) status = thunder_context_add_executor(context, executor);
    thunder_executor_release(executor);
    return status;
}

static const thunder_plugin_desc desc = {
    sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "fast_layer_norm", "1.0", start
};
THUNDER_PLUGIN_MAIN(&desc)
