/* The operators of tensors: each is the op of its name. What no op takes is left to the other operand. */
#include "op.h"
#include "tensor.h"

static bool is_operand(PyObject *object)
{
    return tensor_test(object) || PyFloat_Check(object) || PyLong_Check(object) || foreign_test(object) || PyIndex_Check(object);
}

static PyObject *call_binary_op(const char *name, PyObject *a, PyObject *b)
{
    if (!is_operand(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
    PyObject *const args[2] = {a, b};
    return op_call(name, args, 2);
}

#define DEFINE(slot, name) \
    PyObject *tensor_##slot(PyObject *a, PyObject *b) { return call_binary_op(name, a, b); }
TENSOR_BINARY_OPERATORS(DEFINE)
#undef DEFINE

#define DEFINE(slot, name) \
    PyObject *tensor_##slot(PyObject *a) { return op_call(name, &a, 1); }
TENSOR_UNARY_OPERATORS(DEFINE)
#undef DEFINE

/* Of three operands, as pow(a, b, modulus) has them, no op is the power; as in PyTorch. */
PyObject *tensor_power(PyObject *a, PyObject *b, PyObject *modulus)
{
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return call_binary_op("pow", a, b);
}
PyObject *tensor_power_in_place(PyObject *a, PyObject *b, PyObject *modulus)
{
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return call_binary_op("pow_", a, b);
}

PyObject *tensor_divmod(PyObject *a, PyObject *b)
{
    PyObject *quotient = call_binary_op("floor_divide", a, b);
    if (!quotient || quotient == Py_NotImplemented) return quotient;
    PyObject *rest = call_binary_op("remainder", a, b);
    return rest ? Py_BuildValue("(NN)", quotient, rest) : (Py_DECREF(quotient), NULL);
}

PyObject *tensor_positive(PyObject *a) { return Py_NewRef(a); }

PyObject *tensor_compare(PyObject *a, PyObject *b, int operator)
{
    static const char *const names[] = {[Py_LT] = "lt", [Py_LE] = "le", [Py_EQ] = "eq",
                                        [Py_NE] = "ne", [Py_GT] = "gt", [Py_GE] = "ge"};
    return call_binary_op(names[operator], a, b);
}
