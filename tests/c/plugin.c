/* plugin FOLDER: one source of an executor, built into this program, loaded as a plugin, and loaded by a Lua script. */
// covers: capi/plugin.cpp
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include "script.h"

#define THUNDER_PLUGIN_STATIC start_fast_layer_norm
#include "plugin/fast_layer_norm.c"

static thunder_status *body(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    const thunder_dim shape[] = { 3 };
    (void)user;
    thunder_values_push_tensor(out, th_layer_norm(s, thunder_values_tensor(in, 0), shape, 1));
    return NULL;
}

struct outcome {
    char claimed[256]; /* the line of the last stage that a plugin runs, or "" */
    float numbers[6];
};

static struct outcome with_executors(thunder_context *context, const char *executors)
{
    const int64_t shape[] = { 2, 3 };
    const float data[] = { 1, 2, 3, -1, 0, 4 };
    struct outcome seen;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_trace *t = NULL;
    thunder_tensor *x = test_f32(context, 2, shape, data), *y = NULL;
    memset(&seen, 0, sizeof seen);
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "executors", executors);
    OK(thunder_function_create(context, "body", body, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    OK(thunder_tensor_read(y, seen.numbers, sizeof seen.numbers));
    OK(thunder_compiled_trace(c, thunder_compiled_trace_count(c) - 1, &t));
    const char *line = strstr(thunder_trace_text(t), "layer_norm(");
    if (line && strstr(line, "by fast_layer_norm"))
        snprintf(seen.claimed, sizeof seen.claimed, "%.*s", (int)strcspn(line, "\n"), line);
    thunder_trace_release(t);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
    return seen;
}

static thunder_status *load(thunder_context *context, const char *plugin) { return thunder_context_load_plugin(context, plugin); }
static thunder_status *link_in(thunder_context *context, const char *plugin)
{
    (void)plugin;
    return start_fast_layer_norm(context);
}
static thunder_status *load_from_lua(thunder_context *context, const char *plugin)
{
    char script[4096];
    const int bytes = snprintf(script, sizeof script, "local th = require 'thunder'\nth.load_plugin '%s'\n", plugin);
    CHECK(bytes > 0 && (size_t)bytes < sizeof script);
    return test_run_script(context, script, (size_t)bytes, NULL);
}

/* Built in, loaded, or loaded by a script: the executor claims the same line and gives the same bits. */
static void every_way(const char *plugin)
{
    thunder_status *(*const ways[])(thunder_context *, const char *) = { link_in, load, load_from_lua };
    struct outcome first;
    for (int i = 0; i < 3; i++) {
        thunder_context *context = NULL;
        OK(thunder_context_create(NULL, &context));
        OK(ways[i](context, plugin));
        const struct outcome host = with_executors(context, ""), mine = with_executors(context, "fast_layer_norm");
        CHECK(!*host.claimed && *mine.claimed);
        for (int k = 0; k < 6; k++)
            CHECK(host.numbers[k] - mine.numbers[k] < 1e-5f && mine.numbers[k] - host.numbers[k] < 1e-5f);
        if (i == 0) first = mine;
        CHECK(!memcmp(&first, &mine, sizeof first));
        thunder_status *twice = ways[(i + 1) % 3](context, plugin);
        CHECK(twice && strstr(thunder_status_message(twice), "already registered"));
        thunder_status_release(twice);
        thunder_context_release(context);
    }
}

static thunder_status *cube_of_negated(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_any x = thunder_any_tensor(thunder_values_tensor(in, 0));
    (void)user;
    x = thunder_any_tensor(thunder_op_invoke(s, "plugin.negate", &x, 1, NULL, NULL, 0, "user.c:5"));
    x = thunder_any_tensor(thunder_op_invoke(s, "plugin.cube", &x, 1, NULL, NULL, 0, "user.c:6"));
    thunder_values_push_tensor(out, th_relu(s, x.u.t));
    return NULL;
}

/* Its ops run in programs, the kernel found by its symbol; and nothing of a plugin goes while it is in use. */
static void ops_and_what_is_in_use(const char *folder)
{
    const int64_t shape[] = { 2 };
    const float data[] = { -1, -2 };
    float r[2];
    char path[4096], older[4096];
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_options *o = NULL;
    thunder_tensor *y = NULL;
    thunder_kernel_desc k;
    memset(&k, 0, sizeof k);
    OK(thunder_context_create(NULL, &context));
    snprintf(path, sizeof path, "%s/brings_ops.so", folder);
    snprintf(older, sizeof older, "%s/older.so", folder);
    OK(thunder_context_load_plugin(context, path));
    OK(thunder_context_load_plugin(context, older));
    k.size = sizeof k, k.library = path, k.symbol = "plugin_negat";
    REFUSED(thunder_context_add_kernel(context, "plugin.negate", &k), THUNDER_NOT_FOUND, "has no symbol 'plugin_negat'");
    k.symbol = "plugin_negate";
    OK(thunder_context_add_kernel(context, "plugin.negate", &k));
    thunder_tensor *x = test_f32(context, 1, shape, data);
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "executors", "older");
    OK(thunder_function_create(context, "cube_of_negated", cube_of_negated, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    thunder_options_release(o);
    thunder_function_release(f);
    thunder_context_release(context); /* what was compiled keeps it, and the plugins' code */
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    OK(thunder_tensor_read(y, r, sizeof r));
    CHECK(r[0] == 101 && r[1] == 108);
    thunder_compiled_release(c);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
}

/* What cannot be loaded says which file, and why; the context goes on. */
static void refusals(const char *folder)
{
    static const struct { const char *file; thunder_code code; const char *says; } rows[] = {
        { "future.so", THUNDER_INVALID_ARGUMENT, "plugin 'future' is made for versions 8 to 10 of the plugin interface, this library has version 1" },
        { "past.so", THUNDER_INVALID_ARGUMENT, "plugin 'past' is made for versions 0 to 0 of the plugin interface, this library has version 1" },
        { "no_symbol.so", THUNDER_NOT_FOUND, "no_symbol.so: undefined symbol: thunder_plugin_query_v1" },
        { "unresolved.so", THUNDER_NOT_FOUND, "unresolved.so: undefined symbol: plugin_of_nobody" },
        { "failing.so", THUNDER_BACKEND, "plugin 'failing': no licence was found" },
        { "says_ok.so", THUNDER_CALLBACK, "plugin 'says_ok': its start returned a status whose code is OK" },
        { "refusing.so", THUNDER_FAILED_PRECONDITION, "refusing.so': not on a weekday" },
        { "no_descriptor.so", THUNDER_INVALID_ARGUMENT, "no_descriptor.so' gives no descriptor" },
        { "none.so", THUNDER_NOT_FOUND, "none.so: cannot open shared object file" },
        { "", THUNDER_NOT_FOUND, "cannot read file data: Is a directory" },
    };
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].file);
        REFUSED(thunder_context_load_plugin(context, path), rows[i].code, rows[i].says);
        REFUSED(load_from_lua(context, path), THUNDER_CALLBACK, rows[i].says);
    }
    with_executors(context, "");
    thunder_context_release(context);
}

int main(int argc, char **argv)
{
    char path[4096];
    CHECK(argc == 2);
    snprintf(path, sizeof path, "%s/fast_layer_norm.so", argv[1]);
    every_way(path);
    refusals(argv[1]);
    ops_and_what_is_in_use(argv[1]);
    return 0;
}
