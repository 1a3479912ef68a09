/* A function that reads values while it runs: data through the proxy, and where it broke. */
// covers: capi/segments.cpp
#include "test.h"

static int reads, runs, refuses;
static thunder_tensor *kept; /* a proxy, beyond its function */

static thunder_status *halved(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    runs++;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    const thunder_any half = { .kind = THUNDER_FLOAT, .u = { .f = 0.5 } };
    for (;;) {
        thunder_tensor *total = th_sum(s, x);
        float value = 0;
        if (refuses) {
            int32_t concrete = 1;
            OK(thunder_tensor_materialize(total, NULL, &concrete));
            CHECK(!concrete && !thunder_tensor_is_concrete(total));
            kept = thunder_tensor_retain(total);
            REFUSED(thunder_tensor_read(total, &value, sizeof value), THUNDER_PROXY_HAS_NO_DATA, "fullgraph = false");
            break;
        }
        int32_t concrete = 0;
        OK(thunder_tensor_materialize(total, "here.c:7", &concrete));
        CHECK(concrete && thunder_tensor_is_concrete(total) && thunder_tensor_nbytes(total) == sizeof value);
        OK(thunder_tensor_read(total, &value, sizeof value));
        reads++;
        if (value < 1) break;
        x = th_mul(s, x, thunder_scope_number(s, &half));
    }
    thunder_values_push_tensor(out, x);
    return NULL;
}

int main(void)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 5, 11 };
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL, *whole = NULL;
    thunder_options *options = NULL;
    OK(thunder_context_create(NULL, &context));
    OK(thunder_function_create(context, "halved", halved, NULL, NULL, &f));
    OK(thunder_options_create(context, &options));
    const thunder_any no = { .kind = THUNDER_BOOLEAN, .u = { .i = 0 } };
    thunder_options_set(options, "fullgraph", &no);
    OK(thunder_compile(f, options, &c));
    CHECK(!*thunder_compiled_breaks_report(c) && !strcmp(thunder_compiled_graph_breaks(c), "[]"));
    thunder_tensor *x = test_f32(context, 1, shape, data);
    thunder_statistics stats = { .size = sizeof stats };
    uint64_t compiled = 0;
    for (int call = 0; call < 3; call++) {
        thunder_tensor *y = NULL;
        float got[2] = { 0 };
        OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
        OK(thunder_tensor_read(y, got, sizeof got));
        CHECK(got[0] == 5.0f / 32 && got[1] == 11.0f / 32);
        thunder_tensor_release(y);
        OK(thunder_compiled_statistics(c, &stats));
        CHECK(!compiled || compiled == stats.misses);
        compiled = stats.misses;
    }
    CHECK(runs == 3 && reads == 3 * 6 && stats.calls == 3 && stats.segments == compiled && stats.graph_breaks >= 1);
    CHECK(strstr(thunder_compiled_breaks_report(c), "here.c:7: the value of sum, f32[], was read, after"));
    CHECK(strstr(thunder_compiled_graph_breaks(c), "\"where\":\"here.c:7\",\"reason\":\"the value of sum, f32[], was read\",\"lines\":"));

    refuses = 1;
    OK(thunder_compile(f, NULL, &whole));
    thunder_tensor *y = NULL;
    OK(thunder_compiled_call_tensors(whole, &x, 1, &y, 1));
    thunder_tensor_release(y);
    int32_t concrete = 0;
    REFUSED(thunder_tensor_materialize(kept, NULL, &concrete), THUNDER_EXPIRED, "after the function that it belongs to");
    thunder_tensor_release(kept);
    OK(thunder_tensor_materialize(x, NULL, &concrete));
    CHECK(concrete);
    REFUSED(thunder_tensor_materialize(NULL, NULL, &concrete), THUNDER_INVALID_ARGUMENT, "tensor");
    CHECK(!*thunder_compiled_breaks_report(NULL) && !*thunder_compiled_graph_breaks(NULL));

    thunder_tensor_release(x);
    thunder_options_release(options);
    thunder_compiled_release(whole);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_context_release(context);
    return 0;
}
