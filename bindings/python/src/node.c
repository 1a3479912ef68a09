/* Lines of a trace as Python sees them, and functions of Python as kernels. */
#include "dlpack.h"

#include <stdlib.h>

/* ---- lines ---- */

static PyObject *tensors_of(const thunder_node *node, size_t count, thunder_tensor *(*get)(const thunder_node *, size_t))
{
    PyObject *list = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        thunder_tensor *tensor = get(node, i); /* NULL: an optional one that is absent */
        PyObject *one = tensor ? tensor_of(tensor) : Py_NewRef(Py_None);
        put_item(&list, i, one);
    }
    return list;
}

static PyObject *values_of(const thunder_node *node, size_t count, uint32_t (*get)(const thunder_node *, size_t))
{
    PyObject *list = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        const uint32_t value = get(node, i);
        PyObject *one = value == UINT32_MAX ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(value);
        put_item(&list, i, one);
    }
    return list;
}

/* Arguments that are no tensors, by name. */
static PyObject *arguments_of(const thunder_node *node)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < thunder_node_arg_count(node); i++) {
        const char *name = thunder_node_arg_name(node, i);
        thunder_any any;
        thunder_status *is_tensor = thunder_node_arg(node, name, &any);
        thunder_status_release(is_tensor);
        if (is_tensor) continue;
        PyObject *one = values_leaf(&any);
        if (!one || PyDict_SetItemString(dict, name, one)) Py_CLEAR(dict);
        Py_XDECREF(one);
    }
    return dict;
}

PyObject *nodes_fields(const thunder_node *const *nodes, size_t count)
{
    PyObject *list = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) put_item(&list, i, node_fields(nodes[i]));
    return list;
}

/* A region's; they hold none. */
static PyObject *lines_of(const thunder_node *node)
{
    const size_t count = thunder_node_line_count(node);
    const thunder_node **lines = PyMem_Calloc(count + 1, sizeof *lines);
    if (!lines) return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++) lines[i] = thunder_node_line(node, i);
    PyObject *list = nodes_fields(lines, count);
    PyMem_Free(lines);
    return list;
}

PyObject *node_fields(const thunder_node *node)
{
    const size_t inputs = thunder_node_input_count(node), outputs = thunder_node_output_count(node);
    return Py_BuildValue("(sNNNssNNN)", thunder_node_op(node), tensors_of(node, inputs, thunder_node_input),
                         tensors_of(node, outputs, thunder_node_output), arguments_of(node), thunder_node_where(node),
                         thunder_node_executor(node), values_of(node, inputs, thunder_node_input_value),
                         values_of(node, outputs, thunder_node_output_value), lines_of(node));
}

/* ---- kernels ---- */

static size_t bytes_of(const thunder_buffer *b)
{
    size_t bytes = (size_t)(b->dtype & 0xff) / 8;
    for (int32_t i = 0; i < b->rank; i++) bytes *= (size_t)b->shape[i];
    return bytes;
}

/* Tensors of their own: what a kernel keeps of them outlives the program's memory. */
static PyObject *inputs_of(const thunder_launch *launch)
{
    PyObject *list = PyList_New((Py_ssize_t)launch->n_inputs);
    for (size_t i = 0; list && i < launch->n_inputs; i++) {
        const thunder_buffer *b = &launch->inputs[i];
        thunder_tensor *made = NULL;
        PyObject *one = NULL;
        if (b->rank < 0)
            one = Py_NewRef(Py_None);
        else if (check_status(thunder_tensor_create(context, b->dtype, (size_t)b->rank, b->shape, b->device, b->data, bytes_of(b), &made)) == 0)
            one = tensor_wrap(made);
        put_item(&list, i, one);
    }
    return list;
}

static PyObject *arguments_list(const thunder_any *args, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) put_item(&list, i, values_leaf(&args[i]));
    return list;
}

/* "float32[2, 3]" */
static PyObject *type_text(thunder_dtype dtype, size_t rank, const int64_t *shape)
{
    const dtype_row *row = dtype_find(dtype);
    PyObject *list = PyList_New((Py_ssize_t)rank);
    for (size_t i = 0; list && i < rank; i++) PyList_SET_ITEM(list, (Py_ssize_t)i, PyLong_FromLongLong(shape[i]));
    PyObject *text = list ? PyUnicode_FromFormat("%s%R", row ? row->name : "?", list) : NULL;
    Py_XDECREF(list);
    return text;
}

static int store(PyObject *result, Py_ssize_t number, PyObject *name, const thunder_buffer *out)
{
    if (!tensor_test(result) || !thunder_tensor_is_concrete(tensor_handle(result))) {
        PyErr_Format(PyExc_TypeError, "%U: result %zd of its kernel must be a tensor with elements, got %s", name, number,
                     Py_TYPE(result)->tp_name);
        return -1;
    }
    thunder_tensor *made = tensor_handle(result);
    const size_t rank = thunder_tensor_rank(made);
    const int64_t *shape = thunder_tensor_shape(made);
    bool same = thunder_tensor_dtype(made) == out->dtype && (int32_t)rank == out->rank;
    for (size_t i = 0; same && i < rank; i++) same = shape[i] == out->shape[i];
    if (same) return check_status(thunder_tensor_read(made, out->data, bytes_of(out)));
    PyObject *got = type_text(thunder_tensor_dtype(made), rank, shape), *wanted = type_text(out->dtype, (size_t)out->rank, out->shape);
    if (got && wanted)
        PyErr_Format(PyExc_ValueError, "%U: result %zd of its kernel is %U, the op's meta says %U", name, number, got, wanted);
    Py_XDECREF(got);
    Py_XDECREF(wanted);
    return -1;
}

static int store_all(PyObject *name, PyObject *results, const thunder_launch *launch)
{
    const Py_ssize_t wanted = (Py_ssize_t)launch->n_outputs, got = PyTuple_Check(results) ? PyTuple_GET_SIZE(results) : -1;
    if (got != wanted) {
        PyErr_Format(PyExc_ValueError, "%U: its kernel gives %zd results, the op has %zd", name, got, wanted);
        return -1;
    }
    for (Py_ssize_t i = 0; i < got; i++)
        if (store(PyTuple_GET_ITEM(results, i), i + 1, name, &launch->outputs[i])) return -1;
    return 0;
}

static PyObject *views_of(PyObject *exchange, const thunder_buffer *buffers, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) put_item(&list, i, buffers[i].rank < 0 ? Py_NewRef(Py_None) : exchange_view(exchange, &buffers[i]));
    return list;
}

/* function(inputs, outputs, stream): of another library's tensors over the program's memory; it fills the outputs. */
static int call_on_views(PyObject *function, PyObject *exchange, const thunder_launch *launch)
{
    PyObject *inputs = views_of(exchange, launch->inputs, launch->n_inputs);
    PyObject *outputs = inputs ? views_of(exchange, launch->outputs, launch->n_outputs) : NULL;
    PyObject *stream = outputs ? PyLong_FromVoidPtr(launch->native_stream) : NULL;
    PyObject *result = stream ? PyObject_CallFunctionObjArgs(function, inputs, outputs, stream, NULL) : NULL;
    const int failed = !result;
    Py_XDECREF(result);
    Py_XDECREF(stream);
    Py_XDECREF(outputs);
    Py_XDECREF(inputs);
    return failed ? -1 : 0;
}

int kernel_call(PyObject *kernel, const thunder_launch *launch, const thunder_any *args, size_t n_args)
{
    PyObject *name, *function, *exchange = NULL;
    if (!PyArg_ParseTuple(kernel, "UO|O", &name, &function, &exchange)) return -1;
    if (exchange) return call_on_views(function, exchange, launch);
    PyObject *inputs = inputs_of(launch), *arguments = args ? arguments_list(args, n_args) : NULL;
    PyObject *results = !inputs || (args && !arguments) ? NULL : PyObject_CallFunctionObjArgs(function, inputs, arguments, NULL);
    const int failed = !results || store_all(name, results, launch);
    Py_XDECREF(results);
    Py_XDECREF(arguments);
    Py_XDECREF(inputs);
    return failed ? -1 : 0;
}
