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

/* thunder_any_NAME(value). What is NULL, and a dtype or device that is 0, is none. */
#define THUNDER_ANY_ONE(name, leaf_kind, type, field, is_there) \
    static inline thunder_any thunder_any_##name(type value)    \
    {                                                           \
        thunder_any a = thunder_any_none();                     \
        if (is_there) {                                         \
            a.kind = leaf_kind;                                 \
            a.u.field = value;                                  \
        }                                                       \
        return a;                                               \
    }
THUNDER_ANY_ONE(i64, THUNDER_INT, int64_t, i, 1)
THUNDER_ANY_ONE(f64, THUNDER_FLOAT, double, f, 1)
THUNDER_ANY_ONE(tensor, THUNDER_TENSOR, thunder_tensor *, t, value != NULL)
THUNDER_ANY_ONE(dtype, THUNDER_DTYPE, thunder_dtype, i, value != 0)
THUNDER_ANY_ONE(device, THUNDER_DEVICE, thunder_device, i, value != 0)
#undef THUNDER_ANY_ONE

static inline thunder_any thunder_any_u64(uint64_t value)
{
    thunder_any a = thunder_any_i64((int64_t)value);
    a.kind = THUNDER_UINT;
    return a;
}
static inline thunder_any thunder_any_bool(int32_t value)
{
    thunder_any a = thunder_any_i64(value != 0);
    a.kind = THUNDER_BOOLEAN;
    return a;
}

/* thunder_any_NAME(elements, count); of a string the bytes without its NUL. */
#define THUNDER_ANY_MANY(name, leaf_kind, type, field)                                \
    static inline thunder_any thunder_any_##name(type const *elements, size_t count) \
    {                                                                                 \
        thunder_any a = thunder_any_none();                                           \
        a.kind = leaf_kind;                                                           \
        a.count = (uint32_t)count;                                                    \
        a.u.field = elements;                                                         \
        return a;                                                                     \
    }
THUNDER_ANY_MANY(str, THUNDER_STRING, char, s)
THUNDER_ANY_MANY(dims, THUNDER_DIMS, thunder_dim, d)
THUNDER_ANY_MANY(floats, THUNDER_FLOATS, double, fs)
THUNDER_ANY_MANY(tensors, THUNDER_TENSORS, thunder_tensor *, ts)
#undef THUNDER_ANY_MANY
#endif
