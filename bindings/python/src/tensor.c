/* Tensors: the type, and what is known without the elements. operators.c has its operators. */
#include "tensor.h"

static void tensor_dealloc(PyObject *object)
{
    Tensor *self = (Tensor *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->known) tensor_unregister(self);
    if (self->weak) PyObject_ClearWeakRefs(object);
    Py_CLEAR(self->dict);
    thunder_tensor_release(self->handle);
    PyObject_Free(object);
    Py_DECREF(type);
}

static Py_hash_t tensor_hash(PyObject *object)
{
    if (((Tensor *)object)->live) return tensor_hash_live(object);
    const size_t bits = (size_t)object >> 4; /* which tensor it is, not what it holds */
    return (Py_hash_t)bits;
}

/* ---- what is known of it ---- */

static PyObject *tensor_device(PyObject *object, void *unused)
{
    return constant_of(THUNDER_DEVICE, thunder_tensor_device(tensor_handle(object)));
}
static PyObject *tensor_ndim(PyObject *object, void *unused)
{
    return PyLong_FromSize_t(thunder_tensor_rank(tensor_handle(object)));
}
static PyObject *tensor_nbytes(PyObject *object, void *unused)
{
    const thunder_tensor *tensor = tensor_handle(object);
    if (thunder_tensor_is_concrete(tensor)) return PyLong_FromSize_t(thunder_tensor_nbytes(tensor));
    PyObject *shape = tensor_shape(object, NULL), *bytes = shape ? PyLong_FromLong((thunder_tensor_dtype(tensor) & 0xff) / 8) : NULL;
    for (Py_ssize_t i = 0; bytes && i < PyTuple_GET_SIZE(shape); i++) Py_SETREF(bytes, PyNumber_Multiply(bytes, PyTuple_GET_ITEM(shape, i)));
    Py_XDECREF(shape);
    return bytes;
}
/* For its text, which says of a tensor of a traced function that ended that it was traced. */
static int materialize_for_text(thunder_tensor *tensor)
{
    int32_t concrete;
    thunder_status *failed = tensor_materialized(tensor, &concrete);
    if (thunder_status_code(failed) != THUNDER_EXPIRED) return check_status(failed);
    thunder_status_release(failed);
    return 0;
}

static PyObject *tensor_is_concrete(PyObject *object, void *unused)
{
    return PyBool_FromLong(thunder_tensor_is_concrete(tensor_handle(object)));
}
static PyObject *tensor_is_contiguous(PyObject *object, PyObject *unused)
{
    const int32_t is_dense = thunder_tensor_is_contiguous(tensor_handle(object));
    if (is_dense < 0) return PyErr_Format(PyExc_TypeError, "this traced tensor has no layout: is_contiguous() is known in compiled functions, not of arguments of rules and passes");
    return PyBool_FromLong(is_dense);
}
static PyObject *tensor_shares_memory(PyObject *object, PyObject *unused)
{
    return PyBool_FromLong(thunder_tensor_shares_memory(tensor_handle(object)));
}
/* Strides in elements, as PyTorch has them. */
static PyObject *tensor_stride(PyObject *object, PyObject *unused)
{
    const thunder_tensor *tensor = tensor_handle(object);
    const int64_t *strides = thunder_tensor_strides(tensor);
    const Py_ssize_t rank = (Py_ssize_t)thunder_tensor_rank(tensor);
    if (!strides && rank) return PyErr_Format(PyExc_TypeError, "a traced tensor has no strides");
    PyObject *list = PyTuple_New(rank);
    for (Py_ssize_t i = 0; list && i < rank; i++) PyTuple_SET_ITEM(list, i, PyLong_FromLongLong(strides[i]));
    return list;
}

static Py_ssize_t tensor_length(PyObject *object)
{
    const thunder_tensor *tensor = tensor_handle(object);
    if (thunder_tensor_rank(tensor)) return (Py_ssize_t)thunder_tensor_size(tensor, 0);
    PyErr_SetString(PyExc_TypeError, "a tensor of rank 0 has no length");
    return -1;
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    return PyErr_Format(PyExc_TypeError, "Tensor is the type of tensors and makes none: thunder.tensor(data) does, and thunder.zeros(size)");
}

/* As PyTorch prints it, by what set_printoptions() said. */
static PyObject *tensor_repr(PyObject *object)
{
    thunder_values *out = values_new();
    thunder_tensor *tensor = ((Tensor *)object)->handle;
    PyObject *text = NULL;
    if (out && !materialize_for_text(tensor) && !check_status(thunder_tensor_text(context, tensor, NULL, out))) text = values_result(out, false);
    thunder_values_release(out);
    return text;
}

/* Of a float that a traced function was given its own type, so that isinstance(x, float) is what it is outside. */
static PyObject *tensor_class(PyObject *object, void *unused)
{
    return Py_NewRef(((Tensor *)object)->live ? (PyObject *)&PyFloat_Type : (PyObject *)Py_TYPE(object));
}

static PyGetSetDef members[] = {
    {"__class__", tensor_class, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, NULL, NULL, NULL},
    {"shape", tensor_shape, NULL, "The sizes of its dims, a tuple.", NULL},
    {"dtype", tensor_dtype, NULL, "The type of its elements.", NULL},
    {"device", tensor_device, NULL, "Where its memory is.", NULL},
    {"ndim", tensor_ndim, NULL, "How many dims it has.", NULL},
    {"nbytes", tensor_nbytes, NULL, "The bytes of its elements.", NULL},
    {"is_concrete", tensor_is_concrete, NULL, "False in a traced function, where it has no elements yet.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef methods[] = {
    {"item", tensor_item, METH_NOARGS, "The only element, as a number of Python."},
    {"is_contiguous", tensor_is_contiguous, METH_NOARGS, "Whether its memory is dense and row-major."},
    {"_shares_memory", tensor_shares_memory, METH_NOARGS, NULL},
    {"data_ptr", tensor_data_ptr, METH_NOARGS, "Where its first element is in memory."},
    {"stride", tensor_stride, METH_NOARGS, "The distances, in elements, from one to the next along each dim."},
    {"__dlpack__", (PyCFunction)(void (*)(void))tensor_dlpack, METH_VARARGS | METH_KEYWORDS, "A capsule with its memory."},
    {"__dlpack_device__", tensor_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyMemberDef offsets[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(Tensor, weak), READONLY, NULL},
                                {"__dictoffset__", T_PYSSIZET, offsetof(Tensor, dict), READONLY, NULL},
                                {NULL, 0, 0, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, tensor_dealloc},
                              {Py_tp_new, tensor_new},
                              {Py_tp_repr, tensor_repr},
                              {Py_tp_str, tensor_str},
                              {Py_tp_getset, members},
                              {Py_tp_methods, methods},
                              {Py_tp_members, offsets},
                              {Py_tp_richcompare, tensor_compare},
                              {Py_tp_hash, tensor_hash},
#define ROW(slot, name) {Py_##slot, tensor_##slot},
                              TENSOR_BINARY_OPERATORS(ROW)
                              TENSOR_UNARY_OPERATORS(ROW)
#undef ROW
                              {Py_nb_power, tensor_power},
                              {Py_nb_inplace_power, tensor_power_in_place},
                              {Py_nb_divmod, tensor_divmod},
                              {Py_nb_positive, tensor_positive},
                              {Py_nb_bool, tensor_bool},
                              {Py_nb_float, tensor_float},
                              {Py_nb_int, tensor_int},
                              {Py_nb_index, tensor_index},
                              {Py_mp_length, tensor_length},
                              {Py_bf_getbuffer, tensor_getbuffer},
                              {Py_bf_releasebuffer, tensor_releasebuffer},
                              {Py_tp_doc, "An array of numbers, or in a traced function what stands for one."},
                              {0, NULL}};
static PyType_Spec spec = {"thunder.Tensor", sizeof(Tensor), 0,
                           Py_TPFLAGS_DEFAULT, slots};

int open_tensor(PyObject *module)
{
    tensor_type = add_type(module, &spec, NULL);
    return tensor_type ? 0 : -1;
}
