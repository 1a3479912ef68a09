/* Meshes: the ranks of the world as a grid with named axes. What waits for other ranks does so without the interpreter's lock. */
#include "module.h"

typedef struct Mesh {
    PyObject_HEAD
    thunder_mesh *handle;
} Mesh;

static thunder_mesh *mesh_handle(PyObject *object) { return ((Mesh *)object)->handle; }

/* MeshBase("data=2,tensor=2", options) */
static PyObject *mesh_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    const char *axes;
    PyObject *dict;
    if (!PyArg_ParseTuple(args, "sO:mesh", &axes, &dict)) return NULL;
    thunder_options *options = options_from(dict);
    Mesh *self = !PyErr_Occurred() ? (Mesh *)type->tp_alloc(type, 0) : NULL;
    if (self) {
        thunder_status *failed;
        Py_BEGIN_ALLOW_THREADS
        failed = thunder_mesh_create(context, axes, options, &self->handle);
        Py_END_ALLOW_THREADS
        if (check_status(failed)) Py_CLEAR(self);
    }
    thunder_options_release(options);
    return (PyObject *)self;
}

static void mesh_dealloc(PyObject *object)
{
    thunder_mesh_release(mesh_handle(object));
    free_object(object);
}

/* Of (axis=None): NULL is the world. False: an exception is set. */
static bool axis_of(thunder_mesh *mesh, PyObject *args, const char **axis)
{
    *axis = NULL;
    if (!PyArg_ParseTuple(args, "|z:mesh", axis)) return false;
    if (thunder_mesh_size(mesh, *axis) >= 0) return true;
    PyErr_Format(PyExc_ValueError, "mesh: there is no axis '%s'; %s", *axis, thunder_mesh_text(mesh));
    return false;
}

static PyObject *mesh_size(PyObject *self, PyObject *args)
{
    const char *axis;
    return axis_of(mesh_handle(self), args, &axis) ? PyLong_FromLongLong(thunder_mesh_size(mesh_handle(self), axis)) : NULL;
}

static PyObject *mesh_index(PyObject *self, PyObject *args)
{
    const char *axis;
    return axis_of(mesh_handle(self), args, &axis) ? PyLong_FromLongLong(thunder_mesh_index(mesh_handle(self), axis)) : NULL;
}

static PyObject *mesh_local_rank(PyObject *self, void *unused)
{
    return PyLong_FromLongLong(thunder_mesh_local_rank(mesh_handle(self)));
}

static PyObject *mesh_device(PyObject *self, void *unused)
{
    return constant_of(THUNDER_DEVICE, (int32_t)thunder_mesh_device(mesh_handle(self)));
}

static PyObject *mesh_text(PyObject *self) { return PyUnicode_FromFormat("mesh(%s)", thunder_mesh_text(mesh_handle(self))); }

static PyObject *mesh_barrier(PyObject *self, PyObject *args)
{
    const char *axis;
    if (!axis_of(mesh_handle(self), args, &axis)) return NULL;
    thunder_status *failed;
    Py_BEGIN_ALLOW_THREADS
    failed = thunder_mesh_barrier(mesh_handle(self), axis);
    Py_END_ALLOW_THREADS
    return none_of(failed);
}

/* _broadcast(tensors, axis, root) */
static PyObject *mesh_broadcast(PyObject *self, PyObject *args)
{
    PyObject *tensors;
    const char *axis;
    long long root;
    if (!PyArg_ParseTuple(args, "OzL:broadcast", &tensors, &axis, &root)) return NULL;
    thunder_values *values = values_new();
    PyObject *result = NULL;
    if (values && values_add(values, tensors) == 0) {
        thunder_status *failed;
        Py_BEGIN_ALLOW_THREADS
        failed = thunder_mesh_broadcast(mesh_handle(self), axis, values, root);
        Py_END_ALLOW_THREADS
        result = none_of(failed);
    }
    thunder_values_release(values);
    return result;
}

/* _fully_shard(module, axis, reshard_after_forward) */
static PyObject *mesh_fully_shard(PyObject *self, PyObject *args)
{
    PyObject *module;
    const char *axis;
    int reshard;
    if (!PyArg_ParseTuple(args, "Osp:fully_shard", &module, &axis, &reshard)) return NULL;
    thunder_module *handle = module_handle(module);
    thunder_status *failed;
    if (!handle) return NULL;
    Py_BEGIN_ALLOW_THREADS
    failed = thunder_mesh_fully_shard(mesh_handle(self), axis, handle, reshard);
    Py_END_ALLOW_THREADS
    return none_of(failed);
}

/* _parallelize_module(module, axis, plan) */
static PyObject *mesh_parallelize_module(PyObject *self, PyObject *args)
{
    PyObject *module;
    const char *axis, *plan;
    if (!PyArg_ParseTuple(args, "Oss:parallelize_module", &module, &axis, &plan)) return NULL;
    thunder_module *handle = module_handle(module);
    thunder_status *failed;
    if (!handle) return NULL;
    Py_BEGIN_ALLOW_THREADS
    failed = thunder_mesh_parallelize_module(mesh_handle(self), axis, handle, plan);
    Py_END_ALLOW_THREADS
    return none_of(failed);
}

static PyMethodDef methods[] = {
    {"size", mesh_size, METH_VARARGS, "size(axis=None)\n--\n\nHow many ranks the axis has; without one: the world."},
    {"index", mesh_index, METH_VARARGS, "index(axis=None)\n--\n\nThe number of this rank along the axis; without one: its rank in the world."},
    {"barrier", mesh_barrier, METH_VARARGS, "barrier(axis=None)\n--\n\nReturns when all ranks of the axis have called it."},
    {"_broadcast", mesh_broadcast, METH_VARARGS, NULL},
    {"_fully_shard", mesh_fully_shard, METH_VARARGS, NULL},
    {"_parallelize_module", mesh_parallelize_module, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {
    {"local_rank", mesh_local_rank, NULL, "The number of this rank among those on its machine.", NULL},
    {"device", mesh_device, NULL, "Where this rank computes: the CPU, or the GPU that the engine drives.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, mesh_new}, {Py_tp_dealloc, mesh_dealloc}, {Py_tp_methods, methods}, {Py_tp_getset, members},
                              {Py_tp_repr, mesh_text}, {0, NULL}};
static PyType_Spec spec = {"thunder._thunder.MeshBase", sizeof(Mesh), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int open_mesh(PyObject *module) { return add_type(module, &spec, NULL) ? 0 : -1; }
