/* Compiled functions of traces, and in files. */
#include "layer.h"

/* save_program(compiled, path) */
static PyObject *save_program(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *function, *path = NULL;
    if (!PyArg_ParseTuple(args, "OO&:save_program", &function, PyUnicode_FSConverter, &path)) return NULL;
    thunder_compiled *compiled = compiled_test(function);
    int failed = 1;
    if (compiled) {
        PyThreadState *state = PyEval_SaveThread();
        thunder_status *status = thunder_program_save(compiled, PyBytes_AS_STRING(path));
        PyEval_RestoreThread(state);
        failed = check_status(status);
    } else {
        PyErr_Format(PyExc_TypeError, "save_program: a compiled function was expected, not %s", Py_TYPE(function)->tp_name);
    }
    Py_DECREF(path);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* load_program(path, options) */
static PyObject *load_program(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path = NULL, *options, *result = NULL;
    if (!PyArg_ParseTuple(args, "O&O:load_program", PyUnicode_FSConverter, &path, &options)) return NULL;
    thunder_options *given = options_from(options);
    if (!PyErr_Occurred()) {
        thunder_compiled *compiled = NULL;
        thunder_function *function = NULL;
        PyThreadState *state = PyEval_SaveThread();
        thunder_status *status = thunder_program_load(context, PyBytes_AS_STRING(path), given, &compiled);
        if (!status) status = thunder_compiled_function(compiled, &function);
        PyEval_RestoreThread(state);
        PyObject *name = PyUnicode_DecodeFSDefault(PyBytes_AS_STRING(path));
        if (check_status(status) == 0 && name)
            result = compiled_wrap(name, function, compiled);
        else
            thunder_compiled_release(compiled);
        Py_XDECREF(name);
    }
    thunder_options_release(given);
    Py_DECREF(path);
    return result;
}

static PyObject *compile_trace(thunder_trace *trace, const thunder_values *captured, const thunder_options *options)
{
    thunder_function *function = NULL;
    thunder_compiled *compiled = NULL;
    if (check_status(thunder_function_from_trace(trace, captured, &function))) return NULL;
    PyObject *name = NULL;
    if (check_status(thunder_compile(function, options, &compiled)) == 0) name = PyUnicode_FromFormat("the trace after %s", thunder_trace_name(trace));
    if (!name) {
        thunder_compiled_release(compiled);
        thunder_function_release(function);
        return NULL;
    }
    PyObject *result = compiled_wrap(name, function, compiled);
    Py_DECREF(name);
    return result;
}

/* function_from_trace(text, captured, options) */
static PyObject *function_from_trace(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text;
    Py_ssize_t bytes;
    PyObject *list, *options, *result = NULL;
    if (!PyArg_ParseTuple(args, "s#O!O:function_from_trace", &text, &bytes, &PyTuple_Type, &list, &options)) return NULL;
    thunder_options *given = options_from(options);
    thunder_values *captured = PyErr_Occurred() ? NULL : values_new();
    thunder_trace *trace = NULL;
    if (captured && values_add_each(captured, list) == 0 &&
        check_status(thunder_trace_parse(context, text, (size_t)bytes, &trace)) == 0)
        result = compile_trace(trace, captured, given);
    thunder_trace_release(trace);
    thunder_values_release(captured);
    thunder_options_release(given);
    return result;
}

int open_program(PyObject *module)
{
    static PyMethodDef functions[] = {{"save_program", save_program, METH_VARARGS, NULL},
                                      {"load_program", load_program, METH_VARARGS, NULL},
                                      {"function_from_trace", function_from_trace, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
