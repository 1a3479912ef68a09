/* Values: trees of leaves, their paths, their mistakes, and borrowed tensors and strided views. */
// covers: capi/values.cpp
#include "test.h"

static void trees(thunder_context *context)
{
    const int64_t shape[] = { 1 };
    const float one[] = { 1 };
    thunder_values *v = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, one);
    const thunder_any number = thunder_any_f64(0.5), text = thunder_any_str("mean", 4), count = thunder_any_i64(-7);
    size_t bytes = 0;
    OK(thunder_values_create(context, &v));
    thunder_values_push_tensor(v, x);
    thunder_values_open(v, 1, NULL);
    thunder_values_key(v, "x");
    thunder_values_push(v, &number);
    thunder_values_key(v, "mask");
    thunder_values_push(v, &text);
    thunder_values_close(v);
    thunder_values_push(v, &count);
    OK(thunder_values_status(v));

    CHECK(!strcmp(thunder_values_structure(v), "*,{\"mask\":*,\"x\":*},*"));
    CHECK(thunder_values_count(v) == 4);
    CHECK(thunder_values_find(v, "1.mask") == 1 && thunder_values_find(v, "1.none") == SIZE_MAX);
    CHECK(!strcmp(thunder_values_path(v, 2), "1.x") && thunder_values_path(v, 4) == NULL);
    CHECK(thunder_values_tensor(v, 0) == x);
    CHECK(thunder_values_kind(v, 1) == THUNDER_STRING && thunder_values_kind(v, 9) == THUNDER_NONE);
    CHECK(!strcmp(thunder_values_str(v, 1, &bytes), "mean") && bytes == 4);
    CHECK(thunder_values_f64(v, 2) == 0.5 && thunder_values_i64(v, 3) == -7 && thunder_values_f64(v, 3) == -7);
    thunder_any got;
    OK(thunder_values_get(v, 1, &got));
    CHECK(got.kind == THUNDER_STRING && got.count == 4);
    OK(thunder_values_status(v));

    CHECK(thunder_values_i64(v, 2) == 0); /* 0.5 is no integer: the error sticks */
    REFUSED(thunder_values_status(v), THUNDER_INVALID_ARGUMENT, "leaf 2 is a float");
    thunder_values_reset(v);
    OK(thunder_values_status(v));
    thunder_values_open(v, 1, NULL);
    thunder_values_push_tensor(v, x); /* without a key */
    REFUSED(thunder_values_status(v), THUNDER_INVALID_ARGUMENT, "needs a key");
    thunder_values_reset(v);
    thunder_values_set_tensor(v, 3, x);
    REFUSED(thunder_values_status(v), THUNDER_INVALID_ARGUMENT, "no leaf 3");
    thunder_values_reset(v);
    thunder_values_open(v, 1, NULL); /* of one map alone the keys are paths */
    thunder_values_key(v, "0.weight");
    thunder_values_push(v, &count);
    thunder_values_key(v, "bias");
    thunder_values_push(v, &count);
    thunder_values_close(v);
    CHECK(thunder_values_find(v, "0.weight") == 0 && thunder_values_find(v, "0.0.weight") == 0 && thunder_values_find(v, "bias") == 1);
    thunder_values_reset(v);
    thunder_values_push(v, &count);
    CHECK(thunder_values_str(v, 0, NULL) == NULL);
    REFUSED(thunder_values_status(v), THUNDER_INVALID_ARGUMENT, "leaf 0 is an integer, not a string");
    thunder_values_release(v);
    thunder_tensor_release(x);
}

/* A leaf of each kind comes back as what was pushed. */
static void every_kind(thunder_context *context)
{
    const thunder_dim dims[] = { 2, -1 };
    const double floats[] = { 0.5, -1 };
    const float one[] = { 1 };
    thunder_values *v = NULL;
    thunder_tensor *x = test_f32(context, 0, NULL, one), *pair[] = { x, x };
    const thunder_any leaves[] = { thunder_any_none(), thunder_any_tensor(x), thunder_any_i64(-7), thunder_any_f64(0.5),
        thunder_any_bool(5), thunder_any_str("text", 4), thunder_any_dims(dims, 2), thunder_any_floats(floats, 2),
        thunder_any_dtype(THUNDER_BF16), thunder_any_device(THUNDER_CPU) };
    const thunder_kind kinds[] = { THUNDER_NONE, THUNDER_TENSOR, THUNDER_INT, THUNDER_FLOAT, THUNDER_BOOLEAN,
        THUNDER_STRING, THUNDER_DIMS, THUNDER_FLOATS, THUNDER_DTYPE, THUNDER_DEVICE };
    OK(thunder_values_create(context, &v));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        thunder_any got;
        thunder_values_push(v, &leaves[i]);
        OK(thunder_values_get(v, i, &got));
        CHECK(leaves[i].kind == kinds[i] && thunder_values_kind(v, i) == kinds[i]);
        CHECK(got.kind == kinds[i] && got.count == leaves[i].count);
        if (kinds[i] == THUNDER_STRING) CHECK(!memcmp(got.u.s, "text", 4));
        else if (kinds[i] == THUNDER_DIMS) CHECK(got.u.d[0] == 2 && got.u.d[1] == -1);
        else if (kinds[i] == THUNDER_FLOATS) CHECK(got.u.fs[0] == 0.5 && got.u.fs[1] == -1);
        else CHECK(!memcmp(&got.u, &leaves[i].u, sizeof got.u));
    }
    CHECK(thunder_values_i64(v, 4) == 1); /* a boolean is 0 or 1 */
    thunder_values_reset(v);
    const thunder_any list = thunder_any_tensors(pair, 2);
    CHECK(list.kind == THUNDER_TENSORS);
    thunder_values_push(v, &list); /* a group of leaves */
    CHECK(!strcmp(thunder_values_structure(v), "[*,*]") && thunder_values_kind(v, 1) == THUNDER_TENSOR);
    thunder_values_release(v);
    thunder_tensor_release(x);
}

static void count_up(void *user) { ++*(int *)user; }

static void borrowed(thunder_context *context)
{
    float memory[6] = { 0, 1, 2, 3, 4, 5 }, r[6];
    const int64_t shape[] = { 3, 2 }, transposed[] = { 1, 3 }, row[] = { 2 };
    int ended = 0;
    const void *data = NULL;
    void *change = NULL;
    thunder_tensor *t = NULL, *view = NULL;
    OK(thunder_tensor_borrow(context, THUNDER_F32, 2, shape, transposed, 0, memory, sizeof memory, count_up, &ended,
        &t));
    CHECK(!thunder_tensor_is_contiguous(t) && thunder_tensor_nbytes(t) == sizeof memory);
    CHECK(thunder_tensor_strides(t)[1] == 3 && thunder_tensor_shape(t)[0] == 3);
    OK(thunder_tensor_read(t, r, sizeof r)); /* dense, whatever the strides */
    CHECK(r[0] == 0 && r[1] == 3 && r[2] == 1 && r[5] == 5);
    OK(thunder_tensor_view(t, 1, row, transposed + 1, 1, &view)); /* elements 1 and 4 */
    OK(thunder_tensor_data(t, &data));
    CHECK(data == memory);
    thunder_tensor_release(t);
    CHECK(ended == 0); /* the view still uses the memory */
    OK(thunder_tensor_data_mutable(view, &change));
    *(float *)change = 40;
    OK(thunder_tensor_read(view, r, 2 * sizeof *r));
    CHECK(memory[1] == 40 && r[0] == 40 && r[1] == 4);
    thunder_tensor_release(view);
    CHECK(ended == 1);

    ended = 0; /* destroy runs once also when the call fails */
    REFUSED(thunder_tensor_borrow(context, THUNDER_F32, 2, shape, transposed, 0, memory, 20, count_up, &ended, &t),
        THUNDER_INVALID_ARGUMENT, "memory that holds 20");
    CHECK(ended == 1);
    REFUSED(thunder_tensor_borrow(context, THUNDER_F32, 2, shape, NULL, 0, (char *)memory + 1, 24, count_up, &ended,
                &t),
        THUNDER_INVALID_ARGUMENT, "aligned");
    CHECK(ended == 2);
}

static void borrowed_again(thunder_context *context)
{
    float first[6] = { 0 }, second[6] = { 0, 1, 2, 3, 4, 5 }, r[6];
    const int64_t shape[] = { 3, 2 }, other[] = { 2, 3 }, transposed[] = { 1, 3 }, dense[] = { 2, 1 };
    const size_t bytes = sizeof second;
    thunder_tensor *t = NULL;
    OK(thunder_tensor_borrow(context, THUNDER_F32, 2, shape, transposed, 0, first, bytes, NULL, NULL, &t));
    CHECK(thunder_tensor_reborrow(t, THUNDER_F32, 2, shape, transposed, second, bytes) == 1);
    OK(thunder_tensor_read(t, r, sizeof r));
    CHECK(r[1] == 3 && r[2] == 1);
    CHECK(!thunder_tensor_reborrow(t, THUNDER_I32, 2, shape, transposed, first, bytes));
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, other, transposed, first, bytes));
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, shape, dense, first, bytes));
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, shape, transposed, first, bytes + 4));
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, shape, transposed, (char *)first + 1, bytes));
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, shape, transposed, NULL, bytes));
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, NULL, transposed, first, bytes));
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, shape, NULL, first, bytes));
    thunder_tensor_retain(t); /* somebody else has it, and sees what it was */
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, shape, transposed, first, bytes));
    thunder_tensor_release(t);
    OK(thunder_tensor_read(t, r, sizeof r));
    CHECK(r[5] == 5);
    thunder_tensor_release(t);
    OK(thunder_tensor_create(context, THUNDER_F32, 2, shape, THUNDER_CPU, second, bytes, &t));
    CHECK(!thunder_tensor_reborrow(t, THUNDER_F32, 2, shape, dense, first, bytes)); /* its memory is its own */
    thunder_tensor_release(t);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    trees(context);
    every_kind(context);
    borrowed(context);
    borrowed_again(context);
    thunder_context_release(context);
    return 0;
}
