/* calls.c: what a call from C costs the host, in microseconds: a + b on 16 floats of the first GPU, op by op and compiled, and 64 dependent
 * kernels step by step and as a CUDA graph. Calls in a row, and, "alone", the median of calls before each of which the device was
 * waited for. cc -O2 calls.c -Iinclude -Llib -lthunder. graph_launch.cpp shows what the driver takes of it. */
#include <stdio.h>
#include <stdlib.h>
#include <thunder.h>
#include <thunder/ops.h>
#include <time.h>

static thunder_context *context;

static void check(thunder_status *status)
{
    if (!status) return;
    fprintf(stderr, "calls: %s\n", thunder_status_message(status));
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static thunder_status *add(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_add(s, thunder_values_tensor(in, 0), thunder_values_tensor(in, 1)));
    return NULL;
}

static thunder_status *chain(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    for (int i = 0; i < 64; i++) x = th_softmax(s, th_mul(s, x, thunder_values_tensor(in, 1)), 0);
    thunder_values_push_tensor(out, x);
    return NULL;
}

typedef struct work {
    thunder_compiled *compiled; /* NULL: a + b op by op in the scope */
    thunder_scope *scope;
    thunder_tensor *in[2];
} work;

static void run(const work *w)
{
    if (!w->compiled) {
        (void)th_add(w->scope, w->in[0], w->in[1]);
        thunder_scope_reset(w->scope);
        return;
    }
    thunder_tensor *out = NULL;
    check(thunder_compiled_call_tensors(w->compiled, (thunder_tensor *const *)w->in, 2, &out, 1));
    thunder_tensor_release(out);
}

static void time_calls(const char *name, const work *w)
{
    enum { ROW = 2000, ALONE = 300 };
    static double alone[ALONE];
    for (int i = 0; i < 50; i++) run(w);
    check(thunder_context_synchronize(context, THUNDER_CUDA(0)));
    const double start = now_us();
    for (int i = 0; i < ROW; i++) run(w);
    const double in_a_row = (now_us() - start) / ROW;
    for (int i = 0; i < ALONE; i++) {
        check(thunder_context_synchronize(context, THUNDER_CUDA(0)));
        const double begin = now_us();
        run(w);
        alone[i] = now_us() - begin;
    }
    qsort(alone, ALONE, sizeof *alone, by_value);
    printf("%-28s %8.2f us in a row %8.2f us alone\n", name, in_a_row, alone[ALONE / 2]);
}

static thunder_compiled *compile(const char *name, thunder_fn fn, const char *mode)
{
    thunder_function *function = NULL;
    thunder_options *options = NULL;
    thunder_compiled *compiled = NULL;
    check(thunder_function_create(context, name, fn, NULL, NULL, &function));
    check(thunder_options_create(context, &options));
    thunder_options_set_str(options, "mode", mode);
    check(thunder_compile(function, options, &compiled));
    thunder_options_release(options);
    thunder_function_release(function);
    return compiled;
}

int main(void)
{
    check(thunder_context_create(NULL, &context));
    float data[16];
    const int64_t shape[] = {16};
    work w = {NULL, NULL, {NULL, NULL}};
    for (int i = 0; i < 16; i++) data[i] = 1.0F + (float)i / 16;
    for (int i = 0; i < 2; i++) check(thunder_tensor_create(context, THUNDER_F32, 1, shape, THUNDER_CUDA(0), data, sizeof data, &w.in[i]));
    check(thunder_scope_create(context, 0, &w.scope));
    time_calls("a + b, op by op", &w);
    static const struct {
        const char *name;
        thunder_fn fn;
        const char *mode;
    } rows[] = {{"a + b, compiled", add, "default"}, {"a + b, graph", add, "reduce-overhead"},
                {"64 kernels, compiled", chain, "default"}, {"64 kernels, graph", chain, "reduce-overhead"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        w.compiled = compile(rows[i].name, rows[i].fn, rows[i].mode);
        time_calls(rows[i].name, &w);
        thunder_compiled_release(w.compiled);
    }
    thunder_scope_release(w.scope);
    for (int i = 0; i < 2; i++) thunder_tensor_release(w.in[i]);
    thunder_context_release(context);
    return 0;
}
