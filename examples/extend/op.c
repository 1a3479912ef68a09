/* An op of the program's own: written once as a function of ops, then called, compiled and differentiated like any other.
 *   cc op.c $(pkg-config --cflags --libs thunder) -Wl,-rpath,$(pkg-config --variable=libdir thunder) -o op && ./op */
#include <stdio.h>
#include <thunder.h>
#include <thunder/ops.h>

static thunder_status *square_plus(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *x = thunder_values_tensor(in, 0), *c = th_f64(s, thunder_values_f64(in, 1));
    (void)user;
    thunder_values_push_tensor(out, th_add(s, th_mul(s, x, x), c));
    return NULL; /* the scope keeps the first error and reports it by itself */
}

static thunder_status *add_square_plus(thunder_context *context)
{
    thunder_op_desc op = { 0 };
    op.size = sizeof op;
    op.schema = "mine.square_plus(tensor x, float c=1.0) -> tensor";
    op.doc = "x * x + c.";
    op.decompose = square_plus;
    return thunder_context_add_op(context, &op);
}

static thunder_tensor *th_square_plus(thunder_scope *s, thunder_tensor *x, double c)
{
    const thunder_any args[] = { thunder_any_tensor(x), thunder_any_f64(c) };
    return thunder_op_invoke(s, "mine.square_plus", args, 2, NULL, NULL, 0, THUNDER_HERE);
}

static thunder_status *gradient(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *x = thunder_values_tensor(in, 0), *loss = th_sum(s, th_square_plus(s, x, 3));
    (void)user;
    thunder_values_push_tensor(out, thunder_values_tensor(thunder_scope_grad(s, loss, thunder_scope_list(s, &x, 1)), 0));
    return NULL;
}

int main(void)
{
    const int64_t shape[] = { 3 };
    const float data[] = { 1, 2, 3 };
    float dx[3] = { 0, 0, 0 };
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *compiled = NULL;
    thunder_tensor *x = NULL, *y = NULL;
    thunder_status *st = thunder_context_create(NULL, &context);
    if (!st) st = add_square_plus(context);
    if (!st) st = thunder_function_create(context, "gradient", gradient, NULL, NULL, &f);
    if (!st) st = thunder_compile(f, NULL, &compiled);
    if (!st) st = thunder_tensor_create(context, THUNDER_F32, 1, shape, THUNDER_CPU, data, sizeof data, &x);
    if (!st) st = thunder_compiled_call_tensors(compiled, &x, 1, &y, 1);
    if (!st) st = thunder_tensor_read(y, dx, sizeof dx);
    if (st) fprintf(stderr, "%s\n", thunder_status_message(st));
    else printf("%g %g %g\n", dx[0], dx[1], dx[2]); /* 2 4 6 */
    const int failed = st != NULL || dx[2] != 6;
    thunder_status_release(st);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_compiled_release(compiled);
    thunder_function_release(f);
    thunder_context_release(context);
    return failed;
}
