/* What functions write into things of the host as they run: found by _writes.py while they are traced, and done again behind each call. */
#include "host.h"

static PyObject *perform; /* _writes.perform */

/* note_writes(writes, values): of the function that is traced now. */
static PyObject *note_writes(PyObject *module, PyObject *args)
{
    PyObject *writes, *values;
    if (!PyArg_ParseTuple(args, "O!O!:note_writes", &PyList_Type, &writes, &PyList_Type, &values)) return NULL;
    if (!host_root) Py_RETURN_NONE;
    Py_XSETREF(host_root->writes.made, Py_NewRef(writes));
    Py_XSETREF(host_root->writes.values, Py_NewRef(values));
    Py_RETURN_NONE;
}

int writes_add(thunder_values *out)
{
    host *h = host_root;
    if (!h || !h->writes.made) return 0;
    if (!h->writes.kinds && !(h->writes.kinds = PyList_New(0))) return -1;
    Py_ssize_t number = PySequence_Index(h->writes.kinds, h->writes.made);
    if (number < 0) {
        PyErr_Clear();
        number = PyList_GET_SIZE(h->writes.kinds);
        if (PyList_Append(h->writes.kinds, h->writes.made)) return -1;
    }
    thunder_values_open(out, 0, "writes");
    const thunder_any leaf = {.kind = THUNDER_INT, .u.i = number};
    thunder_values_push(out, &leaf);
    int failed = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(h->writes.values) && !failed; i++) failed = values_add(out, PyList_GET_ITEM(h->writes.values, i));
    thunder_values_close(out);
    Py_CLEAR(h->writes.made);
    Py_CLEAR(h->writes.values);
    return failed;
}

bool writes_any(const host *h) { return h && h->writes.kinds; }

PyObject *writes_perform(host *h, PyObject *result, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (!result || !h || !h->writes.kinds) return result;
    PyObject *given = PyTuple_New(count), *named = PyDict_New();
    for (Py_ssize_t i = 0; given && i < count; i++) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    int failed = !given || !named;
    for (Py_ssize_t i = 0; !failed && names && i < PyTuple_GET_SIZE(names); i++)
        failed = PyDict_SetItem(named, PyTuple_GET_ITEM(names, i), args[count + i]);
    PyObject *done = failed ? NULL : PyObject_CallFunctionObjArgs(perform, h->writes.kinds, result, given, named, NULL);
    Py_XDECREF(given);
    Py_XDECREF(named);
    Py_DECREF(result);
    return done;
}

/* set_perform(perform): _writes.perform, which writes what the calls of a function gave */
static PyObject *set_perform(PyObject *module, PyObject *function)
{
    Py_XSETREF(perform, Py_NewRef(function));
    Py_RETURN_NONE;
}

int open_writes(PyObject *module)
{
    static PyMethodDef functions[] = {{"note_writes", note_writes, METH_VARARGS, NULL}, {"set_perform", set_perform, METH_O, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
