/* Calls with the tensors of a library that has DLPack's exchange API in C (PyTorch from 2.10 on): no capsules, no objects of ours,
 * no copies, one event before and after the work on a device instead of one for each tensor, and blocks of its allocator. */
#include "exchange.h"

#include <stdlib.h>

/* ---- streams ---- */

/* What the driver calls the legacy default stream, where NULL would be one of ours. */
static void *const legacy_stream = (void *)1;

/* The other library's current stream of the device; NULL without an exception: the CPU has none. */
static thunder_stream *current_stream(const Exchange *self, thunder_device device)
{
    void *native = NULL;
    thunder_stream *made = NULL;
    if (device >> 16 != DLPACK_CUDA) return NULL;
    if (self->api->current_stream(device >> 16, device & 0xffff, &native)) return NULL;
    return check_status(thunder_stream_create(context, device, native ? native : legacy_stream, &made)) ? NULL : made;
}

/* ---- in ---- */

static thunder_tensor *import_tensor(const Exchange *self, PyObject *object)
{
    DLManagedTensorVersioned *managed = NULL;
    thunder_tensor *made = NULL;
    if (self->api->from_object(object, &managed)) return NULL;
    if (check_status(thunder_tensor_from_dlpack_unordered(context, managed, &made)) && managed->deleter) managed->deleter(managed);
    return made;
}

/* The bytes from the first element of a view to behind its last one. */
static size_t spanned_bytes(const DLTensor *t)
{
    int64_t last = 0;
    for (int32_t i = 0; i < t->ndim; i++) {
        if (t->shape[i] == 0) return 0;
        last += (t->shape[i] - 1) * t->strides[i];
    }
    return (size_t)(last + 1) * (t->dtype.bits / 8);
}

/* The arguments of a call, as they are added. */
typedef struct arguments {
    const Exchange *exchange;
    thunder_values *in;
    thunder_device device; /* of the first tensor that is not the CPU's; 0: there is none */
    int held;              /* somebody holds them for as long as the call */
    int lent;              /* all are borrowed for that time alone, by handles that the next call may use */
} arguments;

static int is_tensor(const Exchange *self, PyObject *object) { return PyObject_TypeCheck(object, (PyTypeObject *)self->class); }

/* Of the CPU's memory, which needs no order, and in words that we have. */
static int is_plain(const DLTensor *t) { return t->device.type == DLPACK_CPU && t->dtype.lanes == 1 && t->strides; }

static thunder_dtype dtype_of(const DLTensor *t) { return (thunder_dtype)(t->dtype.code << 8 | t->dtype.bits); }

/* A tensor of the CPU's without a structure that says who holds it. */
static thunder_tensor *borrow_argument(arguments *to, PyObject *object)
{
    DLTensor t;
    thunder_tensor *made = NULL;
    if (to->exchange->api->view(object, &t)) return NULL;
    if (!is_plain(&t)) return to->lent = 0, import_tensor(to->exchange, object);
    thunder_status *failed = thunder_tensor_borrow(context, dtype_of(&t), (size_t)t.ndim, t.shape, t.strides, THUNDER_CPU,
                                                   (char *)t.data + t.byte_offset, spanned_bytes(&t), NULL, NULL, &made);
    return check_status(failed) ? NULL : made;
}

/* Adds a tensor of theirs or a plain value. */
static int add_argument(arguments *to, PyObject *object)
{
    if (!is_tensor(to->exchange, object)) return to->lent = 0, values_add(to->in, object);
    thunder_tensor *tensor = to->held ? borrow_argument(to, object) : import_tensor(to->exchange, object);
    if (!tensor) return -1;
    if (!to->device && thunder_tensor_device(tensor) >> 16 != DLPACK_CPU) to->device = thunder_tensor_device(tensor);
    thunder_values_push_tensor(to->in, tensor);
    thunder_tensor_release(tensor);
    return 0;
}

/* Whether the handles of the call before, if there are any, are now those of these arguments; -1 and an exception. */
static int reborrow_arguments(const arguments *to, PyObject *const *args, Py_ssize_t count)
{
    if (!to->held || (Py_ssize_t)thunder_values_count(to->in) != count) return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        DLTensor t;
        if (!is_tensor(to->exchange, args[i])) return 0;
        if (to->exchange->api->view(args[i], &t)) return -1;
        if (!is_plain(&t) || !thunder_tensor_reborrow(thunder_values_tensor(to->in, (size_t)i), dtype_of(&t), (size_t)t.ndim, t.shape,
                                                      t.strides, (char *)t.data + t.byte_offset, spanned_bytes(&t)))
            return 0;
    }
    return 1;
}

static int add_arguments(arguments *to, PyObject *const *args, Py_ssize_t count)
{
    const int again = reborrow_arguments(to, args, count);
    if (again) return again < 0 ? -1 : 0;
    thunder_values_reset(to->in);
    for (Py_ssize_t i = 0; i < count; i++)
        if (add_argument(to, args[i])) return error_prefix("argument %zd", i), -1;
    return 0;
}

/* ---- out ---- */

/* The stream of the call, if it had one, waits for the work already. */
static thunder_status *export_tensor(thunder_tensor *tensor, thunder_stream *ordered, thunder_stream *stream, DLManagedTensorVersioned **out)
{
    return ordered ? thunder_tensor_to_dlpack_unordered(tensor, ordered, out) : thunder_tensor_to_dlpack(tensor, 1, stream, out);
}

static PyObject *export_object(const Exchange *self, thunder_tensor *tensor, thunder_stream *ordered)
{
    DLManagedTensorVersioned *managed = NULL;
    thunder_stream *stream = ordered ? NULL : current_stream(self, thunder_tensor_device(tensor));
    if (!stream && PyErr_Occurred()) return NULL;
    thunder_status *failed = export_tensor(tensor, ordered, stream, &managed);
    thunder_stream_release(stream);
    void *object = NULL;
    if (check_status(failed)) return NULL;
    if (self->api->to_object(managed, &object) == 0) return object;
    managed->deleter(managed);
    return NULL;
}

static PyObject *result_object(const Exchange *self, const thunder_values *out, size_t leaf, thunder_stream *ordered)
{
    if (thunder_values_kind(out, leaf) == THUNDER_TENSOR) {
        thunder_tensor *tensor = thunder_values_tensor(out, leaf);
        return tensor ? export_object(self, tensor, ordered) : Py_NewRef(Py_None);
    }
    thunder_any any;
    return check_status(thunder_values_get(out, leaf, &any)) ? NULL : values_leaf(&any);
}

static PyObject *result_list(const Exchange *self, const thunder_values *out, thunder_stream *ordered)
{
    const size_t count = thunder_values_count(out);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t leaf = 0; list && leaf < count; leaf++) {
        PyObject *one = result_object(self, out, leaf, ordered);
        if (one)
            PyList_SET_ITEM(list, (Py_ssize_t)leaf, one);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* ---- the call ---- */

static PyObject *run_with(arguments *to, thunder_compiled *compiled, thunder_values *out, PyObject *const *args, Py_ssize_t count,
                          PyObject *emptied)
{
    const Exchange *self = to->exchange;
    if (add_arguments(to, args, count)) return NULL;
    thunder_stream *stream = current_stream(self, to->device);
    if (!stream && PyErr_Occurred()) return NULL;
    if (emptied && PyList_SetSlice(emptied, 0, count, NULL)) return thunder_stream_release(stream), NULL;
    PyThreadState *state = PyEval_SaveThread();
    thunder_status *failed = thunder_compiled_call(compiled, stream, to->in, out);
    PyEval_RestoreThread(state);
    PyObject *made = check_status(failed) || show_warning() ? NULL : result_list(self, out, stream);
    thunder_stream_release(stream);
    return made;
}

static thunder_values *take_spare(thunder_values **kept)
{
    thunder_values *found = *kept;
    *kept = NULL;
    return found ? found : values_new();
}

static void return_spare(thunder_values **kept, thunder_values *values, int as_they_are)
{
    if (!as_they_are) thunder_values_reset(values);
    if (!*kept)
        *kept = values;
    else
        thunder_values_release(values);
}

PyObject *exchange_run(Exchange *self, thunder_compiled *compiled, spare_values *spare, PyObject *const *args, Py_ssize_t count,
                       PyObject *emptied)
{
    arguments to = {self, take_spare(&spare->in), 0, !emptied, !emptied};
    thunder_values *out = to.in ? take_spare(&spare->out) : NULL;
    PyObject *made = out ? run_with(&to, compiled, out, args, count, emptied) : NULL;
    return_spare(&spare->in, to.in, made && to.lent);
    return_spare(&spare->out, out, 0);
    return made;
}

void release_spare(const spare_values *spare)
{
    thunder_values_release(spare->in);
    thunder_values_release(spare->out);
}

/* call(compiled, list): a list of results. The list of arguments is emptied, so that nothing but the call holds them. */
static PyObject *exchange_call(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    thunder_compiled *compiled = count == 2 ? compiled_test(args[0]) : NULL;
    if (!compiled || !PyList_Check(args[1])) return PyErr_Format(PyExc_TypeError, "call: takes a compiled function and a list");
    Exchange *self = (Exchange *)object;
    return exchange_run(self, compiled, &self->spare, ((PyListObject *)args[1])->ob_item, PyList_GET_SIZE(args[1]), args[1]);
}

/* constant(tensor): a tensor of ours over the memory of one of theirs on the CPU, which is not written as long as it lives. */
static PyObject *exchange_constant(PyObject *object, PyObject *tensor)
{
    const Exchange *self = (Exchange *)object;
    DLManagedTensorVersioned *managed = NULL;
    thunder_tensor *made = NULL;
    if (!is_tensor(self, tensor)) return PyErr_Format(PyExc_TypeError, "constant: takes a tensor");
    if (self->api->from_object(tensor, &managed)) return NULL;
    managed->flags |= DLPACK_READ_ONLY;
    if (!check_status(thunder_tensor_from_dlpack(context, managed, &made))) return tensor_wrap(made);
    if (managed->deleter) managed->deleter(managed);
    return NULL;
}

/* ---- the type ---- */

/* The API of major version 1, or NULL and an exception. */
static const exchange_api *api_of(PyObject *capsule)
{
    const api_header *header = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (header && header->version.major != 1) header = header->previous;
    if (!header && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "DLPack's exchange API has no major version 1 here");
    return (const exchange_api *)header;
}

/* Exchange(class of tensors): by its __dlpack_c_exchange_api__. */
static PyObject *exchange_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *class;
    if (!PyArg_ParseTuple(args, "O!:Exchange", &PyType_Type, &class)) return NULL;
    PyObject *capsule = PyObject_GetAttrString(class, "__dlpack_c_exchange_api__");
    const exchange_api *api = capsule ? api_of(capsule) : NULL;
    Exchange *self = api ? (Exchange *)type->tp_alloc(type, 0) : NULL;
    if (!self) {
        Py_XDECREF(capsule);
        return NULL;
    }
    self->capsule = capsule, self->class = Py_NewRef(class), self->api = api;
    return (PyObject *)self;
}

static void exchange_dealloc(PyObject *object)
{
    Py_DECREF(((Exchange *)object)->capsule);
    Py_DECREF(((Exchange *)object)->class);
    release_spare(&((Exchange *)object)->spare);
    free_object(object);
}

/* ---- memory ---- */

typedef struct lender {
    const exchange_api *api;
    int32_t device;
} lender;

static void ignore_error(void *user, const char *kind, const char *message) { (void)user, (void)kind, (void)message; }

/* Needs no lock of Python's. */
static void *lend_device_memory(size_t bytes, void **stream, void **block, void *user)
{
    const lender *from = user;
    int64_t size = (int64_t)bytes;
    DLTensor like = {.device = {DLPACK_CUDA, from->device}, .ndim = 1, .dtype = {1, 8, 1}, .shape = &size};
    DLManagedTensorVersioned *made = NULL;
    void *current = NULL;
    if (from->api->allocate(&like, &made, NULL, ignore_error)) return NULL;
    if (from->api->current_stream(DLPACK_CUDA, from->device, &current) == 0) *stream = current ? current : legacy_stream;
    *block = made;
    return (char *)made->dl_tensor.data + made->dl_tensor.byte_offset;
}

static void free_device_memory(void *block, void *user)
{
    (void)user;
    DLManagedTensorVersioned *made = block;
    if (made->deleter) made->deleter(made);
}

/* lend_memory(index): the library's blocks of that device are the other library's from now on. */
static PyObject *exchange_lend_memory(PyObject *object, PyObject *index)
{
    const long device = PyLong_AsLong(index);
    if (device == -1 && PyErr_Occurred()) return NULL;
    lender *from = malloc(sizeof *from); /* as long as there are blocks of it */
    if (!from) return PyErr_NoMemory();
    *from = (lender){((Exchange *)object)->api, (int32_t)device};
    const thunder_device_allocator allocator = {sizeof allocator, lend_device_memory, free_device_memory, from};
    if (check_status(thunder_context_set_device_allocator(context, THUNDER_CUDA(device), &allocator))) return free(from), NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"call", (PyCFunction)(void (*)(void))exchange_call, METH_FASTCALL,
                                 "call(compiled, list): a list of results; the list of arguments is emptied."},
                                {"constant", exchange_constant, METH_O, "constant(tensor): a tensor of ours over memory that is not written."},
                                {"lend_memory", exchange_lend_memory, METH_O, "lend_memory(index): blocks of that CUDA device are torch's."},
                                {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, exchange_new}, {Py_tp_dealloc, exchange_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
static PyType_Spec spec = {"thunder._thunder.Exchange", sizeof(Exchange), 0, Py_TPFLAGS_DEFAULT, slots};

int open_exchange(PyObject *module) { return add_type(module, &spec, NULL) ? 0 : -1; }
