/* Ops of the caller's: with a decomposition, with a meta function and a kernel, with a gradient. They are
 * traced, printed, parsed, differentiated, claimed and listed like the library's. */
// covers: capi/op.cpp
#include "test.h"

/* ---- square_plus(x, c) = x * x + c, by a decomposition ---- */

static thunder_status *square_plus(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_add(s, th_mul(s, x, x), th_f64(s, thunder_values_f64(in, 1))));
    return NULL;
}

static thunder_op_desc by_decomposition(void)
{
    thunder_op_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.schema = "mine.square_plus(tensor x, float c=1.0) -> tensor";
    d.doc = "x * x + c.";
    d.decompose = square_plus;
    d.flags = THUNDER_OP_INPLACE;
    return d;
}

/* ---- halves(x) -> (x / 2, x / 2 rounded down), by a meta function, a kernel and a vjp ---- */

struct counts { int metas, runs, vjps, destroyed; };

static void count_destroyed(void *user) { ((struct counts *)user)->destroyed++; }

static thunder_status *halves_meta(const thunder_node *node, thunder_types *results, void *user)
{
    thunder_any way;
    const thunder_tensor *x = thunder_node_input(node, 0);
    const int64_t shape[] = { thunder_tensor_size(x, 0) };
    ((struct counts *)user)->metas++;
    CHECK(!strcmp(thunder_node_op(node), "halves") && thunder_node_input_count(node) == 1);
    CHECK(thunder_node_arg_count(node) == 2 && !strcmp(thunder_node_arg_name(node, 1), "scale"));
    CHECK(!*thunder_node_arg_name(node, 2) && thunder_node_output_count(node) == 0);
    thunder_status *st = thunder_node_arg(node, "scale", &way);
    if (st) return st;
    if (way.u.f <= 0) return thunder_status_create(THUNDER_INVALID_ARGUMENT, "scale must be positive", 22);
    thunder_types_push_like(results, x);
    thunder_types_push(results, THUNDER_F32, THUNDER_CPU, thunder_tensor_rank(x), shape);
    return NULL;
}

struct work { const float *x; float *half, *whole; float scale; };
static thunder_status *part(int64_t begin, int64_t end, void *arg)
{
    const struct work *w = arg;
    for (int64_t i = begin; i < end; i++) {
        w->half[i] = w->x[i] * w->scale / 2;
        w->whole[i] = (float)(int)w->half[i];
    }
    return NULL;
}
static thunder_status *halves_run(const thunder_launch *launch, const thunder_any *args, void *user)
{
    struct work w = { launch->inputs[0].data, launch->outputs[0].data, launch->outputs[1].data, (float)args[1].u.f };
    CHECK(args[0].kind == THUNDER_NONE && args[1].kind == THUNDER_FLOAT && launch->n_inputs == 1 && launch->n_outputs == 2);
    CHECK(launch->inputs[0].shape[0] < 2 || launch->inputs[0].strides[0] == 1);
    ((struct counts *)user)->runs++;
    if (launch->inputs[0].shape[0] && w.x[0] == 666) return thunder_status_create(THUNDER_BACKEND, "the number of the beast", 23);
    return launch->parallel_for(launch, launch->inputs[0].shape[0], 1, part, &w);
}

/* d/dx (x * scale / 2) = scale / 2; the second result is flat. */
static thunder_status *halves_vjp(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    ((struct counts *)user)->vjps++;
    CHECK(!strcmp(thunder_values_structure(in), "[*,*],[*,*],[*,*],[*,*]"));
    thunder_tensor *cotangent = thunder_values_tensor(in, thunder_values_find(in, "2.0"));
    CHECK(thunder_values_i64(in, thunder_values_find(in, "3.0")) == 1 && thunder_values_i64(in, thunder_values_find(in, "3.1")) == 0);
    thunder_values_push_tensor(out, th_mul(s, cotangent, th_f64(s, thunder_values_f64(in, 1) / 2)));
    return NULL;
}

static thunder_op_desc by_meta(struct counts *counts)
{
    thunder_op_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.schema = "halves(tensor x, float scale=1.0) -> (tensor, tensor)";
    d.doc = "x * scale / 2, and that without its fraction.";
    d.meta = halves_meta;
    d.vjp = halves_vjp;
    d.user = counts;
    d.destroy = count_destroyed;
    return d;
}

static thunder_kernel_desc kernel(struct counts *counts)
{
    thunder_kernel_desc k;
    memset(&k, 0, sizeof k);
    k.size = sizeof k;
    k.run = halves_run;
    k.user = counts;
    k.destroy = count_destroyed;
    return k;
}

/* ---- calling them ---- */

/* d/dx of sum(square_plus(x, 3) * first half of x). */
static thunder_status *step(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0), *halves[2];
    const thunder_any plus[] = { thunder_any_tensor(x), thunder_any_f64(3) }, half[] = { thunder_any_tensor(x) };
    thunder_tensor *y = thunder_op_invoke(s, "mine.square_plus", plus, 2, NULL, NULL, 0, "user.c:7");
    thunder_op_invoke(s, "halves", half, 1, NULL, halves, 2, "user.c:8");
    thunder_tensor *loss = th_sum(s, th_mul(s, y, halves[0]));
    thunder_values_push_tensor(out, loss);
    thunder_values_push_tensor(out, halves[1]);
    thunder_values_push_tensor(out, thunder_values_tensor(thunder_scope_grad(s, loss, thunder_scope_list(s, &x, 1)), 0));
    return NULL;
}

static void check_results(thunder_tensor *const *y)
{
    float loss, whole[3], grad[3];
    OK(thunder_tensor_read(y[0], &loss, sizeof loss));
    OK(thunder_tensor_read(y[1], whole, sizeof whole));
    OK(thunder_tensor_read(y[2], grad, sizeof grad));
    /* x = 1, 2, 4: (x^2 + 3) x / 2 = 2, 7, 38; its derivative (3 x^2 + 3) / 2. */
    CHECK(loss == 47 && whole[0] == 0 && whole[1] == 1 && whole[2] == 2);
    CHECK(grad[0] == 3 && grad[1] == 7.5f && grad[2] == 25.5f);
}

static void in_programs(thunder_context *context, struct counts *counts)
{
    const int64_t shape[] = { 3 };
    const float data[] = { 1, 2, 4 };
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_trace *t = NULL, *again = NULL;
    thunder_options *o = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *y[3] = { NULL, NULL, NULL };
    OK(thunder_options_create(context, &o));
    thunder_options_set_bool(o, "verify", 1);
    OK(thunder_function_create(context, "step", step, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, y, 3));
    check_results(y);
    CHECK(counts->runs == 1 && counts->vjps == 1);
    for (size_t i = 0; i < thunder_compiled_trace_count(c); i++) { /* every stage prints and is read back */
        OK(thunder_compiled_trace(c, i, &t));
        const char *text = thunder_trace_text(t);
        CHECK(strstr(text, "halves(i[1]") && (i > 0 || strstr(text, "mine.square_plus(i[1], 0x1.8p+1)")));
        CHECK(i > 0 || strstr(text, "at user.c:7"));
        OK(thunder_trace_parse(context, text, strlen(text), &again));
        thunder_trace_release(t);
        thunder_trace_release(again);
    }
    for (int i = 0; i < 3; i++) thunder_tensor_release(y[i]);
    OK(thunder_tensor_write(x, (const float[]){ 666, 2, 4 }, sizeof data));
    REFUSED(thunder_compiled_call_tensors(c, &x, 1, y, 3), THUNDER_BACKEND, "halves: its kernel: the number of the beast [at user.c:8, run by executor 'host']");
    thunder_tensor_release(x);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
}

static void eagerly(thunder_context *context)
{
    const int64_t shape[] = { 3 }, steps[] = { 2 };
    float data[] = { 1, 9, 2, 9, 4 };
    thunder_scope *s = NULL;
    thunder_tensor *x = NULL;
    thunder_values *in = NULL, *out = NULL;
    OK(thunder_tensor_borrow(context, THUNDER_F32, 1, shape, steps, 0, data, sizeof data, NULL, NULL, &x));
    OK(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &s));
    OK(thunder_values_create(context, &in));
    OK(thunder_values_create(context, &out));
    thunder_values_push_tensor(in, x);
    OK(step(s, in, out, NULL));
    OK(thunder_scope_status(s));
    thunder_tensor *y[] = { thunder_values_tensor(out, 0), thunder_values_tensor(out, 1), thunder_values_tensor(out, 2) };
    check_results(y); /* the kernel got x's elements side by side */

    thunder_any wrong[] = { thunder_any_tensor(x), thunder_any_f64(-1) };
    thunder_op_invoke(s, "halves", wrong, 2, NULL, NULL, 0, "user.c:9");
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "halves: its meta: scale must be positive [at user.c:9]");
    thunder_scope_reset(s);
    wrong[0] = thunder_any_f64(1);
    thunder_op_invoke(s, "halves", wrong, 1, NULL, NULL, 0, NULL);
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "halves: argument 'x' must be a tensor, got the float 1");
    thunder_scope_reset(s);
    data[0] = 666;
    wrong[0] = thunder_any_tensor(x);
    thunder_op_invoke(s, "halves", wrong, 1, NULL, NULL, 0, "user.c:10");
    REFUSED(thunder_scope_status(s), THUNDER_BACKEND, "halves: its kernel: the number of the beast [at user.c:10]");
    thunder_scope_reset(s);

    /* In place, as its flag allows: x = x * x + 1. */
    data[0] = 1;
    thunder_op_invoke(s, "mine.square_plus_", wrong, 1, NULL, NULL, 0, NULL);
    OK(thunder_scope_status(s));
    CHECK(data[0] == 2 && data[2] == 5 && data[4] == 17 && data[1] == 9);
    thunder_values_release(in);
    thunder_values_release(out);
    thunder_scope_release(s);
    thunder_tensor_release(x);
}

/* An elementwise op of constants runs with the program, on what its line says, and not while compiling. */
static thunder_status *like_input(const thunder_node *node, thunder_types *results, void *user)
{
    (void)user;
    thunder_types_push_like(results, thunder_node_input(node, 0));
    return NULL;
}
static thunder_status *twice(const thunder_launch *launch, const thunder_any *args, void *user)
{
    (void)args;
    ++*(int *)user;
    CHECK(launch->inputs[0].rank == 1 && launch->inputs[0].shape[0] == 3 && launch->outputs[0].rank == 1);
    for (int i = 0; i < 3; i++) ((float *)launch->outputs[0].data)[i] = 2 * ((const float *)launch->inputs[0].data)[i];
    return NULL;
}
static thunder_status *plus_twice_one(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    const thunder_dim shape[] = { 3 };
    const thunder_any ones = thunder_any_tensor(th_ones(s, shape, 1));
    (void)user;
    thunder_values_push_tensor(out, th_add(s, thunder_values_tensor(in, 0), thunder_op_invoke(s, "twice", &ones, 1, NULL, NULL, 0, NULL)));
    return NULL;
}
static void of_constants(thunder_context *context)
{
    const int64_t shape[] = { 3 };
    const float data[] = { 1, 2, 4 };
    float r[3];
    static int runs;
    thunder_op_desc d = by_decomposition();
    thunder_kernel_desc k;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *y = NULL;
    memset(&k, 0, sizeof k);
    d.schema = "twice(tensor x) -> tensor", d.decompose = NULL, d.meta = like_input, d.flags = THUNDER_OP_ELEMENTWISE;
    k.size = sizeof k, k.run = twice, k.user = &runs;
    OK(thunder_context_add_op(context, &d));
    OK(thunder_context_add_kernel(context, "twice", &k));
    OK(thunder_function_create(context, "plus_twice_one", plus_twice_one, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    for (int i = 0; i < 2; i++) {
        OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
        OK(thunder_tensor_read(y, r, sizeof r));
        CHECK(r[0] == 3 && r[1] == 4 && r[2] == 6 && runs == 1); /* it depends on nothing: once is enough */
        thunder_tensor_release(y);
    }
    thunder_tensor_release(x);
    thunder_compiled_release(c);
    thunder_function_release(f);
}

static void is_listed(thunder_context *context)
{
    thunder_values *v = NULL;
    OK(thunder_values_create(context, &v));
    OK(thunder_context_describe(context, "ops", v));
    CHECK(strstr(thunder_values_str(v, 0, NULL), "mine.square_plus(tensor x, float c=1.0)"));
    thunder_values_release(v);
}

int main(void)
{
    struct counts counts = { 0, 0, 0, 0 };
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    thunder_op_desc d = by_decomposition(), m = by_meta(&counts);
    thunder_kernel_desc k = kernel(&counts);
    OK(thunder_context_add_op(context, &d));
    OK(thunder_context_add_op(context, &m));
    OK(thunder_context_add_kernel(context, "halves", &k));
    in_programs(context, &counts);
    eagerly(context);
    is_listed(context);
    of_constants(context);
    CHECK(counts.destroyed == 0);
    thunder_context_release(context);
    CHECK(counts.destroyed == 2); /* the op and its kernel */
    return 0;
}
