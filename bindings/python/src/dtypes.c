/* Properties of element types, and type promotion. */
#include "layer.h"
#include "thunder/any.h"

/* dtype_info(dtype): (bits, is_real, min, max, eps, smallest_normal, smallest_subnormal, resolution) */
static PyObject *dtype_info(PyObject *module, PyObject *object)
{
    thunder_dtype dtype;
    thunder_dtype_info info = {.size = sizeof info};
    if (!dtype_from(object, &dtype) || check_status(thunder_dtype_describe(dtype, &info))) return NULL;
    if (!info.is_real)
        return Py_BuildValue("(iOLK)", info.bits, Py_False, (long long)info.integer_min, (unsigned long long)info.integer_max);
    return Py_BuildValue("(iOdddddd)", info.bits, Py_True, info.min, info.max, info.eps, info.smallest_normal, info.smallest_subnormal,
                         info.resolution);
}

static int two_dtypes(PyObject *args, const char *format, thunder_dtype *a, thunder_dtype *b)
{
    PyObject *first, *second;
    return PyArg_ParseTuple(args, format, &first, &second) && dtype_from(first, a) && dtype_from(second, b);
}

static PyObject *promote_types(PyObject *module, PyObject *args)
{
    thunder_dtype a, b, made;
    if (!two_dtypes(args, "OO:promote_types", &a, &b) || check_status(thunder_promote_types(a, b, &made))) return NULL;
    return constant_of(THUNDER_DTYPE, made);
}

static PyObject *can_cast(PyObject *module, PyObject *args)
{
    thunder_dtype from, to;
    return two_dtypes(args, "OO:can_cast", &from, &to) ? PyBool_FromLong(thunder_can_cast(from, to)) : NULL;
}

static int operand_of(PyObject *object, thunder_any *out)
{
    if (tensor_test(object))
        *out = thunder_any_tensor(tensor_handle(object));
    else if (PyBool_Check(object))
        *out = thunder_any_bool(object == Py_True);
    else if (PyLong_Check(object))
        *out = thunder_any_i64(0); /* its value does not matter */
    else if (PyFloat_Check(object))
        *out = thunder_any_f64(PyFloat_AS_DOUBLE(object));
    else
        return PyErr_Format(PyExc_TypeError, "result_type: a tensor or a number was expected, got %s", Py_TYPE(object)->tp_name), -1;
    return 0;
}

static PyObject *result_type(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    thunder_any operands[2];
    thunder_dtype made;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "result_type: takes two operands, got %zd", count);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *number = scalar_number(args[i]);
        const int failed = PyErr_Occurred() || operand_of(number ? number : args[i], &operands[i]);
        Py_XDECREF(number);
        if (failed) return NULL;
    }
    return check_status(thunder_result_type(operands, 2, &made)) ? NULL : constant_of(THUNDER_DTYPE, made);
}

int open_dtypes(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"dtype_info", dtype_info, METH_O, NULL},
        {"promote_types", promote_types, METH_VARARGS, "promote_types(a, b): the dtype in which tensors of both meet."},
        {"can_cast", can_cast, METH_VARARGS, "can_cast(from_, to): whether results of one dtype may be stored in a tensor of the other."},
        {"result_type", (PyCFunction)(void (*)(void))result_type, METH_FASTCALL,
         "result_type(a, b): the dtype of arithmetic on two tensors or numbers."},
        {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
