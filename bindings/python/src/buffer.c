/* Memory shared with other Python objects through the buffer protocol, in both directions without a copy. */
#include "dlpack.h"

#include <string.h>

/* ---- what a trace is told ---- */

/* Told of arrays and tensors that a function which is traced reads: (array, whether its memory can be shared) -> whether the trace copies it,
 * and read(tensor, shown); or NULL. */
static _Thread_local PyObject *reader;

PyObject *swap_array_reader(PyObject *function)
{
    PyObject *before = reader;
    reader = function == Py_None ? NULL : Py_NewRef(function);
    return before ? before : Py_NewRef(Py_None);
}

/* A function that is traced reads elements of a tensor that has some; `shown`: to others, who may look again. */
int tensor_note_read(PyObject *tensor, bool shown)
{
    if (!reader || !here || !thunder_scope_is_tracing(here)) return 0;
    PyObject *noted = PyObject_CallMethod(reader, "read", "OO", tensor, shown ? Py_True : Py_False);
    Py_XDECREF(noted);
    return noted ? 0 : -1;
}

/* ---- out: numpy.asarray(t), memoryview(t) ---- */

typedef struct exported {
    thunder_tensor *memory; /* a view, which keeps this memory alive even if the tensor gets another */
    Py_ssize_t sizes[];     /* shape, then strides in bytes */
} exported;

static exported *export_of(thunder_tensor *tensor, Py_ssize_t itemsize)
{
    const size_t rank = thunder_tensor_rank(tensor);
    const int64_t *shape = thunder_tensor_shape(tensor), *strides = thunder_tensor_strides(tensor);
    exported *made = PyMem_Malloc(sizeof *made + 2 * rank * sizeof made->sizes[0]);
    if (!made) {
        PyErr_NoMemory();
        return NULL;
    }
    if (check_status(thunder_tensor_view(tensor, rank, shape, strides, 0, &made->memory))) {
        PyMem_Free(made);
        return NULL;
    }
    for (size_t i = 0; i < rank; i++) {
        made->sizes[i] = (Py_ssize_t)shape[i];
        made->sizes[rank + i] = (Py_ssize_t)strides[i] * itemsize;
    }
    return made;
}

/* Writes the address to `view`. Read-only memory is refused only if the caller wants to write. */
static int find_memory(exported *made, Py_buffer *view, int flags)
{
    thunder_status *failed = thunder_tensor_data_mutable(made->memory, &view->buf);
    view->readonly = failed != NULL;
    if (!failed) return 0;
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, thunder_status_message(failed));
        thunder_status_release(failed);
        return -1;
    }
    thunder_status_release(failed);
    const void *data = NULL;
    if (check_status(thunder_tensor_data(made->memory, &data))) return -1;
    memcpy(&view->buf, &data, sizeof data);
    return 0;
}

int tensor_getbuffer(PyObject *object, Py_buffer *view, int flags)
{
    thunder_tensor *tensor = tensor_handle(object);
    view->obj = NULL;
    const int concrete = tensor_materialize(tensor);
    if (concrete < 0) return -1;
    if (!concrete) {
        PyErr_SetString(PyExc_BufferError, "a traced tensor has no memory; is this meant to run while tracing?");
        return -1;
    }
    if (thunder_tensor_device(tensor) != THUNDER_CPU) {
        PyObject *device = constant_of(THUNDER_DEVICE, thunder_tensor_device(tensor));
        if (device)
            PyErr_Format(PyExc_BufferError, "can't convert %S device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
                         "first.", device);
        Py_XDECREF(device);
        return -1;
    }
    const dtype_row *row = dtype_find(thunder_tensor_dtype(tensor));
    if (!row || !row->format) {
        PyErr_Format(PyExc_BufferError, "the buffer protocol has no format for %s: convert with .float()", row ? row->name : "this dtype");
        return -1;
    }
    const int contiguous = thunder_tensor_is_contiguous(tensor);
    if (!contiguous && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous: call .contiguous()");
        return -1;
    }
    exported *made = tensor_note_read(object, true) ? NULL : export_of(tensor, row->bytes);
    if (!made) return -1;
    if (find_memory(made, view, flags)) {
        thunder_tensor_release(made->memory);
        PyMem_Free(made);
        return -1;
    }
    static char nothing;
    if (!view->buf) view->buf = &nothing;
    view->len = (Py_ssize_t)thunder_tensor_nbytes(tensor);
    view->itemsize = row->bytes;
    view->format = flags & PyBUF_FORMAT ? (char *)row->format : NULL;
    view->ndim = (int)thunder_tensor_rank(tensor);
    view->shape = flags & PyBUF_ND ? made->sizes : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? made->sizes + view->ndim : NULL;
    view->suboffsets = NULL;
    view->internal = made;
    view->obj = Py_NewRef(object);
    return 0;
}

void tensor_releasebuffer(PyObject *object, Py_buffer *view)
{
    exported *made = view->internal;
    thunder_tensor_release(made->memory);
    PyMem_Free(made);
}

/* data_ptr(): the address of the first element; 0 if there are no elements. */
PyObject *tensor_data_ptr(PyObject *object, PyObject *unused)
{
    thunder_tensor *tensor = tensor_handle(object);
    const void *data = NULL;
    if (tensor_materialize(tensor) < 0) return NULL;
    return check_status(thunder_tensor_data(tensor, &data)) ? NULL : PyLong_FromVoidPtr((void *)(uintptr_t)data);
}

/* ---- in: any object with a buffer ---- */

typedef struct imported {
    DLManagedTensorVersioned managed;
    Py_buffer view;
    int64_t sizes[];
} imported;

/* The last use of the memory has ended, on any thread. */
static void release_imported(DLManagedTensorVersioned *managed)
{
    imported *self = managed->manager_ctx;
    PyGILState_STATE state;
    if (python_enter(&state)) {
        PyBuffer_Release(&self->view);
        python_leave(state);
    }
    free(self);
}

/* Whether the library can use the memory without a copy: aligned, with strides that are non-negative multiples of the element size. */
static bool is_usable(const Py_buffer *view)
{
    bool usable = (uintptr_t)view->buf % (uintptr_t)view->itemsize == 0;
    for (int i = 0; i < view->ndim; i++)
        usable &= view->strides[i] >= 0 && view->strides[i] % view->itemsize == 0;
    return usable && !view->suboffsets;
}

static thunder_tensor *copy_of(Py_buffer *view, thunder_dtype dtype)
{
    thunder_tensor *made = NULL;
    int64_t *shape = PyMem_Calloc((size_t)view->ndim + 1, sizeof *shape);
    const bool is_dense = PyBuffer_IsContiguous(view, 'C');
    char *dense = is_dense ? NULL : PyMem_Malloc((size_t)view->len + 1);
    if (!shape || (!is_dense && !dense)) PyErr_NoMemory();
    for (int i = 0; shape && i < view->ndim; i++) shape[i] = view->shape[i];
    if (shape && (is_dense || (dense && PyBuffer_ToContiguous(dense, view, view->len, 'C') == 0)))
        check_status(thunder_tensor_create(context, dtype, (size_t)view->ndim, shape, THUNDER_CPU, is_dense ? view->buf : dense, (size_t)view->len, &made));
    PyMem_Free(dense);
    PyMem_Free(shape);
    return made;
}

/* On success it owns the view. */
static thunder_tensor *borrow(const Py_buffer *view, thunder_dtype dtype)
{
    imported *self = malloc(sizeof *self + 2 * (size_t)view->ndim * sizeof self->sizes[0]);
    if (!self) {
        PyErr_NoMemory();
        return NULL;
    }
    self->view = *view;
    for (int i = 0; i < view->ndim; i++) {
        self->sizes[i] = view->shape[i];
        self->sizes[view->ndim + i] = view->strides[i] / view->itemsize;
    }
    const DLTensor described = {view->buf, {1, 0}, view->ndim, {(uint8_t)(dtype >> 8), (uint8_t)dtype, 1},
                                self->sizes, self->sizes + view->ndim, 0};
    self->managed = (DLManagedTensorVersioned){{1, 0}, self, release_imported, view->readonly ? DLPACK_READ_ONLY : 0, described};
    thunder_tensor *made = NULL;
    if (check_status(thunder_tensor_from_dlpack(context, &self->managed, &made))) free(self);
    return made;
}

void raise_no_dtype(PyObject *elements)
{
    PyObject *all = dtype_names();
    if (all) PyErr_Format(PyExc_TypeError, "elements of type %U have no dtype here: convert them; there are %U", elements, all);
    Py_XDECREF(all);
}

static void refuse_format(const Py_buffer *view)
{
    PyObject *text = PyUnicode_FromFormat("'%s' (%zd bytes)", view->format, view->itemsize);
    if (text) raise_no_dtype(text);
    Py_XDECREF(text);
}

static int ask_reader(PyObject *array, bool usable)
{
    PyObject *answer = reader ? PyObject_CallFunctionObjArgs(reader, array, usable ? Py_True : Py_False, NULL) : Py_NewRef(Py_False);
    const int copies = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return copies;
}

int trace_copies_array(PyObject *array)
{
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_STRIDES | PyBUF_FORMAT)) return -1;
    const int copies = ask_reader(array, is_usable(&view));
    PyBuffer_Release(&view);
    return copies;
}

thunder_tensor *tensor_of_elements(PyObject *object)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT)) return NULL;
    const dtype_row *row = dtype_of_format(view.format, view.itemsize);
    thunder_tensor *made = row ? copy_of(&view, row->dtype) : NULL;
    if (!row) refuse_format(&view);
    PyBuffer_Release(&view);
    return made;
}

thunder_tensor *tensor_from_buffer(PyObject *object)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE)) {
        PyErr_Clear();
        if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT)) return NULL;
    }
    const dtype_row *row = dtype_of_format(view.format, view.itemsize);
    thunder_tensor *made = NULL;
    if (!row)
        refuse_format(&view);
    else {
        const bool usable = is_usable(&view);
        const int copies = ask_reader(object, usable);
        if (copies == 0 && usable) made = borrow(&view, row->dtype);
        else if (copies >= 0 && (made = copy_of(&view, row->dtype))) PyBuffer_Release(&view);
    }
    if (!made) PyBuffer_Release(&view);
    return made;
}
