/* Steps of optimisers that evaluate the loss, and what dtypes are like. */
#include "test.h"

struct bowl {
    thunder_tensor *w;
    int calls, fail_at;
};

/* The sum of (w - 3)^2, and its gradient by the scope's tape. */
static thunder_status *evaluate(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    struct bowl *self = user;
    thunder_values *wrt = NULL;
    CHECK(thunder_values_count(in) == 0);
    if (++self->calls == self->fail_at) return thunder_status_create(THUNDER_CALLBACK, "no more", 7);
    thunder_tensor *off = th_sub(s, self->w, th_f64(s, 3)), *loss = th_sum(s, th_mul(s, off, off));
    OK(thunder_values_create(thunder_scope_context(s), &wrt));
    thunder_values_push_tensor(wrt, self->w);
    thunder_values *gradients = thunder_scope_grad(s, loss, wrt);
    thunder_values_push_tensor(out, loss);
    thunder_values_push_tensor(out, thunder_values_tensor(gradients, 0));
    thunder_values_release(wrt);
    return NULL;
}

static void steps(thunder_context *context)
{
    const int64_t shape[] = { 2 };
    const float start[] = { 1, 5 };
    float r[2], first;
    double count = 0;
    struct bowl bowl = { test_f32(context, 1, shape, start), 0, 0 };
    thunder_values *params = NULL;
    thunder_options *options = NULL;
    thunder_optimizer *o = NULL;
    thunder_scope *s = NULL;
    OK(thunder_scope_create(context, 0, &s));
    OK(thunder_values_create(context, &params));
    OK(thunder_options_create(context, &options));
    thunder_values_push_tensor(params, bowl.w);
    thunder_options_set_str(options, "line_search_fn", "strong_wolfe");
    OK(thunder_optimizer_create(context, "LBFGS", params, options, &o));
    bowl.fail_at = 2;
    thunder_optimizer_step_closure(s, o, evaluate, &bowl);
    REFUSED(thunder_scope_status(s), THUNDER_CALLBACK, "no more");
    OK(thunder_tensor_read(bowl.w, r, sizeof r));
    CHECK(r[0] == 1 && r[1] == 5);
    thunder_scope_reset(s);
    bowl.fail_at = 0;
    thunder_tensor *loss = thunder_optimizer_step_closure(s, o, evaluate, &bowl);
    OK(thunder_scope_status(s));
    OK(thunder_tensor_read(loss, &first, sizeof first));
    OK(thunder_tensor_read(bowl.w, r, sizeof r));
    CHECK(first == 8 && r[0] > 2.999f && r[0] < 3.001f && r[1] > 2.999f && r[1] < 3.001f);
    OK(thunder_optimizer_get_f64(o, "n_iter", &count));
    CHECK(count >= 1 && bowl.calls > 2);
    thunder_scope_release(s);
    thunder_optimizer_release(o);
    thunder_options_release(options);
    thunder_values_release(params);
    thunder_tensor_release(bowl.w);
}

static void dtypes(thunder_context *context)
{
    const int64_t shape[] = { 1 };
    const float one[] = { 1 };
    thunder_tensor *x = test_f32(context, 1, shape, one);
    const thunder_any operands[] = { thunder_any_tensor(x), thunder_any_i64(2) };
    thunder_dtype_info info = { .size = sizeof info };
    thunder_dtype made = 0;
    OK(thunder_dtype_describe(THUNDER_F16, &info));
    CHECK(!strcmp(info.name, "float16") && info.bits == 16 && info.is_real && info.max == 65504 && info.min == -65504);
    OK(thunder_dtype_describe(THUNDER_U64, &info));
    CHECK(!info.is_real && !info.is_signed && info.integer_min == 0 && info.integer_max == UINT64_MAX && info.eps == 0);
    REFUSED(thunder_dtype_describe(77, &info), THUNDER_INVALID_ARGUMENT, "unknown dtype 77");
    OK(thunder_promote_types(THUNDER_F16, THUNDER_BF16, &made));
    CHECK(made == THUNDER_F32);
    REFUSED(thunder_promote_types(THUNDER_U16, THUNDER_I32, &made), THUNDER_INVALID_ARGUMENT, "got u16 and i32");
    CHECK(thunder_can_cast(THUNDER_I32, THUNDER_F16) && !thunder_can_cast(THUNDER_F32, THUNDER_I32) && !thunder_can_cast(77, THUNDER_F32));
    OK(thunder_result_type(operands, 2, &made));
    CHECK(made == THUNDER_F32);
    REFUSED(thunder_result_type(operands, 0, &made), THUNDER_INVALID_ARGUMENT, "no operands");
    thunder_tensor_release(x);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    steps(context);
    dtypes(context);
    thunder_context_release(context);
    return 0;
}
