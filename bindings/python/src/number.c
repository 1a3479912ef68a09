/* The only element of a tensor as a number of Python: item(), float(), int(), bool() and what asks for an index. */
#include "tensor.h"

/* What is read of a tensor, in an error's words; `instead`: what can be done about it. */
typedef struct reading {
    const char *who, *instead, *many;
} reading;
static const reading as_item = {"item()", "compute with the tensor itself, or return it", "tolist() gives them all"};
static const reading as_float = {"float()", "compute with the tensor itself, or return it", "tolist() gives them all"};
static const reading as_int = {"int()", "compute with the tensor itself, or return it", "tolist() gives them all"};
static const reading as_index = {"an index, a size or a range()", "compute with the tensor itself", "tolist() gives them all"};
static const reading as_key = {"hash()", "a dict's key and a member of a set are plain values", "tolist() gives them all"};
static const reading as_text = {"str()", "repr() says what a traced tensor is", "tolist() gives them all"};
static const reading as_bool = {"bool()", "instead of `if` there is thunder.where(condition, a, b)", "any() and all() say what is meant"};

/* A compiled function that looks at a value: its program has none yet. */
static PyObject *refuse_traced(PyObject *object, const reading *r)
{
    static const char live[] = ". Float arguments are live values, tensors in a compiled function, so that a new one compiles nothing: "
                               "a number to branch on or to count by is passed as an integer, a boolean or a string, which are "
                               "constants, or is bound before compiling, by functools.partial(f, lr=0.1)";
    PyObject *dtype = tensor_dtype(object, NULL), *shape = tensor_shape(object, NULL), *text = NULL;
    if (dtype && shape)
        text = PyUnicode_FromFormat("%s of a traced tensor (%R, shape %R): a compiled function is traced once for all values, and has none "
                                    "yet; %s, or compile it with fullgraph=False%s", r->who, dtype, shape, r->instead, live_numbers ? live : "");
    if (text) raise_message(THUNDER_PROXY_HAS_NO_DATA, text);
    Py_XDECREF(text);
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    return NULL;
}

static PyObject *read_number(PyObject *object, const reading *r)
{
    thunder_tensor *tensor = tensor_handle(object);
    if (tensor_materialize(tensor) < 0) return NULL;
    const size_t bytes = thunder_tensor_nbytes(tensor);
    const thunder_dtype dtype = thunder_tensor_dtype(tensor);
    union {
        int64_t i64;
        uint64_t u64;
        int32_t i32;
        int16_t i16;
        int8_t i8;
        uint32_t bits;
        uint16_t half;
        uint8_t byte;
        float f32;
        double f64;
    } value = {.i64 = 0};
    if (!thunder_tensor_is_concrete(tensor) && here && thunder_scope_is_tracing(here)) return refuse_traced(object, r);
    if (thunder_tensor_is_concrete(tensor) && bytes != (size_t)(dtype & 0xff) / 8)
        return PyErr_Format(PyExc_ValueError, "%s: a tensor with one element was expected, this has %zu: %s", r->who,
                            bytes / ((size_t)(dtype & 0xff) / 8), r->many);
    if (tensor_note_read(object, false) || check_status(thunder_tensor_read(tensor, &value, bytes))) return NULL;
    switch (dtype) {
        case THUNDER_BOOL: return PyBool_FromLong(value.byte);
        case THUNDER_U8: return PyLong_FromLong(value.byte);
        case THUNDER_I8: return PyLong_FromLong(value.i8);
        case THUNDER_U16: return PyLong_FromLong(value.half);
        case THUNDER_I16: return PyLong_FromLong(value.i16);
        case THUNDER_U32: return PyLong_FromUnsignedLong(value.bits);
        case THUNDER_U64: return PyLong_FromUnsignedLongLong(value.u64);
        case THUNDER_I32: return PyLong_FromLong(value.i32);
        case THUNDER_I64: return PyLong_FromLongLong(value.i64);
        case THUNDER_F32: return PyFloat_FromDouble(value.f32);
        case THUNDER_F64: return PyFloat_FromDouble(value.f64);
        case THUNDER_F16: return PyFloat_FromDouble(PyFloat_Unpack2((const char *)&value.half, PY_LITTLE_ENDIAN));
        case THUNDER_BF16: value.bits = (uint32_t)value.half << 16; return PyFloat_FromDouble(value.f32);
        default: return PyErr_Format(PyExc_TypeError, "%s: this dtype has no number in Python", r->who);
    }
}

/* item(): the only element as a number of Python. */
PyObject *tensor_item(PyObject *object, PyObject *unused)
{
    return read_number(object, &as_item);
}

bool tensor_is_number(PyObject *object, bool whole)
{
    if (!tensor_test(object) || (here && (!whole || thunder_scope_is_tracing(here)))) return false; /* integers have no gradient */
    const thunder_tensor *tensor = tensor_handle(object);
    const int32_t category = thunder_tensor_dtype(tensor) >> 8;
    const bool real = category == THUNDER_F32 >> 8 || category == THUNDER_BF16 >> 8;
    return thunder_tensor_rank(tensor) == 0 && thunder_tensor_is_concrete(tensor) && !(whole && real);
}

static PyObject *convert_item(PyObject *object, const reading *r, PyObject *(*convert)(PyObject *))
{
    PyObject *item = read_number(object, r);
    PyObject *result = item ? convert(item) : NULL;
    Py_XDECREF(item);
    return result;
}
PyObject *tensor_float(PyObject *object) { return convert_item(object, &as_float, PyNumber_Float); }
PyObject *tensor_int(PyObject *object) { return convert_item(object, &as_int, PyNumber_Long); }
PyObject *tensor_index(PyObject *object) { return convert_item(object, &as_index, PyNumber_Index); }
int tensor_bool(PyObject *object)
{
    PyObject *item = read_number(object, &as_bool);
    const int truth = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    return truth;
}
PyObject *tensor_str(PyObject *object)
{
    return ((Tensor *)object)->live ? convert_item(object, &as_text, PyObject_Str) : PyObject_Repr(object);
}
Py_hash_t tensor_hash_live(PyObject *object)
{
    PyObject *item = read_number(object, &as_key);
    const Py_hash_t hash = item ? PyObject_Hash(item) : -1;
    Py_XDECREF(item);
    return hash;
}
