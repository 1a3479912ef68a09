/* The texts of errors about unknown names. */
#include "layer.h"

PyObject *suggestion(const char *name, const char *const *names, size_t count)
{
    thunder_values *out = values_new();
    PyObject *text = out && check_status(thunder_suggest(name, names, count, out)) == 0 ? values_result(out, false) : NULL;
    thunder_values_release(out);
    return text;
}

/* suggest(name, names): how an error about an unknown name ends. */
static PyObject *suggest(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *given;
    if (!PyArg_ParseTuple(args, "sO:suggest", &name, &given)) return NULL;
    PyObject *list = PySequence_Fast(given, "suggest: a list of names was expected"), *text = NULL;
    const Py_ssize_t count = list ? PySequence_Fast_GET_SIZE(list) : 0;
    const char **names = list ? PyMem_Calloc((size_t)count + 1, sizeof *names) : NULL;
    for (Py_ssize_t i = 0; names && i < count && !PyErr_Occurred(); i++)
        names[i] = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(list, i));
    if (list && !names) PyErr_NoMemory();
    if (!PyErr_Occurred()) text = suggestion(name, names, (size_t)count);
    PyMem_Free(names);
    Py_XDECREF(list);
    return text;
}

int open_names(PyObject *module)
{
    static PyMethodDef functions[] = {{"suggest", suggest, METH_VARARGS, "suggest(name, names): how an error about an unknown name ends."},
                                      {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
