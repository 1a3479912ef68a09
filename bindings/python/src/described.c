/* Written by bindings/swig/generate.py from bindings/classes.api; tools/check --write refreshes it. */
#include "described.h"

static PyObject *call_set_num_threads(PyObject *self, PyObject *args)
{
    PyObject *count_given;
    size_t count = 0;
    if (!PyArg_ParseTuple(args, "O:set_num_threads", &count_given)) return NULL;
    return !count_from(count_given, "set_num_threads: count", &count) && !check_status(thunder_context_set_num_threads(context, count)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_set_memory_cache(PyObject *self, PyObject *args)
{
    PyObject *bytes_given;
    size_t bytes = 0;
    if (!PyArg_ParseTuple(args, "O:set_memory_cache", &bytes_given)) return NULL;
    return !count_from(bytes_given, "set_memory_cache: bytes", &bytes) && !check_status(thunder_context_set_memory_cache(context, bytes)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *call_load_plugin(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "O&:load_plugin", PyUnicode_FSConverter, &path)) return NULL;
    PyObject *result = !check_status(thunder_context_load_plugin(context, PyBytes_AS_STRING(path))) ? Py_NewRef(Py_None) : NULL;
    Py_XDECREF(path);
    return result;
}

static PyObject *call_read_npy(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "O&:read_npy", PyUnicode_FSConverter, &path)) return NULL;
    thunder_tensor *out = NULL;
    PyObject *result = !check_status(thunder_read_npy(context, PyBytes_AS_STRING(path), &out)) ? tensor_wrap(out) : NULL;
    Py_XDECREF(path);
    return result;
}

static PyObject *call_write_npy(PyObject *self, PyObject *args)
{
    PyObject *tensor;
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "O!O&:write_npy", tensor_type, &tensor, PyUnicode_FSConverter, &path)) return NULL;
    PyObject *result = !check_status(thunder_write_npy(tensor_handle(tensor), PyBytes_AS_STRING(path))) ? Py_NewRef(Py_None) : NULL;
    Py_XDECREF(path);
    return result;
}

static PyObject *call_read_idx(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "O&:read_idx", PyUnicode_FSConverter, &path)) return NULL;
    thunder_tensor *out = NULL;
    PyObject *result = !check_status(thunder_read_idx(context, PyBytes_AS_STRING(path), &out)) ? tensor_wrap(out) : NULL;
    Py_XDECREF(path);
    return result;
}

static PyObject *call_read_safetensors(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "O&:read_safetensors", PyUnicode_FSConverter, &path)) return NULL;
    thunder_values *out = values_new();
    PyObject *result = out && !check_status(thunder_read_safetensors(context, PyBytes_AS_STRING(path), out)) ? values_result(out, false) : NULL;
    Py_XDECREF(path);
    thunder_values_release(out);
    return result;
}

static PyObject *call_write_safetensors(PyObject *self, PyObject *args)
{
    PyObject *map_given;
    thunder_values *map = NULL;
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "OO&:write_safetensors", &map_given, PyUnicode_FSConverter, &path)) return NULL;
    PyObject *result = (map = values_new()) && !values_add(map, map_given) && !check_status(thunder_write_safetensors(map, PyBytes_AS_STRING(path))) ? Py_NewRef(Py_None) : NULL;
    thunder_values_release(map);
    Py_XDECREF(path);
    return result;
}

static PyObject *call_plot_history(PyObject *self, PyObject *args)
{
    PyObject *histories_given;
    thunder_values *histories = NULL;
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "OO&:plot_history", &histories_given, PyUnicode_FSConverter, &path)) return NULL;
    PyObject *result = (histories = values_new()) && !values_add(histories, histories_given) && !check_status(thunder_plot_history(histories, PyBytes_AS_STRING(path))) ? Py_NewRef(Py_None) : NULL;
    thunder_values_release(histories);
    Py_XDECREF(path);
    return result;
}

static PyObject *call_compiled_trace_count(PyObject *self, PyObject *args)
{
    return PyLong_FromLongLong(thunder_compiled_trace_count(compiled_test(self)));
}

static PyObject *call_compiled_function_name(PyObject *self, PyObject *args)
{
    return PyUnicode_FromString(thunder_compiled_function_name(compiled_test(self)));
}

static PyObject *call_compiled_last_miss(PyObject *self, PyObject *args)
{
    return PyUnicode_FromString(thunder_compiled_last_miss(compiled_test(self)));
}

static PyObject *call_compiled_explain(PyObject *self, PyObject *args)
{
    const char *what = "fusion";
    if (!PyArg_ParseTuple(args, "|s:explain", &what)) return NULL;
    const char *out = NULL;
    return !check_status(thunder_compiled_explain(compiled_test(self), what, &out)) ? PyUnicode_FromString(out) : NULL;
}

static PyObject *call_compiled_write_report(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "O&:write_report", PyUnicode_FSConverter, &path)) return NULL;
    PyObject *result = !check_status(thunder_compiled_write_report(compiled_test(self), PyBytes_AS_STRING(path))) ? Py_NewRef(Py_None) : NULL;
    Py_XDECREF(path);
    return result;
}

static PyObject *call_compiled_repro(PyObject *self, PyObject *args)
{
    PyObject *step_given;
    size_t step = 0;
    if (!PyArg_ParseTuple(args, "O:repro", &step_given)) return NULL;
    const char *out = NULL;
    return !count_from(step_given, "repro: step", &step) && !check_status(thunder_compiled_repro(compiled_test(self), step, &out)) ? PyUnicode_FromString(out) : NULL;
}

static PyObject *call_compiled_graph_breaks(PyObject *self, PyObject *args)
{
    return PyUnicode_FromString(thunder_compiled_graph_breaks(compiled_test(self)));
}

static PyObject *call_compiled_memory_report(PyObject *self, PyObject *args)
{
    return PyUnicode_FromString(thunder_compiled_memory_report(compiled_test(self)));
}

static PyObject *call_batches_size(PyObject *self, PyObject *args)
{
    return PyLong_FromLongLong(thunder_batches_count(batches_handle(self)));
}

static PyObject *call_batches_next(PyObject *self, PyObject *args)
{
    thunder_values *out = values_new();
    PyObject *result = out && !check_status(thunder_batches_next(batches_handle(self), out)) ? values_list(out, false, NULL) : NULL;
    thunder_values_release(out);
    return result;
}

static PyObject *call_batches_state(PyObject *self, PyObject *args)
{
    thunder_tensor *out = NULL;
    return !check_status(thunder_batches_state(batches_handle(self), &out)) ? tensor_wrap(out) : NULL;
}

static PyObject *call_batches_set_state(PyObject *self, PyObject *args)
{
    PyObject *state;
    if (!PyArg_ParseTuple(args, "O!:set_state", tensor_type, &state)) return NULL;
    return !check_status(thunder_batches_set_state(batches_handle(self), tensor_handle(state))) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef of_functions[] = {
    {"set_num_threads", call_set_num_threads, METH_VARARGS,
     "set_num_threads(count)\n--\n\nHow many threads a call may use, its own among them; 0: as many as there are processors."},
    {"set_memory_cache", call_set_memory_cache, METH_VARARGS,
     "set_memory_cache(bytes)\n--\n\nHow many bytes of released tensors are kept for new ones; 0: none."},
    {"load_plugin", call_load_plugin, METH_VARARGS,
     "load_plugin(path)\n--\n\nLoads executors that the option `executors` of compile can name from now on."},
    {"read_npy", call_read_npy, METH_VARARGS,
     "read_npy(path)\n--\n\nThe array of a .npy file."},
    {"write_npy", call_write_npy, METH_VARARGS,
     "write_npy(tensor, path)\n--\n\nWrites a .npy file."},
    {"read_idx", call_read_idx, METH_VARARGS,
     "read_idx(path)\n--\n\nThe array of an IDX file as MNIST has it, packed by gzip or not."},
    {"read_safetensors", call_read_safetensors, METH_VARARGS,
     "read_safetensors(path)\n--\n\nThe tensors of a file, by name."},
    {"write_safetensors", call_write_safetensors, METH_VARARGS,
     "write_safetensors(map, path)\n--\n\nWrites tensors by name as safetensors; the old file stays whole until the new one is."},
    {"plot_history", call_plot_history, METH_VARARGS,
     "plot_history(histories, path)\n--\n\nDraws lists of numbers by name, such as the losses of a training loop, as a page (.html) or a picture (.png)."},
    {NULL, NULL, 0, NULL}};

static PyMethodDef of_compileds[] = {
    {"trace_count", call_compiled_trace_count, METH_NOARGS,
     "How many stages there are."},
    {"function_name", call_compiled_function_name, METH_NOARGS,
     "What the function was called as it was made."},
    {"last_miss", call_compiled_last_miss, METH_NOARGS,
     "Why the last call that compiled had to."},
    {"explain", call_compiled_explain, METH_VARARGS,
     "A text about the program compiled last, by the name of a report (docs/compile_options.md has the list): why neighbours were not fused (\"fusion\"), how kernels were lowered (\"loops\"), \"guards\", \"memory\", \"stages\", \"profile\" ...; or what it was after the stage of that name."},
    {"write_report", call_compiled_write_report, METH_VARARGS,
     "A page of HTML: traces before and after each pass, the graph, memory over time, the last profile and examination, guards."},
    {"repro", call_compiled_repro, METH_VARARGS,
     "A step of the program compiled last, from 1, as a Lua script of its own, which compares it with the reference."},
    {"graph_breaks", call_compiled_graph_breaks, METH_NOARGS,
     "Where and why it was no one program, as JSON."},
    {"memory_report", call_compiled_memory_report, METH_NOARGS,
     "What a call of the program compiled last needs of memory, and where each of its values lies."},
    {NULL, NULL, 0, NULL}};

static PyMethodDef of_batchess[] = {
    {"size", call_batches_size, METH_NOARGS,
     "How many there are in an epoch."},
    {"next", call_batches_next, METH_NOARGS,
     "A tensor of each source; none at the end of an epoch, behind which the next one begins."},
    {"state", call_batches_state, METH_NOARGS,
     "The position."},
    {"set_state", call_batches_set_state, METH_VARARGS,
     "Resumes exactly at a position."},
    {NULL, NULL, 0, NULL}};

int open_described(PyObject *module)
{
    return PyModule_AddFunctions(module, of_functions) || add_methods(compiled_type, of_compileds) || add_methods(batches_type, of_batchess) ? -1 : 0;
}
