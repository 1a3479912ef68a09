/* plugin FOLDER: loads the plugins that were built into it, and has one of them run an op. */
#include "test.h"

static thunder_status *normalize(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    const thunder_dim shape[] = { 3 };
    (void)user;
    thunder_values_push_tensor(out, th_layer_norm(s, thunder_values_tensor(in, 0), shape, 1));
    return NULL;
}

/* Whether the last stage says that the executor runs a line, and the numbers. */
static int claimed_by(thunder_context *context, const char *executors, const char *wanted, float *result)
{
    const int64_t shape[] = { 2, 3 };
    const float data[] = { 1, 2, 3, -1, 0, 4 };
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_trace *t = NULL;
    thunder_tensor *x = test_f32(context, 2, shape, data), *y = NULL;
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "executors", executors);
    OK(thunder_function_create(context, "normalize", normalize, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    OK(thunder_tensor_read(y, result, 6 * sizeof *result));
    OK(thunder_compiled_trace(c, thunder_compiled_trace_count(c) - 1, &t));
    const int found = strstr(thunder_trace_text(t), wanted) != NULL;
    thunder_trace_release(t);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
    return found;
}

int main(int argc, char **argv)
{
    char path[4096];
    float ours[6], theirs[6];
    thunder_context *context = NULL;
    CHECK(argc == 2);
    OK(thunder_context_create(NULL, &context));
    snprintf(path, sizeof path, "%s/fast_layer_norm.so", argv[1]);
    OK(thunder_context_load_plugin(context, path));
    REFUSED(thunder_context_load_plugin(context, path), THUNDER_INVALID_ARGUMENT, "already registered");
    CHECK(!claimed_by(context, "", "fast_layer_norm", ours));
    CHECK(claimed_by(context, "fast_layer_norm", "by fast_layer_norm", theirs));
    for (int i = 0; i < 6; i++) CHECK(ours[i] - theirs[i] < 1e-5f && theirs[i] - ours[i] < 1e-5f);

    snprintf(path, sizeof path, "%s/future.so", argv[1]);
    REFUSED(thunder_context_load_plugin(context, path), THUNDER_INVALID_ARGUMENT, "made for versions 8 to 10");
    snprintf(path, sizeof path, "%s/none.so", argv[1]);
    REFUSED(thunder_context_load_plugin(context, path), THUNDER_NOT_FOUND, "none.so");
    thunder_context_release(context);
    return 0;
}
