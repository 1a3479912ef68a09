/* Transforms of C functions: batched, differentiated forwards and backwards, compiled, and what they refuse. */
// covers: capi/transforms.cpp
#include "test.h"

/* The first argument times its sum. */
static thunder_status *scaled(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_mul(s, x, th_sum(s, x)));
    return NULL;
}

/* The elements of a leaf of what the function gives, compiled, and in an eager scope. */
static void expect(thunder_context *context, thunder_function *f, const thunder_values *in, size_t leaf, size_t n, const float *expected)
{
    float got[16];
    thunder_compiled *c = NULL;
    thunder_values *results = NULL;
    thunder_scope *s = NULL;
    OK(thunder_values_create(context, &results));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_compiled_call(c, NULL, in, results));
    OK(thunder_tensor_read(thunder_values_tensor(results, leaf), got, n * sizeof *got));
    for (size_t i = 0; i < n; i++) CHECK(got[i] == expected[i]);
    OK(thunder_scope_create(context, 0, &s));
    OK(thunder_tensor_read(thunder_values_tensor(thunder_function_apply(s, f, in), leaf), got, n * sizeof *got));
    for (size_t i = 0; i < n; i++) CHECK(got[i] == expected[i]);
    thunder_scope_release(s);
    thunder_values_release(results);
    thunder_compiled_release(c);
}

static void batched(thunder_context *context, thunder_function *f)
{
    const int64_t shape[] = { 2, 3 }, dims[] = { 1 }, none[] = { THUNDER_NO_DIM };
    const float data[] = { 1, 2, 3, 4, 5, 6 }, rows[] = { 6, 12, 18, 60, 75, 90 }, columns[] = { 5, 20, 14, 35, 27, 54 };
    thunder_function *g = NULL;
    thunder_values *in = NULL;
    thunder_tensor *x = test_f32(context, 2, shape, data);
    OK(thunder_values_create(context, &in));
    thunder_values_push_tensor(in, x);
    OK(thunder_function_vmap(f, NULL, 0, NULL, 0, NULL, &g));
    expect(context, g, in, 0, 6, rows);
    thunder_function_release(g);
    OK(thunder_function_vmap(f, dims, 1, NULL, 0, "different", &g));
    expect(context, g, in, 0, 6, columns);
    thunder_function_release(g);

    thunder_scope *s = NULL;
    OK(thunder_function_vmap(f, none, 1, NULL, 0, NULL, &g));
    OK(thunder_scope_create(context, 0, &s));
    thunder_function_apply(s, g, in);
    thunder_status *failed = thunder_scope_status(s);
    CHECK(failed && strstr(thunder_status_message(failed), "no argument has a dim of examples"));
    thunder_status_release(failed);
    thunder_scope_release(s);
    thunder_function_release(g);
    const int64_t far[] = { 5 };
    OK(thunder_function_vmap(f, far, 1, NULL, 0, NULL, &g));
    OK(thunder_scope_create(context, 0, &s));
    thunder_function_apply(s, g, in);
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "): in_dims for argument '0' is 5, which is out of range");
    thunder_scope_release(s);
    thunder_function_release(g);
    g = NULL;
    REFUSED(thunder_function_vmap(f, NULL, 0, NULL, 0, "maybe", &g), THUNDER_INVALID_ARGUMENT, "randomness is \"maybe\"");
    CHECK(!g);
    thunder_values_release(in);
    thunder_tensor_release(x);
}

static void differentiated(thunder_context *context, thunder_function *f)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 1, 2 }, along[] = { 1, 10 }, value[] = { 3, 6 }, pushed[] = { 14, 52 }, pulled[] = { 24, 51 };
    const float jacobian[] = { 4, 1, 2, 5 }, second[] = { 2, 1, 1, 0, 0, 1, 1, 2 };
    thunder_function *g = NULL;
    thunder_values *in = NULL, *both = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *v = test_f32(context, 1, shape, along);
    OK(thunder_values_create(context, &in));
    OK(thunder_values_create(context, &both));
    thunder_values_push_tensor(in, x);
    thunder_values_push_tensor(both, x);
    thunder_values_open(both, 0, NULL);
    thunder_values_push_tensor(both, v);
    thunder_values_close(both);
    OK(thunder_function_jvp(f, NULL, 0, &g));
    expect(context, g, both, 0, 2, value);
    expect(context, g, both, 1, 2, pushed);
    thunder_function_release(g);
    OK(thunder_function_vjp(f, "0", 0, &g));
    expect(context, g, both, 1, 2, pulled);
    thunder_function_release(g);
    OK(thunder_function_jacrev(f, NULL, THUNDER_DIFFERENTIATE_FIRST, &g));
    expect(context, g, in, 0, 4, jacobian);
    thunder_function_release(g);
    OK(thunder_function_jacfwd(f, NULL, 0, &g));
    expect(context, g, in, 0, 4, jacobian);
    thunder_function_release(g);
    OK(thunder_function_hessian(f, NULL, &g));
    expect(context, g, in, 0, 8, second);
    thunder_function_release(g);
    g = NULL;
    REFUSED(thunder_function_jacrev(f, NULL, 8, &g), THUNDER_INVALID_ARGUMENT, "unknown flags 8");
    thunder_function *checkpointed = NULL;
    OK(thunder_function_checkpoint(f, &checkpointed));
    OK(thunder_function_jacrev(checkpointed, NULL, 0, &g));
    expect(context, g, in, 0, 4, jacobian);
    thunder_function_release(g);
    thunder_function_release(checkpointed);
    thunder_values_release(in);
    thunder_values_release(both);
    thunder_tensor_release(x);
    thunder_tensor_release(v);
}

int main(void)
{
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    OK(thunder_context_create(NULL, &context));
    OK(thunder_function_create(context, "scaled", scaled, NULL, NULL, &f));
    batched(context, f);
    differentiated(context, f);
    thunder_function_release(f);
    thunder_context_release(context);
    return 0;
}
