/* Arrays and tensors of other libraries as ours: by the buffer protocol where they have it, else by DLPack, both without a
 * copy; and by numpy's __array__ where those have no way for their elements, such as PyTorch's booleans before 2.2. */
#include "dlpack.h"
#include "streams.h"

#include <string.h>

static bool has_dlpack(PyObject *object) { return PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__dlpack__"); }

static PyTypeObject *scalar_type; /* numpy.generic */

bool scalar_test(PyObject *object) { return PyObject_TypeCheck(object, scalar_type); }

PyObject *scalar_number(PyObject *object)
{
    PyObject *number = scalar_test(object) ? PyObject_CallMethod(object, "item", NULL) : NULL;
    if (number && !PyFloat_Check(number) && !PyLong_Check(number)) Py_CLEAR(number); /* complex, dates, longdouble */
    return number;
}

bool foreign_test(PyObject *object)
{
    return (PyObject_CheckBuffer(object) && !PyBytes_Check(object)) || has_dlpack(object);
}

/* PyTorch's mark. It refuses to export what has it, in words that depend on its version. */
static bool wants_gradient(PyObject *object)
{
    PyObject *mark = PyObject_GetAttrString(object, "requires_grad");
    const bool wants = mark == Py_True;
    Py_XDECREF(mark);
    PyErr_Clear();
    return wants;
}

/* PyTorch's mark for memory whose numbers are the negative ones; DLPack says nothing of it. */
static bool is_negated(PyObject *object)
{
    PyObject *answer = PyObject_HasAttrString((PyObject *)Py_TYPE(object), "is_neg") ? PyObject_CallMethod(object, "is_neg", NULL) : NULL;
    const bool negated = answer == Py_True;
    Py_XDECREF(answer);
    PyErr_Clear();
    return negated;
}

/* Where it is, as DLPack numbers devices; what does not say is taken to be on the host. */
static void find_device(PyObject *object, int *kind, int *index)
{
    *kind = DLPACK_CPU, *index = 0;
    PyObject *both = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    if (!both || !PyTuple_Check(both) || !PyArg_ParseTuple(both, "ii", kind, index)) *kind = DLPACK_CPU, *index = 0;
    Py_XDECREF(both);
    PyErr_Clear();
}

static void refuse_device(PyObject *object, int kind, int index)
{
    PyErr_Clear();
    PyObject *place = kind == DLPACK_CUDA ? PyUnicode_FromFormat("cuda:%d", index)
                                          : PyUnicode_FromFormat("device %d of DLPack's kind %d", index, kind);
    if (place)
        PyErr_Format(PyExc_TypeError, "a tensor on %U cannot be used here (it is %s's): copy it to the CPU first, in PyTorch by .cpu(), "
                     "in jax by jax.device_get()", place, Py_TYPE(object)->tp_name);
    Py_XDECREF(place);
}

/* Instead of the exception that is set, where its elements are what no dtype is for: those words say it. */
static void explain_dtype(PyObject *object)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *dtype = PyObject_GetAttrString(object, "dtype"), *text = dtype ? PyObject_Str(dtype) : NULL;
    const char *words = text ? PyUnicode_AsUTF8(text) : NULL, *name = words ? strrchr(words, '.') : NULL;
    PyErr_Clear();
    if (!words || dtype_of_name(name ? name + 1 : words))
        PyErr_Restore(type, error, traceback), type = error = traceback = NULL;
    else
        raise_no_dtype(text);
    Py_XDECREF(text);
    Py_XDECREF(dtype);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

thunder_tensor *tensor_from_dlpack(PyObject *object)
{
    if (wants_gradient(object)) {
        PyErr_SetString(PyExc_TypeError, "a tensor that requires grad has its gradients in its own library: pass .detach() of it, or compile by torch.compile(backend=\"thunder\"); "
                        "gradients are asked for here by thunder.grad_of(loss, params)");
        return NULL;
    }
    if (is_negated(object)) {
        PyErr_SetString(PyExc_TypeError, "a tensor that is the negative of its memory, such as z.conj().imag: pass .resolve_neg() of it");
        return NULL;
    }
    int kind, index;
    find_device(object, &kind, &index);
    thunder_stream *ours = kind == DLPACK_CUDA ? stream_on(THUNDER_CUDA(index), NULL) : NULL;
    if (!ours && kind != DLPACK_CPU && kind != DLPACK_CUDA_HOST) {
        refuse_device(object, kind, index);
        return NULL;
    }
    PyObject *capsule = foreign_capsule(object, ours ? thunder_stream_native(ours) : NULL);
    thunder_stream_release(ours);
    thunder_tensor *made = capsule ? dlpack_take(capsule) : NULL;
    Py_XDECREF(capsule);
    if (!made) explain_dtype(object);
    return made;
}

thunder_tensor *tensor_of_call(PyObject *object)
{
    thunder_tensor *made = tensor_from_foreign(object);
    if (!made || follow_stream(object, made) == 0) return made;
    thunder_tensor_release(made);
    return NULL;
}

/* Nothing crosses from a device behind the caller's back. */
static bool has_host_array(PyObject *object)
{
    int kind, index;
    if (!PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__array__")) return false;
    find_device(object, &kind, &index);
    return kind == DLPACK_CPU || kind == DLPACK_CUDA_HOST;
}

static thunder_tensor *tensor_from_array(PyObject *object)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", object) : NULL;
    thunder_tensor *made = array ? tensor_from_buffer(array) : NULL;
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    return made;
}

/* The error of the first way stays when the others fail too. */
thunder_tensor *tensor_from_foreign(PyObject *object)
{
    const bool ways[] = {PyObject_CheckBuffer(object), has_dlpack(object), has_host_array(object)};
    thunder_tensor *(*const take[])(PyObject *) = {tensor_from_buffer, tensor_from_dlpack, tensor_from_array};
    PyObject *type = NULL, *error = NULL, *traceback = NULL;
    thunder_tensor *made = NULL;
    for (int i = 0; i < 3 && !made; i++) {
        if (!ways[i] || (made = take[i](object))) continue;
        if (!PyErr_ExceptionMatches(PyExc_Exception)) break; /* KeyboardInterrupt */
        if (type)
            PyErr_Clear();
        else
            PyErr_Fetch(&type, &error, &traceback);
    }
    if (!made && type && !PyErr_Occurred()) PyErr_Restore(type, error, traceback), type = error = traceback = NULL;
    if (!made && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "an array was expected, not %s", Py_TYPE(object)->tp_name);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return made;
}

/* from_dlpack(object with __dlpack__, or a capsule) */
static PyObject *from_dlpack(PyObject *module, PyObject *object)
{
    thunder_tensor *made = PyCapsule_CheckExact(object) ? dlpack_take(object) : tensor_from_dlpack(object);
    if (!made) return error_prefix("from_dlpack"), NULL;
    return tensor_wrap(made);
}

/* share(object): a tensor over its memory. */
static PyObject *share(PyObject *module, PyObject *object)
{
    thunder_tensor *made = tensor_from_foreign(object);
    return made ? tensor_wrap(made) : NULL;
}

/* copied(array): a tensor of its elements. */
static PyObject *copied(PyObject *module, PyObject *array)
{
    thunder_tensor *made = tensor_of_elements(array);
    return made ? tensor_wrap(made) : NULL;
}

/* read_only(tensor): a view of it into which nothing is written. */
static PyObject *read_only(PyObject *module, PyObject *object)
{
    DLManagedTensorVersioned *managed = NULL;
    thunder_tensor *made = NULL;
    if (!tensor_test(object)) return PyErr_Format(PyExc_TypeError, "read_only: a tensor was expected");
    if (check_status(thunder_tensor_to_dlpack(tensor_handle(object), 1, NULL, &managed))) return NULL;
    managed->flags |= DLPACK_READ_ONLY;
    if (check_status(thunder_tensor_from_dlpack(context, managed, &made))) return managed->deleter(managed), NULL;
    return tensor_wrap(made);
}

/* set_array_reader(function or None): the one before; copies_array(array): what it says. */
static PyObject *set_array_reader(PyObject *module, PyObject *function) { return swap_array_reader(function); }
static PyObject *copies_array(PyObject *module, PyObject *array)
{
    const int copies = trace_copies_array(array);
    return copies < 0 ? NULL : PyBool_FromLong(copies);
}

int open_foreign(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"from_dlpack", from_dlpack, METH_O,
         "from_dlpack(object)\n--\n\nA tensor over the memory of another library's array; no copy."},
        {"share", share, METH_O, "share(object)\n--\n\nA tensor over the memory of another library's array, or of a buffer."},
        {"copied", copied, METH_O, NULL},
        {"read_only", read_only, METH_O, NULL},
        {"set_array_reader", set_array_reader, METH_O, NULL},
        {"copies_array", copies_array, METH_O, NULL},
        {NULL, NULL, 0, NULL}};
    PyObject *numpy = PyImport_ImportModule("numpy");
    scalar_type = numpy ? (PyTypeObject *)PyObject_GetAttrString(numpy, "generic") : NULL;
    Py_XDECREF(numpy);
    return scalar_type ? PyModule_AddFunctions(module, functions) : -1;
}
