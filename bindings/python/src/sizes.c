/* Sizes that stand for any: in a traced function a dim of a tensor may be a SymInt, which keeps its formula. */
#include "layer.h"

static PyTypeObject *size_type; /* SymInt, of the Python part: it has the field `word` */
static PyObject *word_name;

bool size_test(PyObject *object) { return size_type && Py_TYPE(object) == size_type; }

/* A word is a number to all scopes but that which traces. */
static thunder_scope *scope_of_sizes(void)
{
    if (here && thunder_scope_is_tracing(here)) return here;
    PyErr_SetString(PyExc_RuntimeError, "a size of a function that was traced is used after that: let the function give int(size)");
    return NULL;
}

int size_word(PyObject *object, int64_t *out)
{
    if (!scope_of_sizes()) return -1;
    PyObject *word = PyObject_GetAttr(object, word_name);
    *out = word ? PyLong_AsLongLong(word) : -1;
    Py_XDECREF(word);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

PyObject *size_object(thunder_dim dim)
{
    if (!size_type || !thunder_dim_is_symbolic(dim)) return PyLong_FromLongLong(dim);
    if (plain_sizes && here) return PyLong_FromLongLong(thunder_dim_value(here, dim));
    sizes_given = true;
    return PyObject_CallFunction((PyObject *)size_type, "L", (long long)dim);
}

/* Any integer, or a SymInt as its word. */
static int operand(PyObject *object, int64_t *out)
{
    if (size_test(object)) return size_word(object, out);
    *out = PyLong_AsLongLong(object);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

/* size_make(operation, a, b): '+', '-', '*', '/' (floor) or '%' */
static PyObject *size_make(PyObject *module, PyObject *args)
{
    int operation;
    PyObject *a, *b;
    int64_t left, right;
    if (!PyArg_ParseTuple(args, "COO:size_make", &operation, &a, &b) || operand(a, &left) || operand(b, &right)) return NULL;
    thunder_scope *scope = scope_of_sizes();
    if (!scope) return NULL;
    const thunder_dim made = thunder_dim_make(scope, (char)operation, left, right);
    return scope_check(scope) ? NULL : size_object(made);
}

/* size_compare(comparison, a, b) */
static PyObject *size_compare(PyObject *module, PyObject *args)
{
    const char *comparison;
    PyObject *a, *b;
    int64_t left, right;
    if (!PyArg_ParseTuple(args, "sOO:size_compare", &comparison, &a, &b) || operand(a, &left) || operand(b, &right)) return NULL;
    thunder_scope *scope = scope_of_sizes();
    if (!scope) return NULL;
    const int32_t holds = thunder_dim_compare(scope, left, comparison, right);
    return scope_check(scope) ? NULL : PyBool_FromLong(holds);
}

/* size_value(size): the number that was seen, for which alone the trace then is */
static PyObject *size_value(PyObject *module, PyObject *object)
{
    int64_t word;
    thunder_scope *scope = scope_of_sizes();
    if (!scope || operand(object, &word)) return NULL;
    const int64_t value = thunder_dim_value(scope, word);
    return scope_check(scope) ? NULL : PyLong_FromLongLong(value);
}

/* set_size_type(SymInt) */
static PyObject *set_size_type(PyObject *module, PyObject *type)
{
    Py_XDECREF(size_type);
    size_type = (PyTypeObject *)Py_NewRef(type);
    Py_RETURN_NONE;
}

int open_sizes(PyObject *module)
{
    static PyMethodDef functions[] = {{"size_make", size_make, METH_VARARGS, NULL},
                                      {"size_compare", size_compare, METH_VARARGS, NULL},
                                      {"size_value", size_value, METH_O, NULL},
                                      {"set_size_type", set_size_type, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};
    word_name = PyUnicode_InternFromString("word");
    return word_name ? PyModule_AddFunctions(module, functions) : -1;
}
