/* Threads and memory: how many, whose, and what is kept. */
// covers: capi/resources.cpp
#include "test.h"

struct counts { int parts, destroyed; };

static void run_all(size_t parts, void (*part)(size_t index, void *arg), void *arg, void *user)
{
    for (size_t i = 0; i < parts; i++) {
        ((struct counts *)user)->parts++;
        part(i, arg);
    }
}
static void destroy(void *user) { ((struct counts *)user)->destroyed++; }

static thunder_status *first_part_only(int64_t begin, int64_t end, void *arg)
{
    (void)end, (void)arg;
    return begin == 0 ? NULL : thunder_status_create(THUNDER_BACKEND, "another part", 12);
}
static thunder_status *prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    (void)node, (void)out_state, (void)out_scratch_bytes, (void)user;
    return NULL;
}
static thunder_status *run(const thunder_launch *launch, void *state)
{
    (void)state;
    return launch->parallel_for(launch, 1000, 1, first_part_only, NULL);
}

static thunder_status *negate(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_neg(s, thunder_values_tensor(in, 0)));
    return NULL;
}

static thunder_compiled *compiled(thunder_context *context)
{
    static const char *const ops[] = { "prims.neg" };
    thunder_executor_desc d;
    thunder_executor *e = NULL;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.name = "loops";
    d.ops = ops;
    d.n_ops = 1;
    d.prepare = prepare;
    d.run = run;
    OK(thunder_executor_create(context, &d, &e));
    OK(thunder_options_create(context, &o));
    thunder_options_add_executor(o, e);
    OK(thunder_function_create(context, "negate", negate, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    thunder_function_release(f);
    thunder_options_release(o);
    thunder_executor_release(e);
    return c;
}

static void threads(thunder_context *context)
{
    struct counts counts = { 0, 0 };
    const int64_t shape[] = { 1 };
    const float one = 1;
    thunder_tensor *x = test_f32(context, 1, shape, &one), *y = NULL;
    thunder_compiled *c = compiled(context);
    thunder_thread_pool pool = { sizeof pool, 4, run_all, &counts, destroy };
    OK(thunder_context_set_thread_pool(context, &pool));
    REFUSED(thunder_compiled_call_tensors(c, &x, 1, &y, 1), THUNDER_BACKEND, "another part"); /* the body's own failure */
    CHECK(counts.parts == 4);
    OK(thunder_context_set_num_threads(context, 1)); /* the library's again */
    CHECK(counts.destroyed == 1);
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    CHECK(counts.parts == 4);
    thunder_tensor_release(y);
    OK(thunder_context_set_num_threads(context, 2));
    REFUSED(thunder_compiled_call_tensors(c, &x, 1, &y, 1), THUNDER_BACKEND, "another part");
    pool.threads = 0;
    REFUSED(thunder_context_set_thread_pool(context, &pool), THUNDER_INVALID_ARGUMENT, "no threads");
    CHECK(counts.destroyed == 2);
    OK(thunder_context_set_thread_pool(context, NULL));
    thunder_compiled_release(c);
    thunder_tensor_release(x);
}

static int says(thunder_context *context, const char *what, const char *wanted)
{
    thunder_values *out = NULL;
    OK(thunder_values_create(context, &out));
    OK(thunder_context_describe(context, what, out));
    const int found = strstr(thunder_values_str(out, 0, NULL), wanted) != NULL;
    thunder_values_release(out);
    return found;
}

/* Executors plan for the threads that the context has now. */
static void machine(thunder_context *context)
{
    OK(thunder_context_set_num_threads(context, 3));
    CHECK(says(context, "machine", "\"threads\":\"3\"") && says(context, "machine", "\"line_bytes\":"));
    REFUSED(thunder_context_set_num_threads(context, 1000000), THUNDER_INVALID_ARGUMENT, "at most 1024, got 1000000");
    CHECK(says(context, "machine", "\"threads\":\"3\""));
    OK(thunder_context_set_num_threads(context, 0));
    CHECK(says(context, "machine", "\"instructions\":"));
}

static void memory(thunder_context *context)
{
    static float data[4096];
    const int64_t shape[] = { 4096 };
    for (int i = 0; i < 3; i++) thunder_tensor_release(test_f32(context, 1, shape, data));
    CHECK(says(context, "memory", "\"hits\":\"2\"") && !says(context, "memory", "\"kept_bytes\":\"0\""));
    OK(thunder_context_set_memory_cache(context, 0));
    CHECK(says(context, "memory", "\"kept_bytes\":\"0\""));
    thunder_tensor_release(test_f32(context, 1, shape, data));
    CHECK(says(context, "memory", "\"kept_bytes\":\"0\""));
}

static thunder_status *square_twice(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *x = thunder_values_tensor(in, 0), *y = th_exp(s, x);
    (void)user;
    thunder_values_push_tensor(out, th_mul(s, y, y));
    return NULL;
}

/* What a call will need is known before there is one. */
static void report(thunder_context *context)
{
    const int64_t shape[] = { 3 };
    const float data[] = { 1, 2, 3 };
    thunder_tensor *x = test_f32(context, 1, shape, data);
    thunder_values *in = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_options *host = NULL;
    thunder_statistics stats;
    OK(thunder_values_create(context, &in));
    thunder_values_push_tensor(in, x);
    OK(thunder_function_create(context, "f", square_twice, NULL, NULL, &f));
    /* Line by line, so that there is something between the lines. */
    OK(thunder_options_create(context, &host));
    thunder_options_set_str(host, "executors", "host");
    OK(thunder_compile(f, host, &c));
    thunder_options_release(host);
    CHECK(!*thunder_compiled_memory_report(c));
    OK(thunder_compiled_prepare(c, in));
    stats.size = sizeof stats;
    OK(thunder_compiled_statistics(c, &stats));
    CHECK(stats.hits == 0 && stats.misses == 1 && stats.peak_arena_bytes == 64);
    CHECK(strstr(thunder_compiled_memory_report(c), "a call: 64 bytes at most"));
    CHECK(strstr(thunder_compiled_memory_report(c), "\narena 0 to 12: t[1], lines 1 to 2\n"));
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_values_release(in);
    thunder_tensor_release(x);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    machine(context);
    memory(context);
    report(context);
    threads(context);
    thunder_context_release(context);
    return 0;
}
