/* A compiled function: calls, cache, guards, bound results, traces, statistics, and a gradient as a function. */
// covers: capi/compiled.cpp
#include <thunder/devices.h> /* alone and first: it brings thunder.h */
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

static void stances(thunder_context *context, thunder_function *f)
{
    const int64_t two = 2;
    const float data[] = { 1, 2 };
    thunder_compiled *c = NULL;
    thunder_values *in = NULL, *out = NULL;
    thunder_statistics stats = { .size = sizeof stats };
    thunder_tensor *x = test_f32(context, 1, &two, data);
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_values_create(context, &in));
    OK(thunder_values_create(context, &out));
    CHECK(!strcmp(thunder_context_stance(context), "default") && !*thunder_context_stance(NULL));
    OK(thunder_context_set_stance(context, "fail_on_recompile"));
    thunder_values_push_tensor(in, x);
    REFUSED(thunder_compiled_call(c, NULL, in, out), THUNDER_FAILED_PRECONDITION, "the stance is fail_on_recompile");
    REFUSED(thunder_context_set_stance(context, "default_"), THUNDER_INVALID_ARGUMENT, "did you mean 'default'?");
    CHECK(!strcmp(thunder_context_stance(context), "fail_on_recompile"));
    OK(thunder_context_set_stance(context, "default"));
    OK(thunder_compiled_statistics(c, &stats));
    CHECK(stats.misses == 0 && stats.eager_calls == 0);
    thunder_tensor_release(x);
    thunder_values_release(in);
    thunder_values_release(out);
    thunder_compiled_release(c);
}

static void default_executors(thunder_context *context, thunder_function *f)
{
    const int64_t two = 2;
    const float data[] = { 1, 2 };
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, &two, data), *in[] = { x, x }, *y = NULL;
    REFUSED(thunder_context_set_default_executors(context, "hots"), THUNDER_NOT_FOUND, "did you mean 'host'?");
    OK(thunder_context_set_default_executors(context, "host"));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_compiled_call_tensors(c, in, 2, &y, 1));
    const char *text = NULL;
    OK(thunder_compiled_explain(c, "claim", &text));
    CHECK(strstr(text, "by host") && !strstr(text, "by fusion"));
    OK(thunder_context_set_default_executors(context, NULL));
    thunder_tensor_release(y);
    thunder_tensor_release(x);
    thunder_compiled_release(c);
}

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
    CHECK(strcmp(thunder_compiled_function_name(c), "scaled_sum") == 0 && strcmp(thunder_compiled_function_name(NULL), "") == 0);
    CHECK(traced == 2 && strstr(thunder_compiled_last_miss(c), "4") && strstr(thunder_compiled_last_miss(c), "5"));
    /* Lines with reasons, or none: one kernel, or a machine that compiles none. */
    CHECK(!*thunder_compiled_loops_report(c) || strstr(thunder_compiled_loops_report(c), "after order:\n"));
    CHECK(!*thunder_compiled_fusion_report(c) || strstr(thunder_compiled_fusion_report(c), " is not fused with "));
    const char *text = NULL;
    OK(thunder_compiled_explain(c, "claim", &text));
    CHECK(strstr(text, "after claim") && strstr(text, " by "));
    OK(thunder_compiled_explain(c, "stages", &text));
    CHECK(strstr(text, "descend: "));
    thunder_status *unknown = thunder_compiled_explain(c, "clam", &text);
    CHECK(unknown && strstr(thunder_status_message(unknown), "did you mean 'claim'"));
    thunder_status_release(unknown);

    thunder_statistics stats;
    stats.size = sizeof stats;
    OK(thunder_compiled_statistics(c, &stats));
    CHECK(stats.calls == 4 && stats.hits == 2 && stats.misses == 2 && stats.entries == 2 && stats.trace_ns > 0);
    struct { size_t size; uint64_t calls, beyond; } older = { 16, 0, 99 };
    OK(thunder_compiled_statistics(c, (thunder_statistics *)&older));
    CHECK(older.calls == 4 && older.beyond == 99); /* no more than it has room for */

    stances(context, f);
    default_executors(context, f);

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

/* Results go where they are bound to, and nowhere new; unbound, they are fresh again. */
static void bound_results(thunder_context *context)
{
    const int64_t shape[] = { 2 }, wrong[] = { 3 };
    const float data[] = { 3, 4 }, zero[] = { 0, 0, 0 };
    float r = 0;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_options *o = NULL;
    thunder_stream *stream = NULL;
    thunder_values *in = NULL, *out = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *mine = test_f32(context, 0, NULL, zero);
    thunder_tensor *unfit = test_f32(context, 1, wrong, zero);
    OK(thunder_options_create(context, &o));
    thunder_options_set_bool(o, "verify", 1);
    OK(thunder_function_create(context, "square", square, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    OK(thunder_values_create(context, &in));
    OK(thunder_values_create(context, &out));
    OK(thunder_stream_create(context, THUNDER_CPU, NULL, &stream));
    thunder_values_push_tensor(in, x);
    thunder_values_bind(out, 0, mine);
    OK(thunder_compiled_call(c, stream, in, out));
    OK(thunder_stream_wait(stream));
    CHECK(thunder_values_tensor(out, 0) == mine);
    OK(thunder_tensor_read(mine, &r, sizeof r));
    CHECK(r == 25);
    thunder_values_bind(out, 0, NULL);
    OK(thunder_compiled_call(c, NULL, in, out));
    CHECK(thunder_values_tensor(out, 0) != mine);
    thunder_values_bind(out, 0, unfit);
    thunder_status *refused = thunder_compiled_call(c, NULL, in, out);
    CHECK(refused && strstr(thunder_status_message(refused), "[3]"));
    thunder_status_release(refused);
    thunder_stream_release(stream);
    stream = NULL;
    REFUSED(thunder_stream_create(context, THUNDER_CUDA(97), NULL, &stream), THUNDER_UNIMPLEMENTED, "cuda:97");
    REFUSED(thunder_stream_create(context, THUNDER_CPU, &r, &stream), THUNDER_INVALID_ARGUMENT, "native must be NULL");
    CHECK(stream == NULL);
    thunder_values_release(in);
    thunder_values_release(out);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_tensor_release(unfit);
    thunder_tensor_release(mine);
    thunder_tensor_release(x);
}

static void heed(int32_t level, const char *component, const char *text, size_t bytes, void *user)
{
    CHECK(level >= 0 && level <= 3 && *component && bytes == strlen(text));
    if (level == 2 && strstr(text, "recompile_limit")) ++*(int *)user;
}

/* Past the limit a function still runs: one warning to the host's log, or an error where one was asked for. */
static void recompile_limit(void)
{
    int warnings = 0;
    const float data[] = { 1, 2, 3, 4 };
    thunder_hooks hooks;
    memset(&hooks, 0, sizeof hooks);
    hooks.size = sizeof hooks;
    hooks.user = &warnings;
    hooks.log = heed;
    for (int strict = 0; strict < 2; strict++) {
        thunder_context *context = NULL;
        thunder_options *o = NULL;
        thunder_function *f = NULL;
        thunder_compiled *c = NULL;
        thunder_status *refused = NULL;
        OK(thunder_context_create(&hooks, &context));
        OK(thunder_options_create(context, &o));
        thunder_options_set_i64(o, "recompile_limit", 2);
        thunder_options_set_bool(o, "dynamic", 0);
        thunder_options_set_bool(o, "fail_on_recompile_limit", strict);
        OK(thunder_function_create(context, "square", square, NULL, NULL, &f));
        OK(thunder_compile(f, o, &c));
        for (int64_t n = 1; n <= 4 && !refused; n++) {
            thunder_tensor *x = test_f32(context, 1, &n, data), *y = NULL;
            refused = thunder_compiled_call_tensors(c, &x, 1, &y, 1);
            CHECK((refused != NULL) == (strict && n == 3));
            thunder_tensor_release(x);
            thunder_tensor_release(y);
        }
        CHECK(!strict || strstr(thunder_status_message(refused), "recompile_limit"));
        CHECK(warnings == 1);
        thunder_status_release(refused);
        thunder_compiled_release(c);
        thunder_function_release(f);
        thunder_options_release(o);
        thunder_context_release(context);
    }
}

/* A handle that was retained lives on when the first owner lets go, whatever the order. */
static void retained_handles(void)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 1, 2 };
    float r = 0;
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_values *v = NULL;
    OK(thunder_context_create(NULL, &context));
    thunder_context *context2 = thunder_context_retain(context);
    thunder_context_release(context);
    thunder_tensor *x = test_f32(context2, 1, shape, data), *y = NULL;
    OK(thunder_values_create(context2, &v));
    thunder_values *v2 = thunder_values_retain(v);
    thunder_values_push_tensor(v, x);
    thunder_values_release(v);
    CHECK(thunder_values_count(v2) == 1);
    OK(thunder_function_create(context2, "square", square, NULL, NULL, &f));
    thunder_function *f2 = thunder_function_retain(f);
    thunder_function_release(f);
    OK(thunder_compile(f2, NULL, &c));
    thunder_compiled *c2 = thunder_compiled_retain(c);
    thunder_compiled_release(c);
    thunder_function_release(f2);
    thunder_context_release(context2);
    OK(thunder_compiled_call_tensors(c2, &x, 1, &y, 1));
    OK(thunder_tensor_read(y, &r, sizeof r));
    CHECK(r == 5);
    thunder_compiled_release(c2);
    thunder_values_release(v2);
    thunder_tensor_release(y);
    thunder_tensor_release(x);
}

static thunder_status *weighted(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *w = *(thunder_tensor **)user;
    thunder_values_push_tensor(out, th_matmul(s, thunder_values_tensor(in, 0), th_exp(s, w)));
    return NULL;
}

/* What depends on a frozen tensor is kept until that tensor is written; a product that was timed gives what others give. */
static void frozen_and_tuned(thunder_context *context)
{
    const int64_t shape[] = { 1, 1 };
    const float two = 2, values[] = { 0, 1, 3 }, expected[] = { 2, 5.436564f, 40.171074f };
    float r = 0;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 2, shape, &two), *w = test_f32(context, 2, shape, values), *y = NULL;
    OK(thunder_options_create(context, &o));
    thunder_options_set_bool(o, "freezing", 1);
    thunder_options_set_bool(o, "max_autotune", 1);
    OK(thunder_function_create(context, "weighted", weighted, &w, NULL, &f));
    OK(thunder_compile(f, o, &c));
    for (int i = 0; i < 6; i++) {
        OK(thunder_tensor_write(w, &values[i / 2], sizeof values[0]));
        OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
        OK(thunder_tensor_read(y, &r, sizeof r));
        CHECK(r > 0.9999f * expected[i / 2] && r < 1.0001f * expected[i / 2]);
        thunder_tensor_release(y);
    }
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_options_release(o);
    thunder_tensor_release(w);
    thunder_tensor_release(x);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    calls(context);
    gradients(context);
    bound_results(context);
    retained_handles();
    recompile_limit();
    frozen_and_tuned(context);
    thunder_context_release(context);
    return 0;
}
