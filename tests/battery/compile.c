/* A compiled function: calls, cache, guards, bound results, traces, statistics, and a gradient as a function. */
#include "test.h"

static int traced;

static thunder_status *scaled_sum(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    traced++;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_sum(s, th_mul(s, x, thunder_values_tensor(in, 1)))); /* the number stays live */
    return NULL;
}

static thunder_status *square(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_sum(s, th_mul(s, x, x)));
    return NULL;
}

static void count_up(void *user) { ++*(int *)user; }

static void calls(thunder_context *context)
{
    const int64_t shape[] = { 4 }, longer[] = { 5 };
    const float data[] = { 1, 2, 3, 4, 5 };
    float r = 0;
    int ended = 0;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_values *in = NULL, *out = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *y = test_f32(context, 1, longer, data);
    OK(thunder_function_create(context, "scaled_sum", scaled_sum, &ended, count_up, &f));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_values_create(context, &in));
    OK(thunder_values_create(context, &out));
    CHECK(thunder_compiled_trace_count(c) == 0);
    for (int i = 1; i <= 3; i++) {
        const thunder_any factor = thunder_any_f64(i);
        thunder_values_reset(in);
        thunder_values_push_tensor(in, x);
        thunder_values_push(in, &factor);
        OK(thunder_compiled_call(c, NULL, in, out));
        OK(thunder_tensor_read(thunder_values_tensor(out, 0), &r, sizeof r));
        CHECK(r == 10 * (float)i);
    }
    CHECK(traced == 1);
    thunder_values_set_tensor(in, 0, y);
    OK(thunder_compiled_call(c, NULL, in, out));
    CHECK(traced == 2 && strstr(thunder_compiled_last_miss(c), "4") && strstr(thunder_compiled_last_miss(c), "5"));

    thunder_statistics stats;
    stats.size = sizeof stats;
    OK(thunder_compiled_statistics(c, &stats));
    CHECK(stats.calls == 4 && stats.hits == 2 && stats.misses == 2 && stats.entries == 2 && stats.trace_ns > 0);
    struct { size_t size; uint64_t calls, beyond; } older = { 16, 0, 99 };
    OK(thunder_compiled_statistics(c, (thunder_statistics *)&older));
    CHECK(older.calls == 4 && older.beyond == 99); /* no more than it has room for */

    thunder_trace *t = NULL;
    CHECK(thunder_compiled_trace_count(c) >= 2);
    OK(thunder_compiled_trace(c, 0, &t));
    CHECK(strstr(thunder_trace_text(t), "sum(") && strstr(thunder_trace_text(t), "compile.c:"));
    CHECK(thunder_trace_milliseconds(t) >= 0 && *thunder_trace_name(t));
    thunder_trace_release(t);
    REFUSED(thunder_compiled_trace(c, 99, &t), THUNDER_INVALID_ARGUMENT, "no stage 99");

    /* Release in any order: the compiled function keeps what it needs. */
    thunder_function_release(f);
    CHECK(ended == 0);
    thunder_compiled_release(c);
    CHECK(ended == 1);
    thunder_values_release(in);
    thunder_values_release(out);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
}

static void gradients(thunder_context *context)
{
    const int64_t shape[] = { 3 };
    const float data[] = { 1, 2, -3 };
    float loss = 0, grad[3];
    thunder_function *f = NULL, *g = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *out[2] = { NULL, NULL };
    OK(thunder_function_create(context, "square", square, NULL, NULL, &f));
    OK(thunder_function_value_and_grad(f, "0", NULL, &g));
    OK(thunder_compile(g, NULL, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, out, 2));
    OK(thunder_tensor_read(out[0], &loss, sizeof loss));
    OK(thunder_tensor_read(out[1], grad, sizeof grad));
    CHECK(loss == 14 && grad[0] == 2 && grad[1] == 4 && grad[2] == -6);

    /* The same function, eagerly. */
    thunder_scope *s = NULL;
    thunder_values *in = NULL;
    OK(thunder_scope_create(context, 0, &s));
    OK(thunder_values_create(context, &in));
    thunder_values_push_tensor(in, x);
    OK(thunder_tensor_read(thunder_values_tensor(thunder_function_apply(s, f, in), 0), &loss, sizeof loss));
    CHECK(loss == 14);
    thunder_values_release(in);
    thunder_scope_release(s);
    for (int i = 0; i < 2; i++) thunder_tensor_release(out[i]);
    thunder_compiled_release(c);
    thunder_function_release(g);
    thunder_function_release(f);
    thunder_tensor_release(x);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    calls(context);
    gradients(context);
    thunder_context_release(context);
    return 0;
}
