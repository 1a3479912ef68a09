/* Data: files of arrays, and batches of what they hold. */
#include "layer.h"

static PyObject *read_file(PyObject *path, thunder_status *(*read)(thunder_context *, const char *, thunder_tensor **))
{
    PyObject *bytes = NULL;
    thunder_tensor *made = NULL;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    const int failed = check_status(read(context, PyBytes_AS_STRING(bytes), &made));
    Py_DECREF(bytes);
    return failed ? NULL : tensor_wrap(made);
}

static PyObject *read_npy(PyObject *module, PyObject *path) { return (void)module, read_file(path, thunder_read_npy); }
static PyObject *read_idx(PyObject *module, PyObject *path) { return (void)module, read_file(path, thunder_read_idx); }

/* read_csv(path, dtype=None) */
static PyObject *read_csv(PyObject *module, PyObject *args, PyObject *named)
{
    (void)module;
    static char *names[] = {"path", "dtype", NULL};
    PyObject *bytes = NULL, *type = Py_None;
    thunder_dtype dtype = 0;
    thunder_tensor *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O&|O:csv", names, PyUnicode_FSConverter, &bytes, &type)) return NULL;
    if (dtype_from(type, &dtype)) check_status(thunder_read_csv(context, PyBytes_AS_STRING(bytes), dtype, &made));
    Py_DECREF(bytes);
    return made ? tensor_wrap(made) : NULL;
}

static PyObject *read_safetensors(PyObject *module, PyObject *path)
{
    (void)module;
    PyObject *bytes = NULL, *dict = NULL;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    thunder_values *out = values_new();
    if (out && check_status(thunder_read_safetensors(context, PyBytes_AS_STRING(bytes), out)) == 0) dict = values_result(out, false);
    thunder_values_release(out);
    Py_DECREF(bytes);
    return dict;
}

/* write_npy(tensor, path) */
static PyObject *write_npy(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *tensor, *bytes = NULL;
    if (!PyArg_ParseTuple(args, "O!O&:save_npy", tensor_type, &tensor, PyUnicode_FSConverter, &bytes)) return NULL;
    const int failed = check_status(thunder_write_npy(tensor_handle(tensor), PyBytes_AS_STRING(bytes)));
    Py_DECREF(bytes);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* write_safetensors(dict, path) */
static PyObject *write_safetensors(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *dict, *bytes = NULL;
    if (!PyArg_ParseTuple(args, "O!O&:save", &PyDict_Type, &dict, PyUnicode_FSConverter, &bytes)) return NULL;
    thunder_values *tensors = values_new();
    const int failed = !tensors || values_add(tensors, dict) || check_status(thunder_write_safetensors(tensors, PyBytes_AS_STRING(bytes)));
    thunder_values_release(tensors);
    Py_DECREF(bytes);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* ---- batches ---- */

typedef struct Batches {
    PyObject_HEAD
    thunder_batches *handle;
} Batches;

/* BatchesBase([tensors], size, shuffle, drop_last, seed) */
static PyObject *batches_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    (void)named;
    PyObject *list;
    long long size;
    unsigned long long seed;
    int shuffle, drop_last;
    if (!PyArg_ParseTuple(args, "O!LppK:Batches", &PyList_Type, &list, &size, &shuffle, &drop_last, &seed)) return NULL;
    const Py_ssize_t count = PyList_GET_SIZE(list);
    thunder_tensor **tensors = PyMem_Calloc((size_t)count + 1, sizeof *tensors);
    if (!tensors) return PyErr_NoMemory();
    Batches *self = NULL;
    Py_ssize_t i = 0;
    while (i < count && tensor_test(PyList_GET_ITEM(list, i))) tensors[i] = tensor_handle(PyList_GET_ITEM(list, i)), i++;
    if (i < count)
        PyErr_Format(PyExc_TypeError, "batches: source %zd must be a tensor, not %s", i, Py_TYPE(PyList_GET_ITEM(list, i))->tp_name);
    else
        self = (Batches *)type->tp_alloc(type, 0);
    if (self && check_status(thunder_batches_create(context, tensors, (size_t)count, size, shuffle, drop_last, seed, &self->handle)))
        Py_CLEAR(self);
    PyMem_Free(tensors);
    return (PyObject *)self;
}

static void batches_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    thunder_batches_release(((Batches *)object)->handle);
    type->tp_free(object);
    Py_DECREF(type);
}

/* _next(): the tensors of the next batch; an empty list at the end of an epoch. */
static PyObject *batches_next(PyObject *object, PyObject *unused)
{
    (void)unused;
    thunder_values *out = values_new();
    PyObject *list = NULL;
    if (out && check_status(thunder_batches_next(((Batches *)object)->handle, out)) == 0) list = values_list(out, false, NULL);
    thunder_values_release(out);
    return list;
}

static PyObject *batches_count(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLongLong(thunder_batches_count(((Batches *)object)->handle));
}

static PyObject *batches_state(PyObject *object, PyObject *unused)
{
    (void)unused;
    thunder_tensor *state = NULL;
    return check_status(thunder_batches_state(((Batches *)object)->handle, &state)) ? NULL : tensor_wrap(state);
}

static PyObject *batches_set_state(PyObject *object, PyObject *state)
{
    if (!tensor_test(state)) return PyErr_Format(PyExc_TypeError, "set_state: a tensor was expected, not %s", Py_TYPE(state)->tp_name);
    if (check_status(thunder_batches_set_state(((Batches *)object)->handle, tensor_handle(state)))) return NULL;
    Py_RETURN_NONE;
}

static PyObject *batches_set_device(PyObject *object, PyObject *where)
{
    thunder_device device = 0;
    if (!device_from(where, &device) || check_status(thunder_batches_set_device(((Batches *)object)->handle, device))) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_next", batches_next, METH_NOARGS, NULL},
    {"_count", batches_count, METH_NOARGS, NULL},
    {"_set_device", batches_set_device, METH_O, NULL},
    {"state", batches_state, METH_NOARGS, "The position as a tensor: set_state() resumes exactly there."},
    {"set_state", batches_set_state, METH_O, "Goes to a position that state() gave."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, batches_new}, {Py_tp_dealloc, batches_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
static PyType_Spec spec = {"thunder._thunder.BatchesBase", sizeof(Batches), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int open_data(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"read_csv", (PyCFunction)(void (*)(void))read_csv, METH_VARARGS | METH_KEYWORDS,
         "csv(path, dtype=None)\n--\n\nA tensor [rows, columns], without a first row of names."},
        {"read_npy", read_npy, METH_O, "npy(path)\n--\n\nThe array of a .npy file."},
        {"read_idx", read_idx, METH_O, "idx(path)\n--\n\nThe array of an IDX file as MNIST has it, packed by gzip or not."},
        {"read_safetensors", read_safetensors, METH_O, "safetensors(path)\n--\n\nThe tensors of a file, by name."},
        {"write_npy", write_npy, METH_VARARGS, "save_npy(tensor, path)\n--\n\nWrites a .npy file."},
        {"write_safetensors", write_safetensors, METH_VARARGS,
         "save(tensors, path)\n--\n\nWrites a dict of tensors as safetensors; the old file stays whole until the new one is."},
        {NULL, NULL, 0, NULL}};
    return add_type(module, &spec, NULL) ? PyModule_AddFunctions(module, functions) : -1;
}
