/* Compiled functions inside of scopes: inlined, run, and on a tape a forward and a backward program. */
#include "test.h"

/* The sum of the squares of the argument. */
static thunder_status *squares(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_sum(s, th_mul(s, x, x)));
    return NULL;
}

/* Three times what the compiled function `user` gives. */
static thunder_status *thrice(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *once = thunder_values_tensor(thunder_compiled_apply(s, user, in), 0);
    thunder_values_push_tensor(out, th_add(s, th_add(s, once, once), once));
    return NULL;
}

static float number_of(thunder_tensor *t)
{
    float value = 0;
    OK(thunder_tensor_read(t, &value, sizeof value));
    return value;
}

static void is_inlined_where_it_is_traced(thunder_context *context, thunder_compiled *c, const thunder_values *in)
{
    thunder_function *f = NULL;
    thunder_compiled *outer = NULL;
    thunder_values *out = NULL;
    OK(thunder_function_create(context, "thrice", thrice, c, NULL, &f));
    OK(thunder_compile(f, NULL, &outer));
    OK(thunder_values_create(context, &out));
    OK(thunder_compiled_call(outer, NULL, in, out));
    CHECK(number_of(thunder_values_tensor(out, 0)) == 42);
    CHECK(thunder_compiled_trace_count(c) == 0); /* nothing was compiled of it alone */
    thunder_values_release(out);
    thunder_compiled_release(outer);
    thunder_function_release(f);
}

static void is_a_program_in_an_eager_scope(thunder_context *context, thunder_compiled *c, const thunder_values *in)
{
    thunder_scope *s = NULL;
    OK(thunder_scope_create(context, 0, &s));
    CHECK(number_of(thunder_values_tensor(thunder_compiled_apply(s, c, in), 0)) == 14);
    OK(thunder_scope_status(s));
    CHECK(thunder_compiled_trace_count(c) > 0);
    thunder_scope_release(s);
}

static void has_a_backward_on_a_tape(thunder_context *context, thunder_compiled *c, const thunder_values *in)
{
    float gradient[3] = { 0 };
    thunder_scope *s = NULL;
    thunder_values *wrt = NULL;
    thunder_trace *trace = NULL;
    OK(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &s));
    OK(thunder_values_create(context, &wrt));
    thunder_values_push_tensor(wrt, thunder_values_tensor(in, 0));
    thunder_tensor *loss = thunder_values_tensor(thunder_compiled_apply(s, c, in), 0);
    CHECK(number_of(loss) == 14);
    REFUSED(thunder_compiled_backward_trace(c, 0, &trace), THUNDER_INVALID_ARGUMENT, "no backward of it has run");
    CHECK(thunder_compiled_backward_trace_count(c) == 0);
    OK(thunder_tensor_read(thunder_values_tensor(thunder_scope_grad(s, loss, wrt), 0), gradient, sizeof gradient));
    CHECK(gradient[0] == 2 && gradient[1] == 4 && gradient[2] == 6);
    CHECK(thunder_compiled_backward_trace_count(c) > 1);
    OK(thunder_compiled_backward_trace(c, 0, &trace));
    CHECK(strstr(thunder_trace_text(trace), "backward(squares)") != NULL);
    thunder_trace_release(trace);
    thunder_values_release(wrt);
    thunder_scope_release(s);
}

static void draws_other_numbers_on_each_tape(thunder_context *context)
{
    const thunder_dim size[] = { 4 };
    float drawn[3][4];
    int64_t state[2];
    test_seed(context, 7);
    for (int i = 0; i < 3; i++) {
        thunder_scope *s = NULL;
        OK(thunder_scope_create(context, i < 2 ? THUNDER_SCOPE_TAPED : 0, &s));
        OK(thunder_tensor_read(th_rand(s, size, 1), drawn[i], sizeof drawn[i]));
        OK(thunder_tensor_read(thunder_context_random(context), state, sizeof state));
        CHECK(state[0] == 7 && state[1] == i + 1);
        thunder_scope_release(s); /* without a reset */
    }
    CHECK(memcmp(drawn[0], drawn[1], sizeof drawn[0]) && memcmp(drawn[1], drawn[2], sizeof drawn[0]));
}

int main(void)
{
    const int64_t shape[] = { 3 };
    const float data[] = { 1, 2, 3 };
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_values *in = NULL;
    OK(thunder_context_create(NULL, &context));
    thunder_tensor *x = test_f32(context, 1, shape, data);
    OK(thunder_function_create(context, "squares", squares, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_values_create(context, &in));
    thunder_values_push_tensor(in, x);
    is_inlined_where_it_is_traced(context, c, in);
    is_a_program_in_an_eager_scope(context, c, in);
    has_a_backward_on_a_tape(context, c, in);
    draws_other_numbers_on_each_tape(context);
    thunder_values_release(in);
    thunder_tensor_release(x);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_context_release(context);
    return 0;
}
