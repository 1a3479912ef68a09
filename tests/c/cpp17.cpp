// The headers in a C++ program: they compile as C++17, and a callback may be a lambda that throws.
#include <cstdio>
#include <stdexcept>

#include <thunder.h>
#include <thunder/ops.h>

static int fail(const char *what, thunder_status *status)
{
    std::fprintf(stderr, "%s: %s\n", what, thunder_status_message(status));
    return 1;
}

int main()
{
    thunder_context *context = nullptr;
    thunder_function *function = nullptr;
    thunder_compiled *compiled = nullptr;
    if (thunder_status *st = thunder_context_create(nullptr, &context)) return fail("create", st);
    thunder_fn body = [](thunder_scope *s, const thunder_values *in, thunder_values *out, void *) -> thunder_status * {
        thunder_tensor *x = thunder_values_tensor(in, 0);
        if (thunder_tensor_rank(x) > 1) throw std::invalid_argument("a vector is needed");
        thunder_values_push_tensor(out, th_maximum(s, x, th_f64(s, 2)));
        return nullptr;
    };
    if (thunder_status *st = thunder_function_create(context, "body", body, nullptr, nullptr, &function))
        return fail("function", st);
    if (thunder_status *st = thunder_compile(function, nullptr, &compiled)) return fail("compile", st);

    const float data[4] = {1, 2, 3, 4};
    const int64_t vector[] = {4}, matrix[] = {2, 2};
    thunder_tensor *x = nullptr, *y = nullptr;
    float r[4];
    if (thunder_status *st = thunder_tensor_create(context, THUNDER_F32, 1, vector, 0, data, sizeof data, &x))
        return fail("tensor", st);
    if (thunder_status *st = thunder_compiled_call_tensors(compiled, &x, 1, &y, 1)) return fail("call", st);
    if (thunder_status *st = thunder_tensor_read(y, r, sizeof r)) return fail("read", st);
    if (r[0] != 2 || r[3] != 4) return fail("wrong result", nullptr);
    thunder_tensor_release(x);
    thunder_tensor_release(y);

    if (thunder_status *st = thunder_tensor_create(context, THUNDER_F32, 2, matrix, 0, data, sizeof data, &x))
        return fail("tensor", st);
    thunder_status *thrown = thunder_compiled_call_tensors(compiled, &x, 1, &y, 1);
    if (!thrown) return fail("the exception was lost", nullptr);
    thunder_status_release(thrown);
    thunder_tensor_release(x);
    thunder_compiled_release(compiled);
    thunder_function_release(function);
    thunder_context_release(context);
    return 0;
}
