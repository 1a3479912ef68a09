/* thunder/any.h: makes one leaf of each kind. Nothing here is a symbol of the library; what a leaf points to must live
 * as long as the call it is given to. */
#ifndef THUNDER_ANY_H
#define THUNDER_ANY_H
#include "thunder.h"

static inline thunder_any thunder_any_none(void)
{
    thunder_any a;
    a.kind = THUNDER_NONE;
    a.count = 0;
    a.u.i = 0;
    return a;
}
static inline thunder_any thunder_any_i64(int64_t value)
{
    thunder_any a = thunder_any_none();
    a.kind = THUNDER_INT;
    a.u.i = value;
    return a;
}
static inline thunder_any thunder_any_f64(double value)
{
    thunder_any a = thunder_any_none();
    a.kind = THUNDER_FLOAT;
    a.u.f = value;
    return a;
}
static inline thunder_any thunder_any_bool(int32_t value)
{
    thunder_any a = thunder_any_none();
    a.kind = THUNDER_BOOLEAN;
    a.u.i = value != 0;
    return a;
}
static inline thunder_any thunder_any_tensor(thunder_tensor *tensor_or_null)
{
    thunder_any a = thunder_any_none();
    if (!tensor_or_null) return a;
    a.kind = THUNDER_TENSOR;
    a.u.t = tensor_or_null;
    return a;
}
static inline thunder_any thunder_any_tensors(thunder_tensor *const *tensors, size_t count)
{
    thunder_any a = thunder_any_none();
    a.kind = THUNDER_TENSORS;
    a.count = (uint32_t)count;
    a.u.ts = tensors;
    return a;
}
static inline thunder_any thunder_any_str(const char *text, size_t bytes)
{
    thunder_any a = thunder_any_none();
    a.kind = THUNDER_STRING;
    a.count = (uint32_t)bytes;
    a.u.s = text;
    return a;
}
static inline thunder_any thunder_any_dims(const thunder_dim *dims, size_t count)
{
    thunder_any a = thunder_any_none();
    a.kind = THUNDER_DIMS;
    a.count = (uint32_t)count;
    a.u.d = dims;
    return a;
}
static inline thunder_any thunder_any_floats(const double *numbers, size_t count)
{
    thunder_any a = thunder_any_none();
    a.kind = THUNDER_FLOATS;
    a.count = (uint32_t)count;
    a.u.fs = numbers;
    return a;
}
static inline thunder_any thunder_any_dtype(thunder_dtype dtype) /* 0: none */
{
    thunder_any a = thunder_any_none();
    if (dtype) a.kind = THUNDER_DTYPE;
    a.u.i = dtype;
    return a;
}
static inline thunder_any thunder_any_device(thunder_device device) /* 0: none */
{
    thunder_any a = thunder_any_none();
    if (device) a.kind = THUNDER_DEVICE;
    a.u.i = device;
    return a;
}
#endif
