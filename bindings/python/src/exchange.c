/* Calls with the tensors of a library that has DLPack's exchange API in C (PyTorch from 2.10 on): no capsules, no objects of ours,
 * no copies, and one event before and after the work on a device instead of one for each tensor. */
#include "dlpack.h"

#include <stdlib.h>

typedef struct api_header {
    struct {
        uint32_t major, minor;
    } version;
    struct api_header *previous; /* of an older major version, or NULL */
} api_header;

/* As DLPack 1.3 fixes it. Functions give 0, or anything else and an exception. */
typedef struct exchange_api {
    api_header header;
    int (*allocate)(DLTensor *like, DLManagedTensorVersioned **out, void *user,
                    void (*fail)(void *user, const char *kind, const char *message));
    int (*from_object)(void *object, DLManagedTensorVersioned **out);
    int (*to_object)(DLManagedTensorVersioned *managed, void **out);
    int (*view)(void *object, DLTensor *out);
    int (*current_stream)(int32_t device_kind, int32_t device_index, void **out);
} exchange_api;

_Static_assert(sizeof(void *) != 8 || sizeof(exchange_api) == 56, "DLPack 1.3");

enum { MAX_PICKED = 256 };

typedef struct Exchange {
    PyObject_HEAD
    PyObject *capsule, *class, *again; /* of the API, which it keeps; of tensors; a function or NULL */
    const exchange_api *api;
    thunder_values *spare_in, *spare_out; /* of the call before, empty, or NULL */
} Exchange;

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

static thunder_tensor *taken(const Exchange *self, PyObject *object)
{
    DLManagedTensorVersioned *managed = NULL;
    thunder_tensor *made = NULL;
    if (self->api->from_object(object, &managed)) return NULL;
    if (check_status(thunder_tensor_from_dlpack_unordered(context, managed, &made)) && managed->deleter) managed->deleter(managed);
    return made;
}

/* The bytes from the first element of a view to behind its last one. */
static size_t reach(const DLTensor *t)
{
    int64_t last = 0;
    for (int32_t i = 0; i < t->ndim; i++) {
        if (t->shape[i] == 0) return 0;
        last += (t->shape[i] - 1) * t->strides[i];
    }
    return (size_t)(last + 1) * (t->dtype.bits / 8);
}

/* A tensor of the CPU's that somebody holds for as long as the call, without a structure that says who does. */
static thunder_tensor *looked_at(const Exchange *self, PyObject *object)
{
    DLTensor t;
    thunder_tensor *made = NULL;
    if (self->api->view(object, &t)) return NULL;
    if (t.device.type != DLPACK_CPU || t.dtype.lanes != 1 || !t.strides) return taken(self, object);
    const thunder_dtype dtype = (thunder_dtype)(t.dtype.code << 8 | t.dtype.bits);
    thunder_status *failed = thunder_tensor_borrow(context, dtype, (size_t)t.ndim, t.shape, t.strides, THUNDER_CPU,
                                                   (char *)t.data + t.byte_offset, reach(&t), NULL, NULL, &made);
    return check_status(failed) ? NULL : made;
}

/* Adds a tensor of theirs or a plain value; `device` becomes that of the first tensor which is not the CPU's. `held`: until the call
 * ends. */
static int add_argument(const Exchange *self, thunder_values *in, PyObject *object, int held, thunder_device *device)
{
    if (!PyObject_TypeCheck(object, (PyTypeObject *)self->class)) return values_add(in, object);
    thunder_tensor *tensor = held ? looked_at(self, object) : taken(self, object);
    if (!tensor) return -1;
    if (!*device && thunder_tensor_device(tensor) >> 16 != DLPACK_CPU) *device = thunder_tensor_device(tensor);
    thunder_values_push_tensor(in, tensor);
    thunder_tensor_release(tensor);
    return 0;
}

static int add_arguments(const Exchange *self, thunder_values *in, PyObject *const *args, Py_ssize_t count, int held, thunder_device *device)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (add_argument(self, in, args[i], held, device)) return error_prefix("argument %zd", i), -1;
    return 0;
}

/* ---- out ---- */

/* The stream of the call, if it had one, waits for the work already. */
static thunder_status *export_tensor(thunder_tensor *tensor, thunder_stream *ordered, thunder_stream *stream, DLManagedTensorVersioned **out)
{
    return ordered ? thunder_tensor_to_dlpack_unordered(tensor, ordered, out) : thunder_tensor_to_dlpack(tensor, 1, stream, out);
}

static PyObject *given(const Exchange *self, thunder_tensor *tensor, thunder_stream *ordered)
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

static PyObject *result(const Exchange *self, const thunder_values *out, size_t leaf, thunder_stream *ordered)
{
    if (thunder_values_kind(out, leaf) == THUNDER_TENSOR) {
        thunder_tensor *tensor = thunder_values_tensor(out, leaf);
        return tensor ? given(self, tensor, ordered) : Py_NewRef(Py_None);
    }
    thunder_any any;
    return check_status(thunder_values_get(out, leaf, &any)) ? NULL : values_leaf(&any);
}

static PyObject *results(const Exchange *self, const thunder_values *out, thunder_stream *ordered)
{
    const size_t count = thunder_values_count(out);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t leaf = 0; list && leaf < count; leaf++) {
        PyObject *one = result(self, out, leaf, ordered);
        if (one)
            PyList_SET_ITEM(list, (Py_ssize_t)leaf, one);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* ---- memory of a running program ---- */

typedef struct lent {
    DLManagedTensorVersioned managed;
    int64_t sizes[]; /* shape, then strides */
} lent;

static void drop_lent(DLManagedTensorVersioned *managed) { free(managed); }

PyObject *exchange_view(PyObject *exchange, const thunder_buffer *b)
{
    const size_t rank = (size_t)b->rank;
    lent *made = malloc(sizeof *made + 2 * rank * sizeof made->sizes[0]);
    if (!made) return PyErr_NoMemory();
    for (size_t i = 0; i < rank; i++) made->sizes[i] = b->shape[i], made->sizes[rank + i] = b->strides[i];
    made->managed = (DLManagedTensorVersioned){.version = {1, 0}, .deleter = drop_lent};
    made->managed.dl_tensor = (DLTensor){.data = b->data,
                                         .device = {b->device >> 16, b->device & 0xffff},
                                         .ndim = b->rank,
                                         .dtype = {(uint8_t)(b->dtype >> 8), (uint8_t)(b->dtype & 0xff), 1},
                                         .shape = made->sizes,
                                         .strides = made->sizes + rank};
    void *object = NULL;
    if (((Exchange *)exchange)->api->to_object(&made->managed, &object) == 0) return object;
    free(made);
    return NULL;
}

/* ---- the call ---- */

/* Whether a call that failed is to be made again, since its function would now be traced in another way; -1 and an exception. */
static int asks_again(const Exchange *self)
{
    if (!self->again) return 0;
    PyObject *answer = PyObject_CallNoArgs(self->again);
    const int again = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return again;
}

/* `emptied`: the list that the arguments are in, or NULL. */
static PyObject *run_with(const Exchange *self, thunder_compiled *compiled, thunder_values *in, thunder_values *out, PyObject *const *args,
                          Py_ssize_t count, PyObject *emptied)
{
    thunder_device device = 0;
    if (add_arguments(self, in, args, count, !emptied, &device)) return NULL;
    thunder_stream *stream = current_stream(self, device);
    if (!stream && PyErr_Occurred()) return NULL;
    if (emptied && PyList_SetSlice(emptied, 0, count, NULL)) return thunder_stream_release(stream), NULL;
    PyThreadState *state = PyEval_SaveThread();
    thunder_status *failed = thunder_compiled_call(compiled, stream, in, out);
    PyEval_RestoreThread(state);
    for (int again; failed && (again = asks_again(self));) {
        thunder_status_release(failed);
        if (again < 0) return thunder_stream_release(stream), NULL;
        state = PyEval_SaveThread();
        failed = thunder_compiled_call(compiled, stream, in, out);
        PyEval_RestoreThread(state);
    }
    PyObject *made = check_status(failed) || show_warning() ? NULL : results(self, out, stream);
    thunder_stream_release(stream);
    return made;
}

static thunder_values *spare(thunder_values **kept)
{
    thunder_values *found = *kept;
    *kept = NULL;
    return found ? found : values_new();
}

static void put_back(thunder_values **kept, thunder_values *values)
{
    thunder_values_reset(values);
    if (!*kept)
        *kept = values;
    else
        thunder_values_release(values);
}

static PyObject *run(Exchange *self, thunder_compiled *compiled, PyObject *const *args, Py_ssize_t count, PyObject *emptied)
{
    thunder_values *in = spare(&self->spare_in), *out = in ? spare(&self->spare_out) : NULL;
    PyObject *made = out ? run_with(self, compiled, in, out, args, count, emptied) : NULL;
    put_back(&self->spare_in, in);
    put_back(&self->spare_out, out);
    return made;
}

/* call(compiled, list): a list of results. The list of arguments is emptied, so that nothing but the call holds them. */
static PyObject *exchange_call(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    thunder_compiled *compiled = count == 2 ? compiled_test(args[0]) : NULL;
    if (!compiled || !PyList_Check(args[1])) return PyErr_Format(PyExc_TypeError, "call: takes a compiled function and a list");
    return run((Exchange *)object, compiled, ((PyListObject *)args[1])->ob_item, PyList_GET_SIZE(args[1]), args[1]);
}

/* ---- a call without a list ---- */

/* `bound` is (exchange, compiled, which of the arguments the program takes or None). */
static PyObject *bound_call(PyObject *bound, PyObject *const *args, Py_ssize_t count)
{
    Exchange *self = (Exchange *)PyTuple_GET_ITEM(bound, 0);
    thunder_compiled *compiled = compiled_test(PyTuple_GET_ITEM(bound, 1));
    PyObject *taken = PyTuple_GET_ITEM(bound, 2), *picked[MAX_PICKED];
    if (taken == Py_None) return run(self, compiled, args, count, NULL);
    const Py_ssize_t picks = PyTuple_GET_SIZE(taken);
    for (Py_ssize_t i = 0; i < picks; i++) {
        const Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(taken, i));
        if (at < 0 || at >= count) return PyErr_Format(PyExc_TypeError, "program: %zd arguments were given, argument %zd is asked for", count, at);
        picked[i] = args[at];
    }
    return run(self, compiled, picked, picks, NULL);
}

static PyMethodDef bound_method = {"program", (PyCFunction)(void (*)(void))bound_call, METH_FASTCALL, "A list of the results of its arguments."};

/* function(compiled, taken): call() as a function of the arguments; taken: the numbers of those that the program has, None: all */
static PyObject *exchange_function(PyObject *object, PyObject *args)
{
    PyObject *compiled, *taken;
    if (!PyArg_ParseTuple(args, "OO:function", &compiled, &taken)) return NULL;
    if (!compiled_test(compiled) || (taken != Py_None && (!PyTuple_Check(taken) || PyTuple_GET_SIZE(taken) > MAX_PICKED)))
        return PyErr_Format(PyExc_TypeError, "function: takes a compiled function, and None or a tuple of at most %d numbers", MAX_PICKED);
    PyObject *bound = PyTuple_Pack(3, object, compiled, taken);
    PyObject *made = bound ? PyCFunction_New(&bound_method, bound) : NULL;
    Py_XDECREF(bound);
    return made;
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

/* Exchange(class of tensors, again=None): by its __dlpack_c_exchange_api__; again() says of a call that failed whether to make it again */
static PyObject *exchange_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *class, *again = NULL;
    (void)named;
    if (!PyArg_ParseTuple(args, "O!|O:Exchange", &PyType_Type, &class, &again)) return NULL;
    PyObject *capsule = PyObject_GetAttrString(class, "__dlpack_c_exchange_api__");
    const exchange_api *api = capsule ? api_of(capsule) : NULL;
    Exchange *self = api ? (Exchange *)type->tp_alloc(type, 0) : NULL;
    if (!self) {
        Py_XDECREF(capsule);
        return NULL;
    }
    self->capsule = capsule, self->class = Py_NewRef(class), self->again = Py_XNewRef(again), self->api = api;
    return (PyObject *)self;
}

static void exchange_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(((Exchange *)object)->capsule);
    Py_DECREF(((Exchange *)object)->class);
    Py_XDECREF(((Exchange *)object)->again);
    thunder_values_release(((Exchange *)object)->spare_in);
    thunder_values_release(((Exchange *)object)->spare_out);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {{"call", (PyCFunction)(void (*)(void))exchange_call, METH_FASTCALL,
                                 "call(compiled, list): a list of results; the list of arguments is emptied."},
                                {"function", exchange_function, METH_VARARGS, "function(compiled, taken): call as a function of the arguments."},
                                {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, exchange_new}, {Py_tp_dealloc, exchange_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
static PyType_Spec spec = {"thunder._thunder.Exchange", sizeof(Exchange), 0, Py_TPFLAGS_DEFAULT, slots};

int open_exchange(PyObject *module) { return add_type(module, &spec, NULL) ? 0 : -1; }
