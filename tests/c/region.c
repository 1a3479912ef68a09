/* A fusion executor of the caller's: it takes neighbours as one region, reads its lines, and runs them element by element
 * in one loop, without memory for what is in between. */
// covers: capi/kernel.cpp
#include <thunder/executor.h>
#include "test.h"

enum { MOST = 16 };

struct line { char op; size_t left, right; };              /* slots of what it reads; it makes the next slot */
struct fused { size_t inputs, lines, outputs; struct line line[MOST]; size_t output[MOST]; };

static int prepared_lines, drops;

static int32_t claim(const thunder_node *node, void *user)
{
    (void)user;
    CHECK(thunder_node_line_count(node) == 0 && thunder_node_line(node, 0) == NULL); /* an op, no region */
    return thunder_tensor_dtype(thunder_node_output(node, 0)) == THUNDER_F32;
}

/* All that it is offered but the last line, to see that it is left out. */
static int32_t claim_region(const thunder_node *const *nodes, size_t n, uint8_t *taken, void *user)
{
    (void)user;
    for (size_t i = 0; i < n; i++) taken[i] = strcmp(thunder_node_op(nodes[i]), "prims.sub") != 0;
    return taken[0];
}

static size_t slot_of(const uint32_t *values, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == value) return i;
    return SIZE_MAX;
}

static thunder_status *prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    uint32_t values[2 * MOST];
    size_t slots = 0;
    struct fused *made = calloc(1, sizeof *made);
    (void)user;
    CHECK(made != NULL && thunder_node_line_count(node) <= MOST);
    if (strcmp(thunder_node_op(node), "region")) {
        free(made);
        return thunder_status_create(THUNDER_DECLINED, "alone", 5);
    }
    while (thunder_node_input(node, slots)) {
        values[slots] = thunder_node_input_value(node, slots);
        slots++;
    }
    made->inputs = slots;
    CHECK(thunder_node_input_value(node, slots) == UINT32_MAX);
    made->lines = thunder_node_line_count(node);
    prepared_lines = (int)made->lines;
    for (size_t i = 0; i < made->lines; i++) {
        const thunder_node *line = thunder_node_line(node, i);
        CHECK(line == thunder_node_line(node, i)); /* one handle a line */
        made->line[i].op = strcmp(thunder_node_op(line), "prims.mul") ? '+' : '*';
        made->line[i].left = slot_of(values, slots, thunder_node_input_value(line, 0));
        made->line[i].right = slot_of(values, slots, thunder_node_input_value(line, 1));
        CHECK(made->line[i].left != SIZE_MAX && made->line[i].right != SIZE_MAX);
        values[slots++] = thunder_node_output_value(line, 0);
    }
    while (thunder_node_output(node, made->outputs)) {
        made->output[made->outputs] = slot_of(values, slots, thunder_node_output_value(node, made->outputs));
        CHECK(made->output[made->outputs++] != SIZE_MAX);
    }
    CHECK(thunder_node_line(node, made->lines) == NULL);
    CHECK(thunder_node_output_value(node, made->outputs) == UINT32_MAX);
    *out_state = made;
    *out_scratch_bytes = 0;
    return NULL;
}

static thunder_status *run(const thunder_launch *launch, void *state)
{
    const struct fused *self = state;
    CHECK(launch->n_inputs == self->inputs && launch->n_outputs == self->outputs && launch->scratch);
    for (int64_t k = 0; k < launch->outputs[0].shape[0]; k++) {
        float slots[2 * MOST];
        for (size_t i = 0; i < self->inputs; i++) slots[i] = ((const float *)launch->inputs[i].data)[k];
        for (size_t i = 0; i < self->lines; i++) {
            const float a = slots[self->line[i].left], b = slots[self->line[i].right];
            slots[self->inputs + i] = self->line[i].op == '*' ? a * b : a + b;
        }
        for (size_t i = 0; i < self->outputs; i++) ((float *)launch->outputs[i].data)[k] = slots[self->output[i]];
    }
    return NULL;
}

static int layouts;

/* Sees where things will lie, and asks for memory accordingly. */
static thunder_status *lay_out(const thunder_node *node, const thunder_launch *layout, void *state, size_t *scratch_bytes,
    void *user)
{
    const struct fused *self = state;
    (void)user;
    CHECK(!strcmp(thunder_node_op(node), "region") && layout->n_inputs == self->inputs && layout->n_outputs == self->outputs);
    CHECK(!layout->inputs[0].data && layout->inputs[0].rank == 1 && layout->inputs[0].strides[0] == 1);
    *scratch_bytes = (size_t)layout->inputs[0].shape[0] * sizeof(float);
    layouts++;
    return NULL;
}

static void drop(void *state)
{
    drops++;
    free(state);
}

/* (x * y + x) * y + x, and that minus y, which is not taken. */
static thunder_status *body(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0), *y = thunder_values_tensor(in, 1);
    thunder_tensor *sum = th_add(s, th_mul(s, th_add(s, th_mul(s, x, y), x), y), x);
    thunder_values_push_tensor(out, sum);
    thunder_values_push_tensor(out, th_sub(s, sum, y));
    return NULL;
}

/* The executor under the name of a backend, which the option names and which may not be taken twice. */
static void check_backend(thunder_context *context, thunder_executor *executor, thunder_function *f, thunder_tensor **in)
{
    thunder_backend_desc desc;
    thunder_options *o = NULL;
    thunder_compiled *c = NULL;
    thunder_trace *t = NULL;
    thunder_tensor *out[2] = { NULL, NULL };
    memset(&desc, 0, sizeof desc);
    desc.size = sizeof desc;
    desc.name = "fusing";
    desc.executors = &executor;
    desc.n_executors = 1;
    desc.disable_passes = "algebra";
    OK(thunder_context_add_backend(context, &desc));
    REFUSED(thunder_context_add_backend(context, &desc), THUNDER_INVALID_ARGUMENT, "already registered");
    desc.name = "wrong";
    desc.disable_passes = "grad";
    REFUSED(thunder_context_add_backend(context, &desc), THUNDER_INVALID_ARGUMENT, "which is required");
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "backend", "fusing");
    OK(thunder_compile(f, o, &c));
    OK(thunder_compiled_call_tensors(c, in, 2, out, 2));
    OK(thunder_compiled_trace(c, thunder_compiled_trace_count(c) - 1, &t));
    CHECK(strstr(thunder_trace_text(t), "by fuse"));
    thunder_trace_release(t);
    for (int i = 0; i < 2; i++) thunder_tensor_release(out[i]);
    thunder_compiled_release(c);
    thunder_options_release(o);
}

int main(void)
{
    static const char *const ops[] = { "prims.mul", "prims.add", "prims.sub" };
    const int64_t shape[] = { 3 };
    const float a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 };
    float r[3];
    thunder_context *context = NULL;
    thunder_executor *e = NULL;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_trace *t = NULL;
    thunder_executor_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.size = sizeof desc;
    desc.name = "fuse";
    desc.ops = ops;
    desc.n_ops = 3;
    desc.claim = claim;
    desc.claim_region = claim_region;
    desc.prepare = prepare;
    desc.run = run;
    desc.drop = drop;
    desc.lay_out = lay_out;
    desc.flags = THUNDER_EXECUTOR_IN_PLACE;
    OK(thunder_context_create(NULL, &context));
    thunder_tensor *in[] = { test_f32(context, 1, shape, a), test_f32(context, 1, shape, b) }, *out[2] = { NULL, NULL };
    OK(thunder_executor_create(context, &desc, &e));
    OK(thunder_options_create(context, &o));
    thunder_options_add_executor(o, e);
    OK(thunder_function_create(context, "body", body, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    OK(thunder_compiled_call_tensors(c, in, 2, out, 2));
    OK(thunder_tensor_read(out[0], r, sizeof r));
    for (int i = 0; i < 3; i++) CHECK(r[i] == (a[i] * b[i] + a[i]) * b[i] + a[i]);
    OK(thunder_tensor_read(out[1], r, sizeof r));
    for (int i = 0; i < 3; i++) CHECK(r[i] == (a[i] * b[i] + a[i]) * b[i] + a[i] - b[i]);
    CHECK(prepared_lines == 4);
    OK(thunder_compiled_trace(c, thunder_compiled_trace_count(c) - 1, &t));
    CHECK(strstr(thunder_trace_text(t), "-- region ") && strstr(thunder_trace_text(t), "by fuse"));
    thunder_trace_release(t);
    for (int i = 0; i < 2; i++) thunder_tensor_release(out[i]);
    thunder_compiled_release(c);
    CHECK(drops == 1 && layouts == 1);
    check_backend(context, e, f, in);
    CHECK(drops == 2 && layouts == 2);
    for (int i = 0; i < 2; i++) thunder_tensor_release(in[i]);
    thunder_function_release(f);
    thunder_options_release(o);
    thunder_executor_release(e);
    thunder_context_release(context);
    return 0;
}
