/* The text of a trace, printed and read back; text that is no trace is refused with its place. */
// covers: capi/trace.cpp
#include "test.h"

static thunder_status *body(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_softmax(s, thunder_values_tensor(in, 0), -1));
    return NULL;
}

int main(void)
{
    const int64_t shape[] = { 2, 3 };
    const float data[] = { 1, 2, 3, 4, 5, 6 };
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_trace *written = NULL, *read = NULL;
    OK(thunder_context_create(NULL, &context));
    thunder_tensor *x = test_f32(context, 2, shape, data), *y = NULL;
    OK(thunder_function_create(context, "body", body, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, &y, 1));
    for (size_t stage = 0; stage < thunder_compiled_trace_count(c); stage++) {
        OK(thunder_compiled_trace(c, stage, &written));
        const char *text = thunder_trace_text(written);
        OK(thunder_trace_parse(context, text, strlen(text), &read));
        CHECK(!strcmp(thunder_trace_text(read), text));
        CHECK(!strcmp(thunder_trace_name(read), thunder_trace_name(written)));
        thunder_trace_release(read);
        thunder_trace_release(written);
    }
    REFUSED(thunder_trace_parse(context, "return 7", 8, &read), THUNDER_INVALID_ARGUMENT, "trace:1:1");
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_context_release(context);
    return 0;
}
