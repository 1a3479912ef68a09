/* What callers get wrong: each mistake is a status with both values, and never a crash. */
// covers: capi/status.cpp
#include "test.h"

static const int64_t shape23[] = { 2, 3 }, shape4[] = { 4 };
static const float six[] = { 1, 2, 3, 4, 5, 6 };

static void in_scopes(thunder_context *context)
{
    thunder_scope *s = NULL, *other = NULL;
    thunder_tensor *x = test_f32(context, 2, shape23, six), *y = test_f32(context, 1, shape4, six);
    OK(thunder_scope_create(context, 0, &s));
    OK(thunder_scope_create(context, 0, &other));

    thunder_tensor *bad = th_add(s, x, y);
    CHECK(bad != NULL && thunder_tensor_rank(bad) == 0);
    REFUSED(thunder_tensor_status(bad), THUNDER_INVALID_ARGUMENT, "[2, 3]");
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "errors.c:"); /* says where */
    REFUSED(thunder_tensor_status(th_mul(s, x, x)), THUNDER_INVALID_ARGUMENT, "[2, 3]"); /* later calls do nothing */
    /* It poisons a scope that it wanders into, with the first message. */
    th_mul(other, bad, x);
    REFUSED(thunder_scope_status(other), THUNDER_INVALID_ARGUMENT, "[2, 3]");
    thunder_scope_reset(s);
    OK(thunder_scope_status(s));

    thunder_op_invoke(s, "softmaks", NULL, 0, NULL, NULL, 0, NULL);
    REFUSED(thunder_scope_status(s), THUNDER_NOT_FOUND, "did you mean 'softmax'?");
    thunder_scope_reset(s);

    const thunder_any args[] = { thunder_any_tensor(x), thunder_any_tensor(x) };
    const char *const names[] = { "input", "othr" };
    thunder_op_invoke(s, "add", args, 2, names, NULL, 0, NULL);
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "did you mean 'other'?");
    thunder_scope_reset(s);

    const thunder_dim two = 2;
    th_zeros_opt(s, &two, 1, THUNDER_F32, THUNDER_CUDA(3));
    REFUSED(thunder_scope_status(s), THUNDER_UNIMPLEMENTED, "zeros: argument 2: there is no device cuda:3");
    REFUSED(thunder_scope_status(s), THUNDER_UNIMPLEMENTED, "errors.c:");
    thunder_scope_reset(s);
    th_zeros_opt(s, &two, 1, (thunder_dtype)THUNDER_CPU, (thunder_device)THUNDER_F32);
    REFUSED(thunder_scope_status(s), THUNDER_UNIMPLEMENTED, "a device was expected, got the dtype f32: the dtype comes first [at ");
    thunder_scope_reset(s);

    th_add(s, x, NULL);
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "'other' must be a tensor or a number");
    thunder_scope_reset(s);

    /* An index or a dim out of range has a code of its own, of each kind of op. */
    th_select(s, x, 1, 3);
    REFUSED(thunder_scope_status(s), THUNDER_OUT_OF_RANGE, "select: index 3 is out of range for dim 1 of size 3");
    thunder_scope_reset(s);
    th_unsqueeze(s, x, 4);
    REFUSED(thunder_scope_status(s), THUNDER_OUT_OF_RANGE, "dim 4 is out of range");
    thunder_scope_reset(s);
    th_index_select(s, x, 0, th_full(s, &two, 1, th_i64(s, 2)));
    REFUSED(thunder_scope_status(s), THUNDER_OUT_OF_RANGE, "index 2 is out of range for dim 0 of size 2");
    thunder_scope_reset(s);

    REFUSED(thunder_tensor_status(th_add(NULL, x, x)), THUNDER_INVALID_ARGUMENT, "the scope is NULL");
    thunder_scope_fail(s, thunder_status_create(THUNDER_CALLBACK, "mine", 4));
    REFUSED(thunder_scope_status(s), THUNDER_CALLBACK, "mine");

    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_scope_release(other);
    thunder_scope_release(s);
}

static void of_tensors(thunder_context *context)
{
    thunder_tensor *t = NULL;
    float r[6];
    REFUSED(thunder_tensor_create(context, THUNDER_F32, 2, shape23, 0, six, 20, &t), THUNDER_INVALID_ARGUMENT,
        "takes 24 bytes, got 20");
    REFUSED(thunder_tensor_create(context, 77, 2, shape23, 0, six, 24, &t), THUNDER_INVALID_ARGUMENT,
        "unknown dtype 77");
    REFUSED(thunder_tensor_create(context, THUNDER_F32, 2, shape23, THUNDER_CUDA(97), six, 24, &t),
        THUNDER_UNIMPLEMENTED, "cuda:97");
    const int64_t negative[] = { 2, -3 }, huge[] = { INT64_MAX, INT64_MAX };
    REFUSED(thunder_tensor_create(context, THUNDER_F32, 2, negative, 0, six, 24, &t), THUNDER_INVALID_ARGUMENT, "-3");
    REFUSED(thunder_tensor_create(context, THUNDER_F32, 2, huge, 0, six, 24, &t), THUNDER_INVALID_ARGUMENT,
        "would not fit");
    REFUSED(thunder_tensor_create(context, THUNDER_F32, 1000, huge, 0, six, 24, &t), THUNDER_INVALID_ARGUMENT, "1000");
    CHECK(t == NULL); /* outputs are written only on success */
    t = test_f32(context, 2, shape23, six);
    REFUSED(thunder_tensor_read(t, r, 8), THUNDER_INVALID_ARGUMENT, "takes 24 bytes, got 8");
    REFUSED(thunder_tensor_write(t, NULL, 24), THUNDER_INVALID_ARGUMENT, "host is NULL");
    thunder_tensor_release(t);
}

static void of_options(thunder_context *context, thunder_function *f)
{
    thunder_options *o = NULL;
    thunder_compiled *c = NULL;
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "executor", "host");
    REFUSED(thunder_compile(f, o, &c), THUNDER_INVALID_ARGUMENT, "did you mean 'executors'?");
    thunder_options_release(o);
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "executors", "hos");
    REFUSED(thunder_compile(f, o, &c), THUNDER_NOT_FOUND, "did you mean 'host'?");
    thunder_options_release(o);
    OK(thunder_options_create(context, &o));
    thunder_options_set_f64(o, "verify", 1.0);
    REFUSED(thunder_compile(f, o, &c), THUNDER_INVALID_ARGUMENT, "must be a boolean, got a float");
    thunder_options_release(o);
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, NULL, "host"); /* sticks: the first mistake is reported */
    thunder_options_set_str(o, "nonsense", "host");
    REFUSED(thunder_compile(f, o, &c), THUNDER_INVALID_ARGUMENT, "name is NULL");
    thunder_options_release(o);
    CHECK(c == NULL);
}

static thunder_status *fails(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    const char *how = (const char *)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    float r[6];
    if (!strcmp(how, "status")) return thunder_status_create(THUNDER_CALLBACK, "no today", 8);
    if (!strcmp(how, "read")) return thunder_tensor_read(x, r, sizeof r);
    if (!strcmp(how, "leaf")) thunder_values_push_tensor(out, thunder_values_tensor(in, 7));
    if (!strcmp(how, "kind")) thunder_values_push_tensor(out, th_mul(s, x, th_i64(s, thunder_values_i64(in, 0))));
    if (!strcmp(how, "shape")) thunder_values_push_tensor(out, th_matmul(s, x, x));
    if (!strcmp(how, "group")) thunder_values_open(out, 1, NULL);
    if (!strcmp(how, "reset")) thunder_scope_reset(s);
    return NULL;
}

static void in_functions(thunder_context *context)
{
    static const struct { const char *how; thunder_code code; const char *message; } cases[] = {
        { "status", THUNDER_CALLBACK, "no today" },
        { "read", THUNDER_PROXY_HAS_NO_DATA, "f32[2, 3]" },
        { "leaf", THUNDER_INVALID_ARGUMENT, "no leaf 7" },
        { "kind", THUNDER_INVALID_ARGUMENT, "leaf 0 is a tensor, not an integer" },
        { "shape", THUNDER_INVALID_ARGUMENT, "inner dimensions differ" },
        { "group", THUNDER_INVALID_ARGUMENT, "not closed" },
        { "reset", THUNDER_FAILED_PRECONDITION, "cannot reset" },
    };
    thunder_tensor *x = test_f32(context, 2, shape23, six);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        thunder_function *f = NULL;
        thunder_compiled *c = NULL;
        thunder_tensor *r = NULL;
        char how[16];
        strcpy(how, cases[i].how);
        OK(thunder_function_create(context, "f", fails, how, NULL, &f));
        OK(thunder_compile(f, NULL, &c));
        REFUSED(thunder_compiled_call_tensors(c, &x, 1, &r, 1), cases[i].code, cases[i].message);
        thunder_compiled_release(c);
        if (i == 0) of_options(context, f);
        thunder_function_release(f);
    }
    thunder_tensor_release(x);
}

static thunder_status *lends(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *x = thunder_values_tensor(in, 0);
    *(thunder_tensor **)user = thunder_tensor_retain(x);
    thunder_values_push_tensor(out, th_neg(s, x));
    return NULL;
}

/* A proxy that outlives its function is a handle that says so, wherever it is used. */
static void after_functions(thunder_context *context)
{
    float r[6];
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_scope *s = NULL;
    thunder_tensor *x = test_f32(context, 2, shape23, six), *y = NULL, *lent = NULL;
    OK(thunder_function_create(context, "lends", lends, &lent, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    REFUSED(thunder_tensor_read(lent, r, sizeof r), THUNDER_EXPIRED, "after the function");
    OK(thunder_scope_create(context, 0, &s));
    th_neg(s, lent);
    thunder_status *used = thunder_scope_status(s);
    CHECK(thunder_status_code(used) == THUNDER_EXPIRED && thunder_status_code(NULL) == THUNDER_OK);
    thunder_status_release(used);
    thunder_scope_release(s);
    thunder_tensor_release(lent);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_compiled_release(c);
    thunder_function_release(f);
}

/* How an error about an unknown name may end. */
static void suggestions(thunder_context *context)
{
    const char *const names[] = { "softmax", "conv2d" };
    const char *const cases[][2] = { { "sotfmax", " (did you mean 'softmax'?)" },
        { "combinations", "; PyTorch's 'combinations' is not in libthunder; there are conv2d, softmax" } };
    thunder_values *out = NULL;
    thunder_any text;
    OK(thunder_values_create(context, &out));
    for (int i = 0; i < 2; i++) {
        thunder_values_reset(out);
        OK(thunder_suggest(cases[i][0], names, 2, out));
        OK(thunder_values_get(out, 0, &text));
        CHECK(strlen(cases[i][1]) == text.count && !memcmp(text.u.s, cases[i][1], text.count));
    }
    const char *const missing[] = { NULL };
    REFUSED(thunder_suggest("x", missing, 1, out), THUNDER_INVALID_ARGUMENT, "names[0] is NULL");
    thunder_values_release(out);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    in_scopes(context);
    of_tensors(context);
    in_functions(context);
    after_functions(context);
    suggestions(context);
    thunder_context_release(context);
    return 0;
}
