/* An ONNX model from memory: y = relu(x @ w.T + b), written by the package onnx. */
#include "test.h"

static const unsigned char model[] = {
    8, 10, 18, 5, 116, 101, 115, 116, 115, 58, 184, 1, 10, 51, 10, 1, 120, 10, 9, 102, 99, 46, 119, 101, 105, 103,
    104, 116, 10, 7, 102, 99, 46, 98, 105, 97, 115, 18, 1, 104, 26, 2, 102, 99, 34, 4, 71, 101, 109, 109, 42, 13,
    10, 6, 116, 114, 97, 110, 115, 66, 24, 1, 160, 1, 2, 10, 12, 10, 1, 104, 18, 1, 121, 34, 4, 82, 101, 108, 117,
    18, 1, 103, 42, 43, 8, 2, 8, 3, 16, 1, 66, 9, 102, 99, 46, 119, 101, 105, 103, 104, 116, 74, 24, 0, 0, 128,
    63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 191, 0, 0, 0, 192, 0, 0, 64, 192, 42, 23, 8, 2, 16, 1, 66, 7, 102,
    99, 46, 98, 105, 97, 115, 74, 8, 0, 0, 0, 63, 0, 0, 0, 63, 90, 20, 10, 1, 120, 18, 15, 10, 13, 8, 1, 18, 9,
    10, 3, 18, 1, 110, 10, 2, 8, 3, 98, 20, 10, 1, 121, 18, 15, 10, 13, 8, 1, 18, 9, 10, 3, 18, 1, 110, 10, 2, 8,
    2, 66, 4, 10, 0, 16, 18};

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    thunder_compiled *c = NULL;
    OK(thunder_program_load_bytes(context, model, sizeof model, NULL, &c));
    CHECK(strstr(thunder_compiled_signature(c), "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"dims\":[\"n\",3]}]") != NULL);

    thunder_module *weights = NULL;
    OK(thunder_compiled_module(c, &weights));
    thunder_module *layer = NULL;
    OK(thunder_module_child(weights, "fc", &layer));
    thunder_module_release(layer);
    thunder_module_release(weights);

    thunder_values *in = NULL, *out = NULL;
    OK(thunder_values_create(context, &in));
    OK(thunder_values_create(context, &out));
    thunder_tensor *x = test_f32(context, 2, (const int64_t[]){ 1, 3 }, (const float[]){ 1, 0, 0 });
    thunder_values_push_tensor(in, x);
    OK(thunder_compiled_call(c, NULL, in, out));
    float y[2];
    OK(thunder_tensor_read(thunder_values_tensor(out, 0), y, sizeof y));
    CHECK(y[0] == 1.5f && y[1] == 0);

    thunder_function *f = NULL;
    REFUSED(thunder_program_load_bytes(context, model, 100, NULL, &c), THUNDER_DATA_LOST, "is not an ONNX model");
    REFUSED(thunder_program_load_bytes(context, NULL, 100, NULL, &c), THUNDER_INVALID_ARGUMENT, "data is NULL");
    OK(thunder_compiled_function(c, &f));
    thunder_function_release(f);
    thunder_values_release(in);
    thunder_values_release(out);
    thunder_tensor_release(x);
    thunder_compiled_release(c);
    thunder_context_release(context);
    return 0;
}
