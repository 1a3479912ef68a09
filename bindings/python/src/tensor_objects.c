/* The objects that tensors are in Python: made of handles, and known by them. tensor.c has their type. */
#include "tensor.h"

PyTypeObject *tensor_type;

PyObject *tensor_wrap(thunder_tensor *owned)
{
    Tensor *made = PyObject_New(Tensor, tensor_type);
    if (!made) {
        thunder_tensor_release(owned);
        return NULL;
    }
    made->handle = owned;
    made->weak = made->dict = NULL;
    made->live = made->parameter = made->known = false;
    return (PyObject *)made;
}

/* ---- tensors that are one object wherever they are read: those of modules. By handle, with linear probing. ---- */

static Tensor **slots_known;
static size_t n_known, room_known; /* a power of two, or 0 */

static size_t slot_of(const thunder_tensor *handle)
{
    size_t at = ((size_t)handle >> 4) * 0x9e3779b97f4a7c15u >> 20 & (room_known - 1);
    while (slots_known[at] && slots_known[at]->handle != handle) at = (at + 1) & (room_known - 1);
    return at;
}

static int grow_known(void)
{
    const size_t room = room_known;
    Tensor **old = slots_known, **more = PyMem_Calloc(room ? 2 * room : 64, sizeof *more);
    if (!more) return PyErr_NoMemory(), -1;
    slots_known = more, room_known = room ? 2 * room : 64;
    for (size_t i = 0; i < room; i++)
        if (old[i]) slots_known[slot_of(old[i]->handle)] = old[i];
    PyMem_Free(old);
    return 0;
}

int tensor_register(PyObject *object)
{
    Tensor *self = (Tensor *)object;
    if (self->known) return 0;
    if (2 * (n_known + 1) > room_known && grow_known()) return -1;
    Tensor **slot = &slots_known[slot_of(self->handle)];
    if (*slot) return 0; /* another object is known for it */
    *slot = self, self->known = true, n_known++;
    return 0;
}

void tensor_unregister(const Tensor *self)
{
    size_t at = slot_of(self->handle);
    slots_known[at] = NULL, n_known--;
    for (at = (at + 1) & (room_known - 1); slots_known[at]; at = (at + 1) & (room_known - 1)) {
        Tensor *moved = slots_known[at]; /* to where a search for it ends now */
        slots_known[at] = NULL;
        slots_known[slot_of(moved->handle)] = moved;
    }
}

PyObject *tensor_of(thunder_tensor *lent)
{
    Tensor *known = n_known ? slots_known[slot_of(lent)] : NULL;
    return known ? Py_NewRef((PyObject *)known) : tensor_wrap(thunder_tensor_retain(lent));
}

/* ---- what ops ask of them ---- */

static PyTypeObject *shape_type = &PyTuple_Type; /* Size, of the Python part: a tuple */

bool shape_test(PyObject *object) { return Py_TYPE(object) == shape_type; }

/* set_shape_type(Size) */
static PyObject *set_shape_type(PyObject *module, PyObject *type)
{
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type)) return PyErr_Format(PyExc_TypeError, "a subclass of tuple was expected");
    shape_type = (PyTypeObject *)Py_NewRef(type);
    Py_RETURN_NONE;
}

PyObject *tensor_shape(PyObject *object, void *unused)
{
    const thunder_tensor *tensor = tensor_handle(object);
    const Py_ssize_t rank = (Py_ssize_t)thunder_tensor_rank(tensor);
    PyObject *shape = shape_type->tp_alloc(shape_type, rank);
    for (Py_ssize_t i = 0; shape && i < rank; i++) {
        PyObject *size = is_recording() ? size_object(thunder_tensor_dim(here, tensor, (int32_t)i))
                                        : PyLong_FromLongLong(thunder_tensor_size(tensor, (int32_t)i));
        if (!size) Py_CLEAR(shape);
        if (size) PyTuple_SET_ITEM(shape, i, size);
    }
    return shape;
}
PyObject *tensor_dtype(PyObject *object, void *unused)
{
    return constant_of(THUNDER_DTYPE, thunder_tensor_dtype(tensor_handle(object)));
}

thunder_status *tensor_materialized(thunder_tensor *tensor, int32_t *concrete)
{
    *concrete = thunder_tensor_is_concrete(tensor);
    if (*concrete) return NULL;
    const char *where = caller_place();
    PyThreadState *state = PyEval_SaveThread();
    thunder_status *failed = thunder_tensor_materialize(tensor, where, concrete);
    PyEval_RestoreThread(state);
    return failed;
}

int tensor_materialize(thunder_tensor *tensor)
{
    int32_t concrete;
    return check_status(tensor_materialized(tensor, &concrete)) ? -1 : concrete;
}

/* materialize(tensor): whether it has elements; a function that may break computes them now. */
static PyObject *materialize(PyObject *module, PyObject *object)
{
    if (!tensor_test(object)) return PyErr_Format(PyExc_TypeError, "materialize: a tensor was expected");
    const int concrete = tensor_materialize(tensor_handle(object));
    return concrete < 0 ? NULL : PyBool_FromLong(concrete);
}

/* mark_parameter(tensor), is_parameter(object) */
static PyObject *mark_parameter(PyObject *module, PyObject *object)
{
    if (!tensor_test(object)) return PyErr_Format(PyExc_TypeError, "a tensor was expected");
    ((Tensor *)object)->parameter = true;
    return tensor_register(object) ? NULL : Py_NewRef(object);
}
static PyObject *is_parameter(PyObject *module, PyObject *object)
{
    return PyBool_FromLong(tensor_test(object) && ((Tensor *)object)->parameter);
}

/* known(): the tensors that are one object wherever they are read; know(tensor): from now on it is one. */
static PyObject *known_tensors(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < room_known; i++)
        if (slots_known[i] && PyList_Append(list, (PyObject *)slots_known[i])) Py_CLEAR(list);
    return list;
}
static PyObject *know(PyObject *module, PyObject *object)
{
    if (!tensor_test(object)) return PyErr_Format(PyExc_TypeError, "a tensor was expected");
    return tensor_register(object) ? NULL : Py_NewRef(object);
}

int open_tensor_objects(PyObject *module)
{
    static PyMethodDef functions[] = {{"materialize", materialize, METH_O, "Whether a tensor has elements; a function that may break computes them now."},
                                      {"set_shape_type", set_shape_type, METH_O, NULL},
                                      {"mark_parameter", mark_parameter, METH_O, NULL},
                                      {"is_parameter", is_parameter, METH_O, NULL},
                                      {"known", known_tensors, METH_NOARGS, NULL},
                                      {"know", know, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
