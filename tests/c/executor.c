/* An executor of the caller's, with state, a private scratch and every way to say no. */
// covers: capi/executor.cpp
#include <thunder/executor.h> /* alone and first: it brings thunder.h */
#include "test.h"

struct log { int claims, prepares, drops, destroys, runs; };

static int32_t claim(const thunder_node *node, void *user)
{
    ((struct log *)user)->claims++;
    CHECK(!strcmp(thunder_node_op(node), "prims.mul"));
    CHECK(thunder_tensor_rank(thunder_node_input(node, 0)) == 1 && thunder_node_input(node, 2) == NULL);
    CHECK(thunder_tensor_dtype(thunder_node_output(node, 0)) == THUNDER_F32 && thunder_node_output(node, 1) == NULL);
    thunder_any none;
    REFUSED(thunder_node_arg(node, "nothing", &none), THUNDER_INVALID_ARGUMENT, "has no argument 'nothing'");
    return 1;
}
static thunder_status *prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node;
    *out_state = user;
    *out_scratch_bytes = 64;
    ((struct log *)user)->prepares++;
    return NULL;
}
static thunder_status *decline(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node, (void)out_state, (void)out_scratch_bytes;
    ((struct log *)user)->prepares++;
    return thunder_status_create(THUNDER_DECLINED, "not today", 9);
}
static thunder_status *run(const thunder_launch *launch, void *state)
{
    const float *a = launch->inputs[0].data, *b = launch->inputs[1].data;
    float *r = launch->outputs[0].data;
    CHECK(launch->n_inputs == 2 && launch->n_outputs == 1 && launch->scratch != NULL);
    memset(launch->scratch, 7, 64);
    ((struct log *)state)->runs++;
    for (int64_t i = 0; i < launch->outputs[0].shape[0]; i++) r[i] = a[i] * b[i];
    return NULL;
}
static thunder_status *fail(const thunder_launch *launch, void *state)
{
    (void)launch, (void)state;
    return thunder_status_create(THUNDER_BACKEND, "the device is on fire", 21);
}
static void drop(void *state) { ((struct log *)state)->drops++; }
static void destroy(void *user) { ((struct log *)user)->destroys++; }

static thunder_status *multiply(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_mul(s, thunder_values_tensor(in, 0), thunder_values_tensor(in, 0)));
    return NULL;
}

static thunder_executor_desc description(struct log *log)
{
    static const char *const ops[] = { "prims.mul" };
    thunder_executor_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.name = "mine";
    d.ops = ops;
    d.n_ops = 1;
    d.user = log;
    d.claim = claim;
    d.prepare = prepare;
    d.run = run;
    d.drop = drop;
    d.destroy = destroy;
    return d;
}

static thunder_status *call(thunder_context *context, const thunder_executor_desc *d)
{
    const int64_t shape[] = { 3 };
    const float data[] = { 1, 2, 3 };
    float r[3];
    thunder_executor *e = NULL;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *y = NULL;
    OK(thunder_executor_create(context, d, &e));
    OK(thunder_options_create(context, &o));
    thunder_options_add_executor(o, e);
    OK(thunder_function_create(context, "multiply", multiply, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    thunder_status *status = thunder_compiled_call_tensors(c, &x, 1, &y, 1);
    if (!status) {
        OK(thunder_tensor_read(y, r, sizeof r));
        CHECK(r[0] == 1 && r[1] == 4 && r[2] == 9);
    }
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_executor_release(e);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
    return status;
}

static _Thread_local int callers_thread;
static int64_t seen_stride;

static int32_t always(const thunder_node *node, void *user)
{
    (void)node, (void)user;
    return 1;
}
static thunder_status *no_state(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node, (void)user;
    *out_state = NULL;
    *out_scratch_bytes = 0;
    return NULL;
}
static thunder_status *strided(const thunder_launch *launch, void *state)
{
    const thunder_buffer *a = &launch->inputs[0], *b = &launch->inputs[1];
    (void)state;
    CHECK(callers_thread);
    seen_stride = a->strides[0];
    for (int64_t i = 0; i < a->shape[0]; i++)
        ((float *)launch->outputs[0].data)[i] =
            ((const float *)a->data)[i * a->strides[0]] * ((const float *)b->data)[i * b->strides[0]];
    return NULL;
}

/* The inputs' memory, as it is or made dense: what the flags ask for. */
static void flags(thunder_context *context)
{
    float memory[] = { 1, 0, 2, 0, 3 }, r[3];
    const int64_t shape[] = { 3 }, steps[] = { 2 };
    callers_thread = 1;
    for (int dense = 0; dense < 2; dense++) {
        thunder_executor *e = NULL;
        thunder_options *o = NULL;
        thunder_function *f = NULL;
        thunder_compiled *c = NULL;
        thunder_tensor *x = NULL, *y = NULL;
        thunder_executor_desc d = description(NULL);
        d.claim = always;
        d.prepare = no_state;
        d.run = strided;
        d.drop = NULL;
        d.destroy = NULL;
        d.flags = dense ? THUNDER_EXECUTOR_CALLER_THREAD : THUNDER_EXECUTOR_CALLER_THREAD | THUNDER_EXECUTOR_STRIDED;
        OK(thunder_tensor_borrow(context, THUNDER_F32, 1, shape, steps, 0, memory, sizeof memory, NULL, NULL, &x));
        OK(thunder_executor_create(context, &d, &e));
        OK(thunder_options_create(context, &o));
        thunder_options_add_executor(o, e);
        OK(thunder_function_create(context, "multiply", multiply, NULL, NULL, &f));
        OK(thunder_compile(f, o, &c));
        OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
        OK(thunder_tensor_read(y, r, sizeof r));
        CHECK(r[0] == 1 && r[1] == 4 && r[2] == 9 && seen_stride == (dense ? 1 : 2));
        thunder_tensor_release(x);
        thunder_tensor_release(y);
        thunder_executor_release(e);
        thunder_options_release(o);
        thunder_compiled_release(c);
        thunder_function_release(f);
    }
}

/* A call that fails has changed nothing: what it writes is written when nothing can fail any more. */
static thunder_status *write_and_multiply(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *x = thunder_values_tensor(in, 0);
    th_add_(s, user, th_f64(s, 1));
    thunder_values_push_tensor(out, th_mul(s, x, x));
    return NULL;
}
static void writes_nothing_when_it_fails(thunder_context *context)
{
    const int64_t shape[] = { 3 };
    const float data[] = { 1, 2, 3 };
    float r[3];
    struct log log = { 0, 0, 0, 0, 0 };
    thunder_executor *e = NULL;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *written = test_f32(context, 1, shape, data), *y = NULL;
    thunder_executor_desc d = description(&log);
    d.run = fail;
    OK(thunder_executor_create(context, &d, &e));
    OK(thunder_options_create(context, &o));
    thunder_options_add_executor(o, e);
    OK(thunder_function_create(context, "write_and_multiply", write_and_multiply, written, NULL, &f));
    OK(thunder_compile(f, o, &c));
    REFUSED(thunder_compiled_call_tensors(c, &x, 1, &y, 1), THUNDER_BACKEND, "run by executor 'mine'");
    OK(thunder_tensor_read(written, r, sizeof r));
    CHECK(!memcmp(r, data, sizeof r));
    thunder_tensor_release(x);
    thunder_tensor_release(written);
    thunder_executor_release(e);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
}

/* What the executor wants in place of a line, before gradients are taken. */
static thunder_status *as_double(thunder_scope *s, const thunder_node *node, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    if (thunder_tensor_rank(thunder_node_input(node, 0)) != 1) return thunder_status_create(THUNDER_DECLINED, "", 0);
    thunder_values_push_tensor(out, th_mul(s, thunder_values_tensor(in, 0), th_f64(s, 2)));
    return NULL;
}
static thunder_status *gradient_of_relu(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *x = thunder_values_tensor(in, 0), *loss = th_sum(s, th_relu(s, x));
    (void)user;
    thunder_values_push_tensor(out, thunder_values_tensor(thunder_scope_grad(s, loss, thunder_scope_list(s, &x, 1)), 0));
    return NULL;
}
static void transforms(thunder_context *context)
{
    static const char *const ops[] = { "relu" };
    const int64_t shape[] = { 3 };
    const float data[] = { -1, 2, 3 };
    float r[3];
    thunder_executor *e = NULL;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *y = NULL;
    thunder_executor_desc d = description(NULL);
    d.ops = ops, d.claim = NULL, d.prepare = no_state, d.run = strided, d.drop = NULL, d.destroy = NULL, d.execution_transform = as_double;
    OK(thunder_executor_create(context, &d, &e));
    OK(thunder_options_create(context, &o));
    thunder_options_add_executor(o, e);
    OK(thunder_function_create(context, "gradient_of_relu", gradient_of_relu, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    OK(thunder_tensor_read(y, r, sizeof r));
    CHECK(r[0] == 2 && r[1] == 2 && r[2] == 2);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_executor_release(e);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
}

int main(void)
{
    struct log log = { 0, 0, 0, 0, 0 };
    thunder_context *context = NULL;
    thunder_executor *e = NULL;
    OK(thunder_context_create(NULL, &context));
    thunder_executor_desc d = description(&log);
    OK(call(context, &d));
    CHECK(log.claims > 0 && log.prepares == 1 && log.runs == 1 && log.drops == 1 && log.destroys == 1);

    d.prepare = decline; /* the next executor takes it */
    OK(call(context, &d));
    CHECK(log.prepares == 2 && log.runs == 1 && log.drops == 1 && log.destroys == 2);

    d = description(&log);
    d.run = fail;
    REFUSED(call(context, &d), THUNDER_BACKEND, "on fire");
    CHECK(log.destroys == 3);

    d.run = NULL; /* destroy runs also when nothing was created */
    REFUSED(thunder_executor_create(context, &d, &e), THUNDER_INVALID_ARGUMENT, "'mine' has no run");
    CHECK(log.destroys == 4 && e == NULL);
    flags(context);
    writes_nothing_when_it_fails(context);
    transforms(context);
    thunder_context_release(context);
    return 0;
}
