/* DLPack: memory shared with other array libraries, without a copy. */
#include "dlpack.h"
#include "streams.h"

/* ---- out ---- */

static void drop_versioned(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return; /* the consumer has it */
    DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->deleter) managed->deleter(managed);
}
static void drop_legacy(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    DLManagedTensor *managed = PyCapsule_GetPointer(capsule, "dltensor");
    if (managed->deleter) managed->deleter(managed);
}

static PyObject *export_versioned(thunder_tensor *tensor, uint32_t major, thunder_stream *stream)
{
    DLManagedTensorVersioned *managed = NULL;
    if (check_status(thunder_tensor_to_dlpack(tensor, major, stream, &managed))) return NULL;
    PyObject *capsule = PyCapsule_New(managed, "dltensor_versioned", drop_versioned);
    if (!capsule) managed->deleter(managed);
    return capsule;
}

static PyObject *export_legacy(thunder_tensor *tensor, thunder_stream *stream)
{
    DLManagedTensor *managed = NULL;
    if (check_status(thunder_tensor_to_dlpack_legacy(tensor, stream, &managed))) return NULL;
    PyObject *capsule = PyCapsule_New(managed, "dltensor", drop_legacy);
    if (!capsule) managed->deleter(managed);
    return capsule;
}

/* A consumer asks for an exception of this kind where there can be no export. */
static PyObject *as_buffer_error(PyObject *capsule)
{
    if (capsule || !PyErr_ExceptionMatches(error_type)) return capsule;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_Format(PyExc_BufferError, "%S", error ? error : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return NULL;
}

/* Where the consumer works, by the array API's numbers: None or 1 is the legacy default stream, 2 the thread's, others are pointers;
 * -1: it orders by itself, as if it worked on our stream. -1 and an exception. */
static int consumer_stream(PyObject *given, thunder_device device, thunder_stream **out)
{
    *out = NULL;
    const long long number = given == Py_None ? 1 : PyLong_AsLongLong(given);
    if (number == -1 && PyErr_Occurred()) return -1;
    if (device == THUNDER_CPU) {
        if (given == Py_None || number == -1) return 0;
        PyErr_SetString(PyExc_BufferError, "__dlpack__: stream must be None for a tensor on the CPU");
        return -1;
    }
    if (number == 0 || number < -1) {
        PyErr_Format(PyExc_BufferError, "__dlpack__: stream %lld is none of CUDA: 1 is the legacy default stream, 2 the thread's, -1 orders "
                     "nothing, others are pointers", number);
        return -1;
    }
    if (number > 2) keep_consumer((void *)(intptr_t)number, device & 0xffff);
    *out = stream_on(device, number == -1 ? NULL : (void *)(intptr_t)number);
    return *out ? 0 : -1;
}

/* __dlpack__(stream=None, max_version=None, dl_device=None, copy=None) */
PyObject *tensor_dlpack(PyObject *self, PyObject *args, PyObject *named)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, named, "|OOOO:__dlpack__", names, &stream, &version, &device, &copy)) return NULL;
    const thunder_device mine = thunder_tensor_device(tensor_handle(self));
    int kind = mine >> 16, index = mine & 0xffff, major = 0, minor = 0;
    if (device != Py_None && !PyArg_ParseTuple(device, "ii:dl_device", &kind, &index)) return NULL;
    if (kind != mine >> 16 || index != (mine & 0xffff))
        return PyErr_Format(PyExc_BufferError, "the tensor is on another device: move it with .to()");
    if (copy != Py_None && PyObject_IsTrue(copy))
        return PyErr_Format(PyExc_BufferError, "__dlpack__ makes no copies: call .clone() first");
    if (version != Py_None && !PyArg_ParseTuple(version, "ii:max_version", &major, &minor)) return NULL;
    thunder_tensor *tensor = tensor_handle(self);
    thunder_stream *consumer;
    if (tensor_note_read(self, true)) return NULL;
    if (consumer_stream(stream, mine, &consumer)) return NULL;
    PyObject *capsule = major >= 1 ? export_versioned(tensor, (uint32_t)major, consumer) : export_legacy(tensor, consumer);
    thunder_stream_release(consumer);
    return as_buffer_error(capsule);
}

PyObject *tensor_dlpack_device(PyObject *self, PyObject *unused)
{
    const thunder_device device = thunder_tensor_device(tensor_handle(self));
    return Py_BuildValue("ii", device >> 16, device & 0xffff);
}

/* ---- in ---- */

PyObject *foreign_capsule(PyObject *object, void *stream)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (!method) return NULL;
    PyObject *none = PyTuple_New(0), *named = Py_BuildValue("{s(ii)}", "max_version", 1, 0), *capsule = NULL;
    PyObject *number = stream ? PyLong_FromVoidPtr(stream) : NULL;
    bool ready = none && named && !(stream && (!number || PyDict_SetItemString(named, "stream", number)));
    if (ready) capsule = PyObject_Call(method, none, named);
    /* Producers of DLPack 0.x know no max_version. */
    if (ready && !capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        ready = PyDict_DelItemString(named, "max_version") == 0;
        if (ready) capsule = PyObject_Call(method, none, named);
    }
    Py_XDECREF(number);
    Py_XDECREF(none);
    Py_XDECREF(named);
    Py_DECREF(method);
    return capsule;
}

/* DLPack's elements in words: "float16", "uint8 x 4". */
static PyObject *elements_text(const DLTensor *t)
{
    static const char *const words[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
    const char *word = t->dtype.code < sizeof words / sizeof words[0] ? words[t->dtype.code] : "float of an own format, ";
    PyObject *one = PyUnicode_FromFormat("%s%d", word, (int)t->dtype.bits);
    if (!one || t->dtype.lanes == 1) return one;
    PyObject *many = PyUnicode_FromFormat("%U x %d", one, (int)t->dtype.lanes);
    Py_DECREF(one);
    return many;
}

static bool has_dtype(const DLTensor *t)
{
    if (t->dtype.lanes == 1 && dtype_find((thunder_dtype)(t->dtype.code << 8 | t->dtype.bits))) return true;
    PyObject *text = elements_text(t);
    if (text) raise_no_dtype(text);
    Py_XDECREF(text);
    return false;
}

/* Of another major version nothing but the deleter may be looked at; the library refuses it. */
static thunder_tensor *take_versioned(PyObject *capsule)
{
    DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    thunder_tensor *made = NULL;
    if (managed->version.major == 1 && !has_dtype(&managed->dl_tensor)) return NULL;
    if (check_status(thunder_tensor_from_dlpack(context, managed, &made)) == 0) PyCapsule_SetName(capsule, "used_dltensor_versioned");
    return made;
}

static thunder_tensor *take_legacy(PyObject *capsule)
{
    DLManagedTensor *managed = PyCapsule_GetPointer(capsule, "dltensor");
    thunder_tensor *made = NULL;
    if (!has_dtype(&managed->dl_tensor)) return NULL;
    if (check_status(thunder_tensor_from_dlpack_legacy(context, managed, &made)) == 0) PyCapsule_SetName(capsule, "used_dltensor");
    return made;
}

thunder_tensor *dlpack_take(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) return take_versioned(capsule);
    if (PyCapsule_IsValid(capsule, "dltensor")) return take_legacy(capsule);
    PyErr_SetString(PyExc_TypeError, "DLPack: a capsule that nothing has consumed was expected");
    return NULL;
}
