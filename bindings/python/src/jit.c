/* The traces of single calls as compiled functions, and sizes that are marked. */
#include "layer.h"

/* One call, as a tuple of arguments and a dict or None of named ones. NULL and an exception. */
static thunder_values *values_of_call(PyObject *call)
{
    PyObject *args, *named;
    if (!PyArg_ParseTuple(call, "O!O:jit.trace", &PyTuple_Type, &args, &named)) return NULL;
    PyObject *keys = named != Py_None ? PySequence_Tuple(named) : PyTuple_New(0);
    PyObject *all = keys ? PySequence_List(args) : NULL;
    for (Py_ssize_t i = 0; all && i < PyTuple_GET_SIZE(keys); i++) {
        PyObject *value = PyObject_GetItem(named, PyTuple_GET_ITEM(keys, i));
        if (!value || PyList_Append(all, value)) Py_CLEAR(all);
        Py_XDECREF(value);
    }
    PyObject *flat = all ? PyList_AsTuple(all) : NULL;
    thunder_values *values = flat ? values_new() : NULL;
    if (values && values_add_call(values, ((PyTupleObject *)flat)->ob_item, PyTuple_GET_SIZE(args), keys, false)) {
        thunder_values_release(values);
        values = NULL;
    }
    Py_XDECREF(keys);
    Py_XDECREF(all);
    Py_XDECREF(flat);
    return values;
}

static PyObject *wrap_compiled(PyObject *name, thunder_compiled *compiled)
{
    thunder_function *function = NULL;
    if (check_status(thunder_compiled_function(compiled, &function)) == 0) return compiled_wrap(name, function, compiled);
    thunder_compiled_release(compiled);
    return NULL;
}

static PyObject *trace_function(PyObject *name, PyObject *function, thunder_values *const *calls, Py_ssize_t count, const thunder_options *options)
{
    thunder_compiled *compiled = NULL;
    PyThreadState *state = PyEval_SaveThread();
    thunder_status *status = thunder_function_trace(compiled_function(function), calls[0], options,
                                                    (const thunder_values *const *)calls + 1, (size_t)count - 1, &compiled);
    PyEval_RestoreThread(state);
    return check_status(status) ? NULL : wrap_compiled(name, compiled);
}

/* jit_trace(compiled, name, calls, options): `calls` a tuple of (args, named), the example before those to check on. */
static PyObject *jit_trace(PyObject *module, PyObject *args)
{
    PyObject *function, *name, *calls, *options, *result = NULL;
    if (!PyArg_ParseTuple(args, "OUO!O:jit_trace", &function, &name, &PyTuple_Type, &calls, &options)) return NULL;
    if (!compiled_test(function)) return PyErr_Format(PyExc_TypeError, "jit_trace: a compiled function was expected, not %s", Py_TYPE(function)->tp_name);
    const Py_ssize_t count = PyTuple_GET_SIZE(calls);
    thunder_values **values = PyMem_Calloc((size_t)count + 1, sizeof *values);
    if (!values) return PyErr_NoMemory();
    Py_ssize_t made = 0;
    while (made < count && (values[made] = values_of_call(PyTuple_GET_ITEM(calls, made)))) made++;
    thunder_options *given = made == count ? options_from(options) : NULL;
    if (!PyErr_Occurred() && count) result = trace_function(name, function, values, count, given);
    thunder_options_release(given);
    for (Py_ssize_t i = 0; i < made; i++) thunder_values_release(values[i]);
    PyMem_Free(values);
    return result;
}

/* recompile(compiled, name, options): what it compiles, with other options */
static PyObject *recompile(PyObject *module, PyObject *args)
{
    PyObject *function, *name, *options, *result = NULL;
    if (!PyArg_ParseTuple(args, "OUO:recompile", &function, &name, &options)) return NULL;
    if (!compiled_test(function)) return PyErr_Format(PyExc_TypeError, "freeze: a compiled function was expected, not %s", Py_TYPE(function)->tp_name);
    thunder_options *given = options_from(options);
    thunder_compiled *compiled = NULL;
    if (!PyErr_Occurred() && check_status(thunder_compile(compiled_function(function), given, &compiled)) == 0) result = wrap_compiled(name, compiled);
    if (result) compiled_share_host(result, function);
    thunder_options_release(given);
    return result;
}

static thunder_tensor *tensor_to_mark(PyObject *object, const char *who)
{
    if (tensor_test(object)) return tensor_handle(object);
    PyErr_Format(PyExc_TypeError, "%s: a tensor was expected, not %s", who, Py_TYPE(object)->tp_name);
    return NULL;
}

/* mark_dynamic(tensor, dim, min, max) */
static PyObject *mark_dynamic(PyObject *module, PyObject *args)
{
    PyObject *object;
    int dim;
    long long min, max;
    if (!PyArg_ParseTuple(args, "OiLL:mark_dynamic", &object, &dim, &min, &max)) return NULL;
    thunder_tensor *tensor = tensor_to_mark(object, "mark_dynamic");
    if (!tensor || check_status(thunder_mark_dynamic(context, tensor, dim, min, max))) return NULL;
    Py_RETURN_NONE;
}

/* maybe_mark_dynamic(tensor, dim) */
static PyObject *maybe_mark_dynamic(PyObject *module, PyObject *args)
{
    PyObject *object;
    int dim;
    if (!PyArg_ParseTuple(args, "Oi:maybe_mark_dynamic", &object, &dim)) return NULL;
    thunder_tensor *tensor = tensor_to_mark(object, "maybe_mark_dynamic");
    if (!tensor || check_status(thunder_maybe_mark_dynamic(context, tensor, dim))) return NULL;
    Py_RETURN_NONE;
}

/* mark_static(tensor, dim) */
static PyObject *mark_static(PyObject *module, PyObject *args)
{
    PyObject *object;
    int dim;
    if (!PyArg_ParseTuple(args, "Oi:mark_static", &object, &dim)) return NULL;
    thunder_tensor *tensor = tensor_to_mark(object, "mark_static");
    if (!tensor || check_status(thunder_mark_static(context, tensor, dim))) return NULL;
    Py_RETURN_NONE;
}

int open_jit(PyObject *module)
{
    static PyMethodDef functions[] = {{"jit_trace", jit_trace, METH_VARARGS, NULL},
                                      {"recompile", recompile, METH_VARARGS, NULL},
                                      {"mark_dynamic", mark_dynamic, METH_VARARGS, NULL},
                                      {"maybe_mark_dynamic", maybe_mark_dynamic, METH_VARARGS, NULL},
                                      {"mark_static", mark_static, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
