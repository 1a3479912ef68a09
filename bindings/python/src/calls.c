/* Written by bindings/swig/generate.py from bindings/python/calls.api; tools/check --write refreshes it. */
#include "described.h"

static PyObject *call_describe(PyObject *self, PyObject *args)
{
    const char *what;
    if (!PyArg_ParseTuple(args, "s:describe", &what)) return NULL;
    thunder_values *out = values_new();
    PyObject *result = out && !check_status(thunder_context_describe(context, what, out)) ? values_result(out, false) : NULL;
    thunder_values_release(out);
    return result;
}

static PyObject *call_set_default_executors(PyObject *self, PyObject *args)
{
    const char *names_or_null;
    if (!PyArg_ParseTuple(args, "s:set_default_executors", &names_or_null)) return NULL;
    return !check_status(thunder_context_set_default_executors(context, names_or_null)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_set_logs(PyObject *self, PyObject *args)
{
    const char *logs;
    if (!PyArg_ParseTuple(args, "s:set_logs", &logs)) return NULL;
    return !check_status(thunder_context_set_logs(context, logs)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_compiled_signature(PyObject *self, PyObject *args)
{
    return PyUnicode_FromString(thunder_compiled_signature(compiled_test(self)));
}

static PyObject *call_batches__set_device(PyObject *self, PyObject *args)
{
    PyObject *device_given;
    thunder_device device = 0;
    if (!PyArg_ParseTuple(args, "O:_set_device", &device_given)) return NULL;
    return device_from(device_given, &device) && !check_status(thunder_batches_set_device(batches_handle(self), device)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_module__set_training(PyObject *self, PyObject *args)
{
    int training;
    thunder_module *handle = module_handle(self);
    if (!handle) return NULL;
    if (!PyArg_ParseTuple(args, "p:_set_training", &training)) return NULL;
    return !check_status(thunder_module_set_training(handle, training)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_module__paths(PyObject *self, PyObject *args)
{
    thunder_module *handle = module_handle(self);
    if (!handle) return NULL;
    thunder_values *out = values_new();
    PyObject *result = out && !check_status(thunder_module_paths(handle, out)) ? values_result(out, false) : NULL;
    thunder_values_release(out);
    return result;
}

static PyObject *call_module__text(PyObject *self, PyObject *args)
{
    thunder_module *handle = module_handle(self);
    if (!handle) return NULL;
    thunder_values *out = values_new();
    PyObject *result = out && !check_status(thunder_module_text(handle, out)) ? values_result(out, false) : NULL;
    thunder_values_release(out);
    return result;
}

static PyObject *call_module__to(PyObject *self, PyObject *args)
{
    PyObject *device_given;
    thunder_device device = 0;
    thunder_module *handle = module_handle(self);
    if (!handle) return NULL;
    if (!PyArg_ParseTuple(args, "O:_to", &device_given)) return NULL;
    return device_from(device_given, &device) && !check_status(thunder_module_to(handle, device)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_module__to_dtype(PyObject *self, PyObject *args)
{
    PyObject *dtype_given;
    thunder_dtype dtype = 0;
    thunder_module *handle = module_handle(self);
    if (!handle) return NULL;
    if (!PyArg_ParseTuple(args, "O:_to_dtype", &dtype_given)) return NULL;
    return dtype_from(dtype_given, &dtype) && !check_status(thunder_module_to_dtype(handle, dtype)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_module__save(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    thunder_module *handle = module_handle(self);
    if (!handle) return NULL;
    if (!PyArg_ParseTuple(args, "O&:_save", PyUnicode_FSConverter, &path)) return NULL;
    PyObject *result = !check_status(thunder_module_save(handle, PyBytes_AS_STRING(path))) ? Py_NewRef(Py_None) : NULL;
    Py_XDECREF(path);
    return result;
}

static PyObject *call_module__load(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    int strict;
    thunder_module *handle = module_handle(self);
    if (!handle) return NULL;
    if (!PyArg_ParseTuple(args, "O&p:_load", PyUnicode_FSConverter, &path, &strict)) return NULL;
    PyObject *result = !check_status(thunder_module_load(handle, PyBytes_AS_STRING(path), strict)) ? Py_NewRef(Py_None) : NULL;
    Py_XDECREF(path);
    return result;
}

static PyObject *call_optimizer__group_count(PyObject *self, PyObject *args)
{
    return PyLong_FromLongLong(thunder_optimizer_group_count(optimizer_handle(self)));
}

static PyObject *call_optimizer__state(PyObject *self, PyObject *args)
{
    return module_wrap(module_type, thunder_optimizer_state(optimizer_handle(self)));
}

static PyObject *call_optimizer__get(PyObject *self, PyObject *args)
{
    const char *name;
    if (!PyArg_ParseTuple(args, "s:_get", &name)) return NULL;
    double out = 0;
    return !check_status(thunder_optimizer_get_f64(optimizer_handle(self), name, &out)) ? PyFloat_FromDouble(out) : NULL;
}

static PyObject *call_optimizer__set(PyObject *self, PyObject *args)
{
    const char *name;
    double value;
    if (!PyArg_ParseTuple(args, "sd:_set", &name, &value)) return NULL;
    return !check_status(thunder_optimizer_set_f64(optimizer_handle(self), name, value)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_schedule__state(PyObject *self, PyObject *args)
{
    return module_wrap(module_type, thunder_schedule_state(schedule_handle(self)));
}

static PyObject *call_schedule__last_lr(PyObject *self, PyObject *args)
{
    thunder_values *out = values_new();
    PyObject *result = out && !check_status(thunder_schedule_last_lr(schedule_handle(self), out)) ? values_result(out, false) : NULL;
    thunder_values_release(out);
    return result;
}

static PyMethodDef of_functions[] = {
    {"describe", call_describe, METH_VARARGS,
     "describe(what)\n--\n\n"},
    {"set_default_executors", call_set_default_executors, METH_VARARGS,
     "set_default_executors(names_or_null)\n--\n\n"},
    {"set_logs", call_set_logs, METH_VARARGS,
     "set_logs(logs)\n--\n\n"},
    {NULL, NULL, 0, NULL}};

static PyMethodDef of_compileds[] = {
    {"signature", call_compiled_signature, METH_NOARGS,
     ""},
    {NULL, NULL, 0, NULL}};

static PyMethodDef of_batchess[] = {
    {"_set_device", call_batches__set_device, METH_VARARGS,
     ""},
    {NULL, NULL, 0, NULL}};

static PyMethodDef of_modules[] = {
    {"_set_training", call_module__set_training, METH_VARARGS,
     ""},
    {"_paths", call_module__paths, METH_NOARGS,
     ""},
    {"_text", call_module__text, METH_NOARGS,
     ""},
    {"_to", call_module__to, METH_VARARGS,
     ""},
    {"_to_dtype", call_module__to_dtype, METH_VARARGS,
     ""},
    {"_save", call_module__save, METH_VARARGS,
     ""},
    {"_load", call_module__load, METH_VARARGS,
     ""},
    {NULL, NULL, 0, NULL}};

static PyMethodDef of_optimizers[] = {
    {"_group_count", call_optimizer__group_count, METH_NOARGS,
     ""},
    {"_state", call_optimizer__state, METH_NOARGS,
     ""},
    {"_get", call_optimizer__get, METH_VARARGS,
     ""},
    {"_set", call_optimizer__set, METH_VARARGS,
     ""},
    {NULL, NULL, 0, NULL}};

static PyMethodDef of_schedules[] = {
    {"_state", call_schedule__state, METH_NOARGS,
     ""},
    {"_last_lr", call_schedule__last_lr, METH_NOARGS,
     ""},
    {NULL, NULL, 0, NULL}};

int open_calls(PyObject *module)
{
    return PyModule_AddFunctions(module, of_functions) || add_methods(compiled_type, of_compileds) || add_methods(batches_type, of_batchess) || add_methods(module_type, of_modules) || add_methods(optimizer_type, of_optimizers) || add_methods(schedule_type, of_schedules) ? -1 : 0;
}
