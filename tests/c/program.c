/* Traces as functions, and programs in files, without anything but the library. */
// covers: capi/program.cpp
#include "test.h"

static thunder_tensor *weight;

static thunder_status *body(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_softmax(s, th_matmul(s, thunder_values_tensor(in, 0), weight), -1));
    return NULL;
}

static void call(thunder_compiled *c, thunder_tensor *x, float *y)
{
    thunder_tensor *out = NULL;
    OK(thunder_compiled_call_tensors(c, &x, 1, &out, 1));
    OK(thunder_tensor_read(out, y, 6 * sizeof *y));
    thunder_tensor_release(out);
}

/* The first stage as a function, with the tensor that was captured or another one, and its gradient. */
static void from_trace(thunder_context *context, thunder_compiled *c, thunder_tensor *x, const float *wanted)
{
    thunder_trace *trace = NULL;
    thunder_function *f = NULL, *g = NULL;
    thunder_compiled *again = NULL;
    thunder_values *captured = NULL;
    float y[6];
    OK(thunder_compiled_trace(c, 0, &trace));
    OK(thunder_values_create(context, &captured));
    REFUSED(thunder_function_from_trace(trace, captured, &f), THUNDER_INVALID_ARGUMENT, "captured 1 tensors, 0 are given");
    thunder_values_push_tensor(captured, weight);
    for (int given = 0; given < 2; given++) {
        OK(thunder_function_from_trace(trace, given ? captured : NULL, &f));
        OK(thunder_compile(f, NULL, &again));
        call(again, x, y);
        CHECK(!memcmp(y, wanted, sizeof y));
        OK(thunder_function_value_and_grad(f, NULL, NULL, &g));
        thunder_function_release(g);
        thunder_compiled_release(again);
        thunder_function_release(f);
    }
    thunder_values_release(captured);
    thunder_trace_release(trace);
}

/* In a context of its own. */
static void load(const char *path, int32_t run_saved_kernels, size_t rank, const int64_t *shape, const float *data, const float *wanted)
{
    thunder_context *context = NULL;
    thunder_compiled *c = NULL;
    thunder_function *f = NULL;
    float y[6];
    OK(thunder_context_create(NULL, &context));
    thunder_tensor *x = test_f32(context, rank, shape, data);
    thunder_options *options = NULL;
    OK(thunder_options_create(context, &options));
    thunder_options_set_bool(options, "run_saved_kernels", run_saved_kernels);
    OK(thunder_program_load(context, path, options, &c));
    thunder_options_release(options);
    OK(thunder_compiled_function(c, &f));
    call(c, x, y);
    CHECK(!memcmp(y, wanted, sizeof y));
    thunder_tensor_release(x);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_context_release(context);
}

/* All kernels of the process, for another one; and bytes that are none. */
static void artifacts(thunder_context *context)
{
    thunder_tensor *bytes = NULL;
    thunder_cache_info made = { .size = sizeof made }, read = { .size = sizeof read };
    OK(thunder_context_save_cache_artifacts(context, &bytes, &made));
    CHECK(made.cpu_kernels > 0 && made.cuda_kernels == 0 && thunder_tensor_dtype(bytes) == THUNDER_U8);
    const void *data = NULL;
    OK(thunder_tensor_data(bytes, &data));
    const size_t count = thunder_tensor_nbytes(bytes);
    OK(thunder_context_load_cache_artifacts(context, data, count, &read));
    CHECK(read.cpu_kernels == made.cpu_kernels);
    OK(thunder_context_load_cache_artifacts(context, data, count, NULL));
    REFUSED(thunder_context_load_cache_artifacts(context, data, count - 1, NULL), THUNDER_DATA_LOST, "holds no compiled kernels");
    REFUSED(thunder_context_load_cache_artifacts(context, NULL, 0, NULL), THUNDER_INVALID_ARGUMENT, "data is NULL");
    read.size = 0;
    REFUSED(thunder_context_load_cache_artifacts(context, data, count, &read), THUNDER_INVALID_ARGUMENT, "size of the structure");
    thunder_tensor_release(bytes);
}

/* tests/cli/export.py compiles what it writes. */
static void as_c(const char *path)
{
    const char *const files[] = { "program_test_c/softmax.h", "program_test_c/softmax.c", "program_test_c/softmax_data.S",
        "program_test_c/softmax_data.bin", "program_test_c/softmax_kernel_1.o", "program_test_c" };
    thunder_context *context = NULL;
    thunder_options *options = NULL;
    OK(thunder_context_create(NULL, &context));
    OK(thunder_options_create(context, &options));
    thunder_options_set_str(options, "name", "softmax");
    OK(thunder_program_export_c(context, path, "program_test_c", options));
    REFUSED(thunder_program_export_c(context, NULL, "program_test_c", options), THUNDER_INVALID_ARGUMENT, "path is NULL");
    thunder_options_release(options);
    thunder_context_release(context);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) CHECK(remove(files[i]) == 0);
}

int main(void)
{
    const int64_t shape[] = { 2, 3 }, square[] = { 3, 3 };
    const float data[] = { 1, 2, 3, 4, 5, 6 }, w[] = { .5f, -1, 2, 0, .25f, 1, -2, 1, .125f };
    float wanted[6];
    const char *path = "program_test.thunder", *ahead = "program_test_ahead.thunder";
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    OK(thunder_context_create(NULL, &context));
    weight = test_f32(context, 2, square, w);
    thunder_tensor *x = test_f32(context, 2, shape, data);
    OK(thunder_function_create(context, "body", body, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    REFUSED(thunder_program_save(c, "f.thunder"), THUNDER_INVALID_ARGUMENT, "nothing is compiled that could be saved");
    call(c, x, wanted);
    from_trace(context, c, x, wanted);
    OK(thunder_program_save(c, path));
    OK(thunder_program_export_onnx(c, "program.onnx", NULL));
    CHECK(remove("program.onnx") == 0);
    thunder_status *no_llvm = thunder_program_compile_ahead(c, ahead);
    CHECK(!no_llvm || thunder_status_code(no_llvm) == THUNDER_FAILED_PRECONDITION);
    if (!no_llvm) artifacts(context);
    thunder_tensor_release(x);
    thunder_tensor_release(weight);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_context_release(context);
    load(path, 0, 2, shape, data, wanted);
    if (!no_llvm) {
        as_c(path);
        load(ahead, 0, 2, shape, data, wanted);
        load(ahead, 1, 2, shape, data, wanted);
        CHECK(remove(ahead) == 0);
    }
    thunder_status_release(no_llvm);
    REFUSED(thunder_program_load(NULL, path, NULL, &c), THUNDER_INVALID_ARGUMENT, "context is NULL");
    CHECK(remove(path) == 0);
    return 0;
}
