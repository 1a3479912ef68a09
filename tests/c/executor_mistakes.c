/* executor_mistakes FOLDER: every way in which an executor declines, fails or lies: linked in and from a plugin, in C and
 * from a Lua script, the message names the executor, the op, what it said and the user's line. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include "script.h"

#define THUNDER_PLUGIN_STATIC start_every_mistake
#include "executor_mistakes/every_mistake.c"

enum { LINE = __LINE__ + 4 }; /* where relu is called */
static thunder_status *body(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_relu(s, thunder_values_tensor(in, 0)));
    return NULL;
}

static thunder_status *call(thunder_context *context, const char *executor)
{
    const int64_t shape[] = { 3 };
    const float data[] = { -1, 2, 3 };
    float r[3];
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *y = NULL;
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "executors", executor);
    OK(thunder_function_create(context, "body", body, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    thunder_status *status = thunder_compiled_call_tensors(c, &x, 1, &y, 1);
    if (!status) {
        OK(thunder_tensor_read(y, r, sizeof r));
        CHECK(r[0] == 0 && r[1] == 2 && r[2] == 3);
    }
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
    return status;
}

static thunder_status *run_lua(thunder_context *context, const char *script)
{
    return test_run_script(context, script, strlen(script), NULL);
}

/* ---- messages ---- */

static const struct { const char *executor; thunder_code code; const char *says; } rows[] = {
    { "cannot_prepare", THUNDER_BACKEND, "executor 'cannot_prepare' could not prepare relu: no licence was found [at " },
    { "cannot_lay_out", THUNDER_BACKEND, "executor 'cannot_lay_out' could not prepare relu: too many strides [at " },
    { "all_of_memory", THUNDER_BACKEND, "executor 'all_of_memory' could not prepare relu: it asks for 18446744073709551615 bytes of scratch [at " },
    { "lay_out_all_of_memory", THUNDER_BACKEND, "executor 'lay_out_all_of_memory' could not prepare relu: it asks for 18446744073709551615 bytes of scratch [at " },
    { "cannot_run", THUNDER_BACKEND, "relu: the device is on fire [at " },
    { "cannot_run_parts", THUNDER_BACKEND, "relu: a part is on fire [at " },
    { "cannot_transform", THUNDER_BACKEND, "the execution transform of executor 'cannot_transform' for relu: nothing stands for it [at " },
    { "refused_transform", THUNDER_INVALID_ARGUMENT, "the execution transform of executor 'refused_transform' for relu: view: " },
    { "another_type", THUNDER_INVALID_ARGUMENT, "the execution transform of executor 'another_type' for relu: result 1 is f32[], the op's is f32[3]" },
    { "no_result", THUNDER_INVALID_ARGUMENT, "the execution transform of executor 'no_result' for relu gives 0 results, the op 1" },
};

static void in_c(thunder_context *context)
{
    char line[64];
    snprintf(line, sizeof line, "executor_mistakes.c:%d", (int)LINE);
    OK(call(context, "declines")); /* the next one takes it */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int again = 0; again < 2; again++) { /* what has failed once fails the same way */
            REFUSED(call(context, rows[i].executor), rows[i].code, rows[i].says);
            REFUSED(call(context, rows[i].executor), rows[i].code, rows[i].executor);
            REFUSED(call(context, rows[i].executor), rows[i].code, line);
        }
}

static void in_lua(thunder_context *context)
{
    char script[512];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(script, sizeof script, "local th = require 'thunder'\nlocal f = th.compile(function(x)\nreturn th.relu(x) end, { executors = '%s' })\nf(th.tensor { 1.0, 2.0, 3.0 })",
            rows[i].executor);
        REFUSED(run_lua(context, script), THUNDER_CALLBACK, rows[i].says);
        REFUSED(run_lua(context, script), THUNDER_CALLBACK, rows[i].executor);
        REFUSED(run_lua(context, script), THUNDER_CALLBACK, ":3");
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    for (int linked = 0; linked < 2; linked++) {
        char path[4096];
        thunder_context *context = NULL;
        OK(thunder_context_create(NULL, &context));
        snprintf(path, sizeof path, "%s/every_mistake.so", argv[1]);
        OK(linked ? start_every_mistake(context) : thunder_context_load_plugin(context, path));
        in_c(context);
        in_lua(context);
        thunder_context_release(context);
    }
    return 0;
}
