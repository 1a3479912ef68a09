/* Engines of others: a sum in each that is here, in one process beside our own compiler; those that are not say where they were looked for. */
#include "test.h"

static thunder_status *sum(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_add(s, thunder_values_tensor(in, 0), thunder_values_tensor(in, 1)));
    return NULL;
}

static void run(thunder_context *context, const char *backend, const char *library)
{
    thunder_options *options = NULL;
    thunder_function *f = NULL;
    thunder_compiled *compiled = NULL;
    OK(thunder_options_create(context, &options));
    thunder_options_set_str(options, "backend", backend);
    OK(thunder_function_create(context, "sum", sum, NULL, NULL, &f));
    OK(thunder_compile(f, options, &compiled));
    thunder_tensor *in[2] = { test_f32(context, 1, (const int64_t[]){ 2 }, (const float[]){ 1, 2 }),
        test_f32(context, 1, (const int64_t[]){ 2 }, (const float[]){ 3, 5 }) };
    thunder_tensor *out = NULL;
    thunder_status *failed = thunder_compiled_call_tensors(compiled, in, 2, &out, 1);
    if (failed && library) {
        CHECK(strstr(thunder_status_message(failed), "is not available here: none of ") != NULL);
        CHECK(strstr(thunder_status_message(failed), library) != NULL);
        thunder_status_release(failed);
    } else {
        OK(failed);
        float y[2];
        OK(thunder_tensor_read(out, y, sizeof y));
        CHECK(y[0] == 4 && y[1] == 7);
        const char *loops = NULL;
        OK(thunder_compiled_explain(compiled, "claim", &loops));
        CHECK(!library || strstr(loops, backend) != NULL);
        thunder_tensor_release(out);
    }
    thunder_tensor_release(in[0]);
    thunder_tensor_release(in[1]);
    thunder_compiled_release(compiled);
    thunder_function_release(f);
    thunder_options_release(options);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    for (int twice = 0; twice < 2; twice++) {
        run(context, "onnxrt", "libonnxruntime.so");
        run(context, "openxla", "xla_cpu_pjrt.so");
        run(context, "tvm", "THUNDER_TVM_PYTHON");
        run(context, "thunder", NULL);
    }
    thunder_context_release(context);
    return 0;
}
