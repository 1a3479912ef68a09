/* Numbers in nested lists as the elements of a tensor: PyTorch's rules for their dtype, and none that does not fit it. */
#include "layer.h"

#include <math.h>
#include <string.h>

enum { MAX_RANK = 64 };

/* Data whose leaves are numbers: Python's, or numpy's scalars. */
typedef struct filling {
    thunder_dtype dtype;
    size_t rank;
    int64_t shape[MAX_RANK];
    char *next; /* where the next element goes */
} filling;

static bool is_leaf(PyObject *object) { return PyFloat_Check(object) || PyLong_Check(object) || scalar_test(object); }

/* Whether PyTorch treats it as a sequence. Tensors and arrays are not: the caller stacks those. */
static bool is_list(PyObject *object)
{
    if (PyList_Check(object) || PyTuple_Check(object)) return true;
    return PySequence_Check(object) && !tensor_test(object) && !foreign_test(object) && !PyUnicode_Check(object) &&
           !PyBytes_Check(object) && !PyDict_Check(object);
}

/* Its members, held; NULL and an exception. */
static PyObject *members_of(PyObject *list) { return PySequence_Fast(list, "tensor: a list of numbers was expected"); }

/* ---- the shape and the dtype ---- */

/* Along first members. 1: all are lists but for a number; 0: something else stands there; -1 and an exception. */
static int read_shape(PyObject *object, filling *f)
{
    PyObject *at = Py_NewRef(object);
    while (is_list(at)) {
        PyObject *members = f->rank < MAX_RANK ? members_of(at) : NULL;
        Py_DECREF(at);
        if (!members) {
            if (f->rank == MAX_RANK) PyErr_Format(PyExc_ValueError, "tensor: lists are nested deeper than %d", MAX_RANK);
            return -1;
        }
        const Py_ssize_t count = f->shape[f->rank++] = PySequence_Fast_GET_SIZE(members);
        at = count ? Py_NewRef(PySequence_Fast_GET_ITEM(members, 0)) : NULL;
        Py_DECREF(members);
        if (!at) return 1;
    }
    const int leaf = is_leaf(at);
    Py_DECREF(at);
    return leaf;
}

/* Of one number: numpy's scalars have their own, Python's the default of their kind. 0 and an exception. */
static thunder_dtype dtype_of(PyObject *leaf)
{
    thunder_dtype made = PyFloat_Check(leaf) ? THUNDER_F32 : PyBool_Check(leaf) ? THUNDER_BOOL : THUNDER_I64;
    if (!scalar_test(leaf)) return made;
    PyObject *dtype = PyObject_GetAttrString(leaf, "dtype");
    if (!dtype || !dtype_from(dtype, &made)) made = 0;
    Py_XDECREF(dtype);
    return made;
}

static int join_dtype(filling *f, PyObject *leaf)
{
    const thunder_dtype own = dtype_of(leaf);
    if (!own) return -1;
    if (!f->dtype) f->dtype = own;
    return own == f->dtype || !check_status(thunder_promote_types(f->dtype, own, &f->dtype)) ? 1 : -1;
}

static int refuse_shape(const filling *f, size_t depth, Py_ssize_t count)
{
    if (count < 0)
        PyErr_Format(PyExc_ValueError, "tensor: the lists are not those of one shape: a number stands where a list of %lld is expected",
                     (long long)f->shape[depth]);
    else if (depth == f->rank)
        PyErr_Format(PyExc_ValueError, "tensor: the lists are not those of one shape: a list of %zd stands where a number is expected", count);
    else
        PyErr_Format(PyExc_ValueError, "tensor: the lists are not those of one shape: a list of %zd stands where a list of %lld is expected",
                     count, (long long)f->shape[depth]);
    return -1;
}

/* Whether all leaves are numbers, in lists of one shape; joins their dtypes where `own`. As read_shape() answers. */
static int inspect(PyObject *object, filling *f, size_t depth, bool own)
{
    if (!is_list(object)) {
        if (!is_leaf(object)) return 0;
        return depth < f->rank ? refuse_shape(f, depth, -1) : own ? join_dtype(f, object) : 1;
    }
    PyObject *members = members_of(object);
    if (!members) return -1;
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(members);
    int good = depth < f->rank && count == f->shape[depth] ? 1 : refuse_shape(f, depth, count);
    for (Py_ssize_t i = 0; i < count && good == 1; i++) good = inspect(PySequence_Fast_GET_ITEM(members, i), f, depth + 1, own);
    Py_DECREF(members);
    return good;
}

/* ---- the elements ---- */

static int does_not_fit(PyObject *number, thunder_dtype dtype)
{
    const char *name = dtype_find(dtype)->name;
    int overflow = 0;
    PyErr_Clear();
    if (dtype == THUNDER_I64 && PyLong_Check(number)) PyLong_AsLongLongAndOverflow(number, &overflow);
    const bool wide = overflow > 0;
    PyErr_Format(PyExc_OverflowError, "tensor: %R does not fit %s%s", number, name,
                 wide ? "; dtype=thunder.uint64 holds up to 2**64 - 1, dtype=thunder.float64 rounds it" : "");
    return -1;
}

static int store_real(PyObject *number, filling *f)
{
    const double value = PyFloat_AsDouble(number);
    if (value == -1.0 && PyErr_Occurred()) return does_not_fit(number, f->dtype);
    if (f->dtype == THUNDER_F32)
        memcpy(f->next, &(float){(float)value}, 4);
    else
        memcpy(f->next, &value, 8);
    return 0;
}

static int store_bits(PyObject *whole, PyObject *number, filling *f)
{
    const int bits = f->dtype & 0xff;
    const bool is_signed = f->dtype >> 8 == THUNDER_I64 >> 8;
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(whole, &overflow);
    if (overflow > 0 && f->dtype == THUNDER_U64) {
        value = (int64_t)PyLong_AsUnsignedLongLong(whole);
        overflow = PyErr_Occurred() != NULL;
    } else if (!overflow) {
        const int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - is_signed)) - 1;
        const int64_t least = is_signed ? -most - 1 : bits == 64 || PyFloat_Check(number) ? 0 : -most; /* as PyTorch: -1 is all bits */
        overflow = value < least || value > most;
    }
    if (overflow) return does_not_fit(number, f->dtype);
    memcpy(f->next, &value, (size_t)bits / 8); /* the low bytes come first */
    return 0;
}

/* A float counts without its fraction, as in PyTorch. */
static int store_integer(PyObject *number, filling *f)
{
    if (!PyFloat_Check(number)) return store_bits(number, number, f);
    PyObject *whole = isfinite(PyFloat_AS_DOUBLE(number)) ? PyNumber_Long(number) : NULL;
    const int failed = whole ? store_bits(whole, number, f) : does_not_fit(number, f->dtype);
    Py_XDECREF(whole);
    return failed;
}

static int store(PyObject *leaf, filling *f)
{
    PyObject *number = scalar_number(leaf);
    if (!number && !PyErr_Occurred()) number = Py_NewRef(leaf);
    int failed = -1;
    if (number && f->dtype == THUNDER_BOOL)
        *f->next = (char)PyObject_IsTrue(number), failed = 0;
    else if (number)
        failed = f->dtype == THUNDER_F32 || f->dtype == THUNDER_F64 ? store_real(number, f) : store_integer(number, f);
    Py_XDECREF(number);
    f->next += (f->dtype & 0xff) / 8;
    return failed;
}

static int fill(PyObject *object, filling *f, size_t depth)
{
    if (depth == f->rank) return store(object, f);
    PyObject *members = members_of(object);
    if (!members) return -1;
    int failed = 0;
    if (PySequence_Fast_GET_SIZE(members) != f->shape[depth]) failed = refuse_shape(f, depth, PySequence_Fast_GET_SIZE(members));
    for (Py_ssize_t i = 0; i < f->shape[depth] && !failed; i++) failed = fill(PySequence_Fast_GET_ITEM(members, i), f, depth + 1);
    Py_DECREF(members);
    return failed;
}

static PyObject *make(PyObject *data, filling *f)
{
    size_t bytes = (f->dtype & 0xff) / 8;
    for (size_t i = 0; i < f->rank; i++)
        if (__builtin_mul_overflow(bytes, (size_t)f->shape[i], &bytes)) return PyErr_NoMemory();
    char *memory = PyMem_Malloc(bytes ? bytes : 1);
    if (!memory) return PyErr_NoMemory();
    thunder_tensor *made = NULL;
    f->next = memory;
    if (bytes == 0 || fill(data, f, 0) == 0)
        check_status(thunder_tensor_create(context, f->dtype, f->rank, f->shape, THUNDER_CPU, memory, bytes, &made));
    PyMem_Free(memory);
    return made ? tensor_wrap(made) : NULL;
}

/* tensor_of_numbers(data, dtype or None): (the tensor, the dtype that was meant), of which reals of 16 bits come as f64, for the op `to`.
   None: the data holds something else than numbers. */
static PyObject *tensor_of_numbers(PyObject *module, PyObject *args)
{
    PyObject *data, *wanted;
    filling f = {.rank = 0};
    if (!PyArg_ParseTuple(args, "OO:tensor_of_numbers", &data, &wanted) || !dtype_from(wanted, &f.dtype)) return NULL;
    const bool own = !f.dtype;
    int good = read_shape(data, &f);
    if (good == 1) good = inspect(data, &f, 0, own);
    if (good < 1) return good == 0 ? Py_NewRef(Py_None) : NULL;
    if (!f.dtype) f.dtype = THUNDER_F32; /* of nothing */
    const thunder_dtype meant = f.dtype;
    if (meant == THUNDER_F16 || meant == THUNDER_BF16) f.dtype = THUNDER_F64;
    PyObject *made = make(data, &f);
    return made ? Py_BuildValue("(NN)", made, constant_of(THUNDER_DTYPE, meant)) : NULL;
}

int open_elements(PyObject *module)
{
    static PyMethodDef functions[] = {{"tensor_of_numbers", tensor_of_numbers, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
