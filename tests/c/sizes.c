/* Sizes that vary: marks, symbols as words, guards as formulas; and the trace of one call. */
// covers: capi/sizes.cpp
#include "test.h"

static int traced;

/* Two copies under another shape: the size is never read as a number. */
static thunder_status *doubled(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    traced++;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    const thunder_dim rows = thunder_tensor_dim(s, x, 0);
    thunder_dim sizes[2];
    sizes[0] = thunder_tensor_dim(s, x, -1);
    sizes[1] = thunder_dim_make(s, '*', rows, 2);
    thunder_tensor *both[] = { x, thunder_dim_compare(s, rows, ">", 4) ? th_neg(s, x) : x };
    thunder_values_push_tensor(out, th_reshape(s, th_cat(s, both, 2), sizes, 2));
    return NULL;
}

/* A row of a matrix, times its number. */
static thunder_status *row(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    traced++;
    const thunder_dim at = thunder_values_dim(in, 1);
    const thunder_any number = { .kind = THUNDER_INT, .u.i = thunder_dim_make(s, '*', at, 2) };
    thunder_any args[] = { { .kind = THUNDER_TENSOR }, { .kind = THUNDER_INT, .u.i = 0 }, { .kind = THUNDER_INT, .u.i = at } };
    args[0].u.t = thunder_values_tensor(in, 0);
    thunder_any product[] = { { .kind = THUNDER_TENSOR }, number };
    product[0].u.t = thunder_op_invoke(s, "select", args, 3, NULL, NULL, 0, NULL);
    thunder_values_push_tensor(out, thunder_op_invoke(s, "mul", product, 2, NULL, NULL, 0, NULL));
    return NULL;
}

/* An integer that varies is a word; what reads it as a number is traced for each. */
static void integers(thunder_context *context)
{
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_values *in = NULL, *out = NULL;
    const int64_t shape[] = { 4, 1 };
    const float data[] = { 1, 2, 3, 4 };
    thunder_tensor *x = test_f32(context, 2, shape, data);
    OK(thunder_function_create(context, "row", row, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_values_create(context, &out));
    traced = 0;
    for (int64_t at = 0; at < 4; at++) {
        const thunder_any leaf = { .kind = THUNDER_INT, .u.i = at };
        float made = -1;
        OK(thunder_values_create(context, &in));
        thunder_values_push_tensor(in, x);
        thunder_values_push(in, &leaf);
        CHECK(thunder_values_dim(in, 1) == at);
        OK(thunder_compiled_call(c, NULL, in, out));
        OK(thunder_tensor_read(thunder_values_tensor(out, 0), &made, sizeof made));
        CHECK(made == (float)(2 * at * (at + 1)));
        thunder_values_release(in);
    }
    CHECK(traced == 2 && strstr(thunder_compiled_guards_report(c), "leaf 1 == "));
    OK(thunder_values_create(context, &in));
    CHECK(thunder_values_dim(in, 0) == 0);
    REFUSED(thunder_values_status(in), THUNDER_INVALID_ARGUMENT, "there is no leaf 0");
    thunder_values_release(in);
    thunder_values_release(out);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_tensor_release(x);
}

static float element(thunder_compiled *c, thunder_context *context, int64_t rows, size_t at)
{
    float data[32], made[64] = { 0 };
    const int64_t shape[] = { rows, 2 };
    for (int i = 0; i < 32; i++) data[i] = (float)(i + 1);
    thunder_tensor *x = test_f32(context, 2, shape, data), *y = NULL;
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    CHECK(thunder_tensor_size(y, 1) == 2 * rows);
    OK(thunder_tensor_read(y, made, thunder_tensor_nbytes(y)));
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    return made[at];
}

int main(void)
{
    const int64_t shape[] = { 3, 2 };
    const float data[] = { 1, 2, 3, 4, 5, 6 };
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL, *t = NULL;
    thunder_values *in = NULL;
    OK(thunder_context_create(NULL, &context));
    thunder_tensor *x = test_f32(context, 2, shape, data), *y = NULL;
    OK(thunder_function_create(context, "doubled", doubled, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    CHECK(!*thunder_compiled_guards_report(c) && !*thunder_compiled_guards_report(NULL));
    REFUSED(thunder_mark_dynamic(context, x, 2, 2, 9), THUNDER_INVALID_ARGUMENT, "dim 2 is not one of f32[3, 2]");
    OK(thunder_mark_dynamic(context, x, 0, 2, 9));
    OK(thunder_mark_static(context, x, 1));
    OK(thunder_maybe_mark_dynamic(context, x, 0));
    OK(thunder_mark_dynamic(context, x, 0, 2, 9));
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    thunder_tensor_release(y);
    CHECK(traced == 1 && strstr(thunder_compiled_guards_report(c), "s0 <= 4\n"));
    CHECK(strstr(thunder_compiled_guards_report(c), "size(0, 0) <= 9\n"));
    CHECK(element(c, context, 4, 8) == 1 && traced == 1); /* another size of the same trace */
    CHECK(element(c, context, 5, 10) == -1);              /* what was compared is otherwise now */
    const int now = traced;
    CHECK(element(c, context, 7, 14) == -1 && traced == now);
    CHECK(strstr(thunder_compiled_guards_report(c), "s0 > 4\n"));

    /* In a scope of no trace sizes are plain. */
    thunder_scope *s = NULL;
    OK(thunder_scope_create(context, 0, &s));
    CHECK(thunder_tensor_dim(s, x, 0) == 3 && !thunder_dim_is_symbolic(3) && thunder_dim_make(s, '/', 7, 2) == 3);
    CHECK(thunder_dim_compare(s, 3, "<=", 3) && thunder_dim_value(s, 8) == 8 && thunder_tensor_dim(s, x, 5) == -1);
    CHECK(thunder_dim_make(s, '?', 1, 2) == 0);
    thunder_scope_release(s);

    OK(thunder_values_create(context, &in));
    thunder_values_push_tensor(in, x);
    const thunder_values *checks[] = { in };
    OK(thunder_function_trace(f, in, NULL, checks, 1, &t));
    const int before = traced;
    CHECK(element(t, context, 3, 6) == 1 && traced == before);
    REFUSED(thunder_function_trace(f, in, NULL, NULL, 1, &t), THUNDER_INVALID_ARGUMENT, "check_inputs");

    integers(context);
    thunder_values_release(in);
    thunder_compiled_release(t);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_tensor_release(x);
    thunder_context_release(context);
    return 0;
}
