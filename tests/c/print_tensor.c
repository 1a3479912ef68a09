/* What tensors look like as text, and who says how. */
#include <thunder/tensor.h> /* alone and first: it brings thunder.h */
#include "test.h"

/* The text of a tensor is this one. */
#define PRINTS(context, tensor, options, text)                                \
    do {                                                                      \
        thunder_values *out = NULL;                                           \
        OK(thunder_values_create((context), &out));                           \
        OK(thunder_tensor_text((context), (tensor), (options), out));         \
        if (strcmp(thunder_values_str(out, 0, NULL), (text)))                 \
            fprintf(stderr, "got %s\n", thunder_values_str(out, 0, NULL));    \
        CHECK(!strcmp(thunder_values_str(out, 0, NULL), (text)));             \
        thunder_values_release(out);                                          \
    } while (0)

static void options(thunder_context *context)
{
    const float data[] = { 1.23456f, 20 };
    thunder_tensor *x = test_f32(context, 1, (int64_t[]){ 2 }, data);
    thunder_options *two = NULL, *none = NULL, *wrong = NULL;
    PRINTS(context, x, NULL, "tensor([ 1.2346, 20.0000])");
    OK(thunder_options_create(context, &two));
    thunder_options_set_i64(two, "precision", 2);
    PRINTS(context, x, two, "tensor([ 1.23, 20.00])");
    PRINTS(context, x, NULL, "tensor([ 1.2346, 20.0000])");
    thunder_options_set_bool(two, "sci_mode", 1);
    OK(thunder_context_set_printoptions(context, two));
    PRINTS(context, x, NULL, "tensor([1.23e+00, 2.00e+01])");

    /* Without sci_mode the elements decide again; what else was said stays. */
    OK(thunder_options_create(context, &none));
    OK(thunder_context_set_printoptions(context, none));
    PRINTS(context, x, NULL, "tensor([ 1.23, 20.00])");
    thunder_options_set_str(none, "profile", "default");
    OK(thunder_context_set_printoptions(context, none));

    OK(thunder_options_create(context, &wrong));
    thunder_options_set_i64(wrong, "precison", 2);
    REFUSED(thunder_context_set_printoptions(context, wrong), THUNDER_INVALID_ARGUMENT, "did you mean 'precision'");
    thunder_options_release(wrong);
    OK(thunder_options_create(context, &wrong));
    thunder_options_set_i64(wrong, "edgeitems", -1);
    REFUSED(thunder_context_set_printoptions(context, wrong), THUNDER_INVALID_ARGUMENT, "must not be negative, got -1");
    thunder_options_release(wrong);
    OK(thunder_options_create(context, &wrong));
    thunder_options_set_str(wrong, "profile", "long");
    REFUSED(thunder_context_set_printoptions(context, wrong), THUNDER_INVALID_ARGUMENT, "\"default\", \"short\" or \"full\"");
    PRINTS(context, x, NULL, "tensor([ 1.2346, 20.0000])");
    thunder_options_release(two), thunder_options_release(none), thunder_options_release(wrong);
    thunder_tensor_release(x);
}

static void what_is_no_tensor_of_memory(thunder_context *context)
{
    thunder_scope *scope = NULL;
    thunder_values *out = NULL;
    OK(thunder_scope_create(context, 0, &scope));
    PRINTS(context, thunder_scope_number(scope, &(thunder_any){ .kind = THUNDER_INT, .u.i = 3 }), NULL, "tensor(3)");
    OK(thunder_values_create(context, &out));
    thunder_tensor *failed = thunder_op_invoke(scope, "no_such_op", NULL, 0, NULL, NULL, 0, NULL);
    REFUSED(thunder_tensor_text(context, failed, NULL, out), THUNDER_NOT_FOUND, "no_such_op");
    CHECK(thunder_values_count(out) == 0);
    REFUSED(thunder_tensor_text(context, NULL, NULL, out), THUNDER_INVALID_ARGUMENT, "tensor is NULL");
    thunder_values_release(out);
    thunder_scope_release(scope);
}

static thunder_status *traced(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    PRINTS(thunder_scope_context(scope), thunder_values_tensor(in, 0), NULL, "tensor(..., size=(2,), traced)");
    thunder_values_push_tensor(out, thunder_values_tensor(in, 0));
    return NULL;
}

static void in_a_traced_function(thunder_context *context)
{
    thunder_function *function = NULL;
    thunder_compiled *compiled = NULL;
    thunder_tensor *x = test_f32(context, 1, (int64_t[]){ 2 }, (const float[]){ 1, 2 }), *same = NULL;
    OK(thunder_function_create(context, "f", traced, NULL, NULL, &function));
    OK(thunder_compile(function, NULL, &compiled));
    OK(thunder_compiled_call_tensors(compiled, &x, 1, &same, 1));
    PRINTS(context, same, NULL, "tensor([1., 2.])");
    thunder_tensor_release(same), thunder_tensor_release(x);
    thunder_compiled_release(compiled), thunder_function_release(function);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    options(context);
    what_is_no_tensor_of_memory(context);
    in_a_traced_function(context);
    thunder_context_release(context);
    return 0;
}
