/* Eager ops, in-place ops, plain numbers and a taped gradient. */
#include "test.h"

static void ops(thunder_context *context)
{
    const int64_t shape[] = { 2, 3 };
    const float a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 10, 20, 30, 40, 50, 60 };
    float r[6];
    thunder_scope *s = NULL;
    thunder_tensor *x = test_f32(context, 2, shape, a), *y = test_f32(context, 2, shape, b);
    OK(thunder_scope_create(context, 0, &s));
    CHECK(!thunder_scope_is_tracing(s));
    CHECK(thunder_scope_context(s) == context);

    thunder_tensor *z = th_add(s, th_mul(s, x, th_f64(s, 2.0)), y);
    CHECK(thunder_tensor_dtype(z) == THUNDER_F32); /* a plain number does not widen */
    CHECK(thunder_tensor_rank(z) == 2 && thunder_tensor_size(z, 0) == 2 && thunder_tensor_size(z, -1) == 3);
    CHECK(thunder_tensor_size(z, 2) == -1);
    OK(thunder_tensor_read(z, r, sizeof r));
    for (int i = 0; i < 6; i++) CHECK(r[i] == 2 * a[i] + b[i]);

    thunder_tensor *kept = thunder_tensor_retain(z);
    CHECK(th_add_(s, x, y) == x);
    OK(thunder_scope_status(s));
    thunder_scope_reset(s); /* z is gone, kept stays */
    OK(thunder_tensor_read(x, r, sizeof r));
    for (int i = 0; i < 6; i++) CHECK(r[i] == a[i] + b[i]);
    OK(thunder_tensor_read(kept, r, sizeof r));
    CHECK(r[5] == 72);

    thunder_tensor_release(kept);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_scope_release(s);
}

/* Products in bf16, sums in f32, until it ends. */
static void autocast(thunder_context *context)
{
    const int64_t shape[] = { 2, 2 };
    const float a[] = { 1, 2, 3, 4 };
    thunder_scope *s = NULL;
    thunder_tensor *x = test_f32(context, 2, shape, a);
    OK(thunder_scope_create(context, 0, &s));
    CHECK(thunder_scope_autocast(s) == 0);
    thunder_scope_set_autocast(s, THUNDER_BF16);
    CHECK(thunder_scope_autocast(s) == THUNDER_BF16);
    CHECK(thunder_tensor_dtype(th_matmul(s, x, x)) == THUNDER_BF16);
    CHECK(thunder_tensor_dtype(th_sum(s, th_matmul(s, x, x))) == THUNDER_F32);
    thunder_scope_reset(s);
    CHECK(thunder_scope_autocast(s) == THUNDER_BF16);
    thunder_scope_set_autocast(s, 0);
    CHECK(thunder_tensor_dtype(th_matmul(s, x, x)) == THUNDER_F32);
    OK(thunder_scope_status(s));
    thunder_scope_set_autocast(s, THUNDER_F64);
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "autocast computes in bf16 or f16; 0 ends it; the dtype is f64");
    CHECK(thunder_scope_autocast(s) == 0);
    thunder_tensor_release(x);
    thunder_scope_release(s);
}

/* A plain number promotes by category only, whichever way it becomes a tensor; it has no data of its own. */
static void numbers(thunder_context *context)
{
    const int64_t shape[] = { 1 };
    const float one[] = { 1 };
    const thunder_any half = thunder_any_f64(0.5), text = thunder_any_str("x", 1);
    float r = 0;
    thunder_scope *s = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, one);
    OK(thunder_scope_create(context, 0, &s));
    thunder_tensor *number = thunder_scope_number(s, &half);
    CHECK(thunder_tensor_is_concrete(x) && !thunder_tensor_is_concrete(number));
    thunder_tensor *sum = th_add(s, x, number);
    CHECK(thunder_tensor_dtype(sum) == THUNDER_F32);
    OK(thunder_tensor_read(sum, &r, sizeof r));
    CHECK(r == 1.5f);
    CHECK(!thunder_tensor_is_concrete(thunder_scope_number(s, &text)));
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "number");
    thunder_tensor_release(x);
    thunder_scope_release(s);
}

static void every_dtype(thunder_context *context)
{
    const thunder_dim shape[] = { 3 };
    static const struct { thunder_dtype dtype; size_t bytes; } all[] = { { THUNDER_BOOL, 1 }, { THUNDER_U8, 1 },
        { THUNDER_I8, 1 }, { THUNDER_U16, 2 }, { THUNDER_I16, 2 }, { THUNDER_U32, 4 }, { THUNDER_I32, 4 }, { THUNDER_U64, 8 },
        { THUNDER_I64, 8 }, { THUNDER_BF16, 2 }, { THUNDER_F16, 2 }, { THUNDER_F32, 4 }, { THUNDER_F64, 8 } };
    thunder_scope *s = NULL;
    OK(thunder_scope_create(context, 0, &s));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        thunder_tensor *ones = th_ones_opt(s, shape, 1, all[i].dtype, THUNDER_CPU);
        CHECK(thunder_tensor_dtype(ones) == all[i].dtype && thunder_tensor_nbytes(ones) == 3 * all[i].bytes);
        CHECK(thunder_tensor_device(ones) == THUNDER_CPU);
    }
    OK(thunder_scope_status(s));
    thunder_scope_release(s);
}

static void gradient(thunder_context *context)
{
    const int64_t shape[] = { 3 };
    const float a[] = { 1, -2, 3 };
    float r[3];
    thunder_scope *s = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, a);
    OK(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &s));
    thunder_tensor *loss = th_sum(s, th_mul(s, th_mul(s, x, x), x));
    thunder_values *g = thunder_scope_grad(s, loss, thunder_scope_list(s, &x, 1));
    OK(thunder_scope_status(s));
    CHECK(thunder_values_count(g) == 1);
    OK(thunder_tensor_read(thunder_values_tensor(g, 0), r, sizeof r));
    for (int i = 0; i < 3; i++) CHECK(r[i] == 3 * a[i] * a[i]);

    /* What the loss depends on: x, but not through a detached copy, and nothing that no op read. */
    thunder_tensor *other = NULL, *detached = th_sum(s, th_detach(s, x));
    OK(thunder_tensor_create(context, THUNDER_F32, 0, NULL, THUNDER_CPU, a, sizeof *a, &other));
    thunder_tensor *const both[] = { x, other };
    thunder_values *asked = thunder_scope_list(s, both, 2), *reached = thunder_scope_reached(s, loss, asked);
    CHECK(thunder_values_i64(reached, 0) == 1 && thunder_values_i64(reached, 1) == 0);
    CHECK(thunder_values_i64(thunder_scope_reached(s, detached, asked), 0) == 0);
    OK(thunder_scope_status(s));
    thunder_tensor_release(other);

    /* Only tensors have gradients; what is absent has none. */
    thunder_values* wrt = NULL;
    const thunder_any number = thunder_any_i64(2), nothing = thunder_any_none();
    OK(thunder_values_create(context, &wrt));
    thunder_values_push_tensor(wrt, x);
    thunder_values_push(wrt, &nothing);
    g = thunder_scope_grad(s, loss, wrt);
    OK(thunder_scope_status(s));
    CHECK(thunder_values_count(g) == 2 && thunder_values_kind(g, 1) == THUNDER_NONE);
    thunder_values_push(wrt, &number);
    thunder_scope_grad(s, loss, wrt);
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "grad: '2' of wrt is no tensor");
    thunder_values_release(wrt);
    thunder_tensor_release(x);
    thunder_scope_release(s);
}

/* Shapes that depend on values, masks as indices, and padding by name. */
static void shapes_of_values(thunder_context *context)
{
    const int64_t shape[] = { 2, 3 }, kernel_shape[] = { 1, 1, 2, 2 }, image_shape[] = { 1, 1, 2, 3 };
    const float a[] = { 1, 0, 3, 0, 5, 6 }, ones[] = { 1, 1, 1, 1 };
    const thunder_dim one[] = { 1 };
    float r[6];
    int64_t places[8];
    thunder_scope *s = NULL;
    thunder_tensor *x = test_f32(context, 2, shape, a), *results[3];
    thunder_tensor *image = test_f32(context, 4, image_shape, a), *kernel = test_f32(context, 4, kernel_shape, ones);
    OK(thunder_scope_create(context, 0, &s));
    thunder_tensor *found = th_nonzero(s, x);
    CHECK(thunder_tensor_size(found, 0) == 4 && thunder_tensor_size(found, 1) == 2);
    OK(thunder_tensor_read(found, places, sizeof places));
    CHECK(places[4] == 1 && places[5] == 1 && places[6] == 1 && places[7] == 2);
    thunder_tensor *mask = th_gt(s, x, th_f64(s, 2.0));
    thunder_tensor *picked = th_index(s, x, &mask, 1);
    CHECK(thunder_tensor_size(picked, 0) == 3);
    OK(thunder_tensor_read(picked, r, 3 * sizeof *r));
    CHECK(r[0] == 3 && r[1] == 5 && r[2] == 6);
    th_index_put_(s, x, &mask, 1, th_f64(s, -1.0));
    OK(thunder_tensor_read(x, r, sizeof r));
    CHECK(r[2] == -1 && r[3] == 0 && r[5] == -1);
    th_unique_opt(s, x, 1, 1, 1, NULL, results, 3);
    CHECK(thunder_tensor_size(results[0], 0) == 3 && thunder_tensor_rank(results[1]) == 2);
    CHECK(thunder_tensor_size(results[2], 0) == 3);
    thunder_tensor *same = th_conv2d_padding(s, image, kernel, NULL, one, 1, "same", one, 1, 1);
    CHECK(thunder_tensor_size(same, 2) == 2 && thunder_tensor_size(same, 3) == 3);
    OK(thunder_tensor_read(same, r, sizeof r));
    CHECK(r[0] == 6 && r[5] == 6);
    OK(thunder_scope_status(s));
    th_conv2d_padding(s, image, kernel, NULL, one, 1, "full", one, 1, 1);
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "'same' or 'valid', got 'full'");
    thunder_tensor_release(x);
    thunder_tensor_release(image);
    thunder_tensor_release(kernel);
    thunder_scope_release(s);
}

int main(void)
{
    thunder_context *context = NULL;
    CHECK(thunder_version() == THUNDER_VERSION_NUMBER);
    OK(thunder_context_create(NULL, &context));
    ops(context);
    autocast(context);
    numbers(context);
    every_dtype(context);
    gradient(context);
    shapes_of_values(context);
    thunder_context_release(context);
    return 0;
}
