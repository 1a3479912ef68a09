/* Data: files of arrays, and batches of what they hold. */
#include "described.h"

/* read_csv(path, dtype=None) */
static PyObject *read_csv(PyObject *module, PyObject *args, PyObject *named)
{
    static char *names[] = {"path", "dtype", NULL};
    PyObject *bytes = NULL, *type = Py_None;
    thunder_dtype dtype = 0;
    thunder_tensor *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O&|O:csv", names, PyUnicode_FSConverter, &bytes, &type)) return NULL;
    if (dtype_from(type, &dtype)) check_status(thunder_read_csv(context, PyBytes_AS_STRING(bytes), dtype, &made));
    Py_DECREF(bytes);
    return made ? tensor_wrap(made) : NULL;
}

/* ---- batches ---- */

typedef struct Batches {
    PyObject_HEAD
    thunder_batches *handle;
} Batches;

PyTypeObject *batches_type;

thunder_batches *batches_handle(PyObject *object) { return ((Batches *)object)->handle; }

/* BatchesBase([tensors], size, shuffle, drop_last, seed) */
static PyObject *batches_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
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
    thunder_batches_release(((Batches *)object)->handle);
    free_object(object);
}

static PyType_Slot slots[] = {{Py_tp_new, batches_new}, {Py_tp_dealloc, batches_dealloc}, {0, NULL}};
static PyType_Spec spec = {"thunder._thunder.BatchesBase", sizeof(Batches), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int open_data(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"read_csv", (PyCFunction)(void (*)(void))read_csv, METH_VARARGS | METH_KEYWORDS,
         "csv(path, dtype=None)\n--\n\nA tensor [rows, columns], without a first row of names."},
        {NULL, NULL, 0, NULL}};
    batches_type = add_type(module, &spec, NULL);
    return batches_type ? PyModule_AddFunctions(module, functions) : -1;
}
