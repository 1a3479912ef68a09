/* DLPack: memory shared with other array libraries, without a copy. */
#include "dlpack.h"

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

static PyObject *export_versioned(thunder_tensor *tensor, uint32_t major)
{
    DLManagedTensorVersioned *managed = NULL;
    if (check_status(thunder_tensor_to_dlpack(tensor, major, NULL, &managed))) return NULL;
    PyObject *capsule = PyCapsule_New(managed, "dltensor_versioned", drop_versioned);
    if (!capsule) managed->deleter(managed);
    return capsule;
}

static PyObject *export_legacy(thunder_tensor *tensor)
{
    DLManagedTensor *managed = NULL;
    if (check_status(thunder_tensor_to_dlpack_legacy(tensor, NULL, &managed))) return NULL;
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
    return as_buffer_error(major >= 1 ? export_versioned(tensor, (uint32_t)major) : export_legacy(tensor));
}

PyObject *tensor_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    const thunder_device device = thunder_tensor_device(tensor_handle(self));
    return Py_BuildValue("ii", device >> 16, device & 0xffff);
}

/* ---- in ---- */

static PyObject *capsule_of(PyObject *object)
{
    if (PyCapsule_CheckExact(object)) return Py_NewRef(object);
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (!method) return NULL;
    PyObject *none = PyTuple_New(0), *named = Py_BuildValue("{s(ii)}", "max_version", 1, 0), *capsule = NULL;
    if (none && named) capsule = PyObject_Call(method, none, named);
    /* Producers of DLPack 0.x know no max_version. */
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallNoArgs(method);
    }
    Py_XDECREF(none);
    Py_XDECREF(named);
    Py_DECREF(method);
    return capsule;
}

/* from_dlpack(object with __dlpack__, or a capsule) */
static PyObject *from_dlpack(PyObject *module, PyObject *object)
{
    (void)module;
    PyObject *capsule = capsule_of(object);
    if (!capsule) return NULL;
    thunder_tensor *made = NULL;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        if (check_status(thunder_tensor_from_dlpack(context, PyCapsule_GetPointer(capsule, "dltensor_versioned"), &made)) == 0)
            PyCapsule_SetName(capsule, "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        if (check_status(thunder_tensor_from_dlpack_legacy(context, PyCapsule_GetPointer(capsule, "dltensor"), &made)) == 0)
            PyCapsule_SetName(capsule, "used_dltensor");
    } else {
        PyErr_SetString(PyExc_TypeError, "from_dlpack: a capsule that nothing has consumed was expected");
    }
    Py_DECREF(capsule);
    return made ? tensor_wrap(made) : NULL;
}

/* share(object with a buffer): a tensor over its memory. */
static PyObject *share(PyObject *module, PyObject *object)
{
    (void)module;
    thunder_tensor *made = tensor_from_buffer(object);
    return made ? tensor_wrap(made) : NULL;
}

int open_dlpack(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"from_dlpack", from_dlpack, METH_O,
         "from_dlpack(object)\n--\n\nA tensor over the memory of another library's array; no copy."},
        {"share", share, METH_O, "share(object)\n--\n\nA tensor over the memory of an object with the buffer protocol."},
        {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
