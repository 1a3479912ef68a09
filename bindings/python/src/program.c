/* Compiled functions of traces, and in files. */
#include "host.h"

/* (compiled, path) */
static PyObject *save(PyObject *args, const char *who, thunder_status *(*write)(thunder_compiled *, const char *))
{
    PyObject *function, *path = NULL;
    if (!PyArg_ParseTuple(args, "OO&", &function, PyUnicode_FSConverter, &path)) return NULL;
    thunder_compiled *compiled = compiled_test(function);
    int failed = 1;
    if (compiled && writes_any(compiled_host(function))) {
        PyErr_Format(PyExc_TypeError, "%s: the function assigns to things of Python at each call, which a file cannot; return the tensors", who);
    } else if (compiled) {
        PyThreadState *state = PyEval_SaveThread();
        thunder_status *status = write(compiled, PyBytes_AS_STRING(path));
        PyEval_RestoreThread(state);
        failed = check_status(status);
    } else {
        PyErr_Format(PyExc_TypeError, "%s: a compiled function was expected, not %s", who, Py_TYPE(function)->tp_name);
    }
    Py_DECREF(path);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *save_program(PyObject *module, PyObject *args)
{
    return save(args, "save_program", thunder_program_save);
}

static PyObject *compile_ahead(PyObject *module, PyObject *args)
{
    return save(args, "compile_ahead", thunder_program_compile_ahead);
}

/* The compiled function, which takes over what it is made of; NULL and an exception after a failure. */
static PyObject *wrap_loaded(thunder_status *status, PyObject *name, thunder_function *function, thunder_compiled *compiled)
{
    PyObject *result = NULL;
    if (check_status(status) == 0 && name)
        result = compiled_wrap(name, function, compiled);
    else
        thunder_compiled_release(compiled);
    Py_XDECREF(name);
    return result;
}

/* load_program(path, options) */
static PyObject *load_program(PyObject *module, PyObject *args)
{
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
        result = wrap_loaded(status, PyUnicode_DecodeFSDefault(PyBytes_AS_STRING(path)), function, compiled);
    }
    thunder_options_release(given);
    Py_DECREF(path);
    return result;
}

/* load_program_bytes(bytes, options) */
static PyObject *load_program_bytes(PyObject *module, PyObject *args)
{
    Py_buffer bytes;
    PyObject *options, *result = NULL;
    if (!PyArg_ParseTuple(args, "y*O:load_program_bytes", &bytes, &options)) return NULL;
    thunder_options *given = options_from(options);
    if (!PyErr_Occurred()) {
        thunder_compiled *compiled = NULL;
        thunder_function *function = NULL;
        thunder_status *status = thunder_program_load_bytes(context, bytes.buf, (size_t)bytes.len, given, &compiled);
        if (!status) status = thunder_compiled_function(compiled, &function);
        result = wrap_loaded(status, PyUnicode_FromString("a program in memory"), function, compiled);
    }
    thunder_options_release(given);
    PyBuffer_Release(&bytes);
    return result;
}

static PyObject *cache_counts(const thunder_cache_info *info)
{
    return Py_BuildValue("KKK", (unsigned long long)info->cpu_kernels, (unsigned long long)info->cuda_kernels,
                         (unsigned long long)info->product_choices);
}

/* save_cache_artifacts(): (bytes, the counts of a CacheInfo) */
static PyObject *save_cache_artifacts(PyObject *module, PyObject *unused)
{
    thunder_cache_info info = {.size = sizeof info};
    thunder_tensor *made = NULL;
    PyThreadState *state = PyEval_SaveThread();
    thunder_status *status = thunder_context_save_cache_artifacts(context, &made, &info);
    PyEval_RestoreThread(state);
    if (check_status(status)) return NULL;
    const size_t count = (size_t)thunder_tensor_nbytes(made);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count);
    if (bytes && check_status(thunder_tensor_read(made, PyBytes_AS_STRING(bytes), count))) Py_CLEAR(bytes);
    thunder_tensor_release(made);
    return bytes ? Py_BuildValue("NN", bytes, cache_counts(&info)) : NULL;
}

/* load_cache_artifacts(bytes): the counts of a CacheInfo */
static PyObject *load_cache_artifacts(PyObject *module, PyObject *args)
{
    Py_buffer data;
    if (!PyArg_ParseTuple(args, "y*:load_cache_artifacts", &data)) return NULL;
    thunder_cache_info info = {.size = sizeof info};
    PyThreadState *state = PyEval_SaveThread();
    thunder_status *status = thunder_context_load_cache_artifacts(context, data.buf, (size_t)data.len, &info);
    PyEval_RestoreThread(state);
    PyBuffer_Release(&data);
    if (check_status(status)) return NULL;
    return cache_counts(&info);
}

/* export_c(path, folder, options) */
static PyObject *export_c(PyObject *module, PyObject *args)
{
    PyObject *path = NULL, *folder = NULL, *options;
    if (!PyArg_ParseTuple(args, "O&O&O:export_c", PyUnicode_FSConverter, &path, PyUnicode_FSConverter, &folder, &options)) {
        Py_XDECREF(path);
        return NULL;
    }
    thunder_options *given = options_from(options);
    if (!PyErr_Occurred()) {
        PyThreadState *state = PyEval_SaveThread();
        thunder_status *status = thunder_program_export_c(context, PyBytes_AS_STRING(path), PyBytes_AS_STRING(folder), given);
        PyEval_RestoreThread(state);
        check_status(status);
    }
    thunder_options_release(given);
    Py_DECREF(folder);
    Py_DECREF(path);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* export_onnx(compiled, path, options) */
static PyObject *export_onnx(PyObject *module, PyObject *args)
{
    PyObject *function, *path = NULL, *options;
    if (!PyArg_ParseTuple(args, "OO&O:export_onnx", &function, PyUnicode_FSConverter, &path, &options)) return NULL;
    thunder_compiled *compiled = compiled_test(function);
    if (!compiled) PyErr_Format(PyExc_TypeError, "export_onnx: a compiled function was expected, not %s", Py_TYPE(function)->tp_name);
    thunder_options *given = compiled ? options_from(options) : NULL;
    if (!PyErr_Occurred()) {
        PyThreadState *state = PyEval_SaveThread();
        thunder_status *status = thunder_program_export_onnx(compiled, PyBytes_AS_STRING(path), given);
        PyEval_RestoreThread(state);
        check_status(status);
    }
    thunder_options_release(given);
    Py_DECREF(path);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
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

static PyObject *compile_text(PyObject *text, PyObject *list, thunder_options *options)
{
    PyObject *result = NULL;
    Py_ssize_t bytes;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &bytes);
    thunder_values *captured = utf8 ? values_new() : NULL;
    thunder_trace *trace = NULL;
    if (captured && values_add_each(captured, list) == 0 &&
        check_status(thunder_trace_parse(context, utf8, (size_t)bytes, &trace)) == 0)
        result = compile_trace(trace, captured, options);
    thunder_trace_release(trace);
    thunder_values_release(captured);
    return result;
}

/* function_from_trace(text or a trace of a compiled function, captured, options): such a trace has its own captured tensors. */
static PyObject *function_from_trace(PyObject *module, PyObject *args)
{
    PyObject *trace, *list, *options, *result = NULL;
    if (!PyArg_ParseTuple(args, "OO!O:function_from_trace", &trace, &PyTuple_Type, &list, &options)) return NULL;
    thunder_options *given = options_from(options);
    if (!PyErr_Occurred())
        result = PyCapsule_IsValid(trace, TRACE_CAPSULE) ? compile_trace(PyCapsule_GetPointer(trace, TRACE_CAPSULE), NULL, given)
                                                         : compile_text(trace, list, given);
    thunder_options_release(given);
    return result;
}

int open_program(PyObject *module)
{
    static PyMethodDef functions[] = {{"save_program", save_program, METH_VARARGS, NULL},
                                      {"compile_ahead", compile_ahead, METH_VARARGS, NULL},
                                      {"load_program", load_program, METH_VARARGS, NULL},
                                      {"load_program_bytes", load_program_bytes, METH_VARARGS, NULL},
                                      {"export_c", export_c, METH_VARARGS, NULL},
                                      {"export_onnx", export_onnx, METH_VARARGS, NULL},
                                      {"save_cache_artifacts", save_cache_artifacts, METH_NOARGS, NULL},
                                      {"load_cache_artifacts", load_cache_artifacts, METH_VARARGS, NULL},
                                      {"function_from_trace", function_from_trace, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
