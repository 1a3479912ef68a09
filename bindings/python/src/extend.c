/* Ops of the user's own. What is registered lives as long as the context, which is as long as the process. */
#include "layer.h"

#include <string.h>

/* An op's functions; kept for ever, with the Python functions in them. */
typedef struct own_op {
    callback *decompose, *meta, *vjp;
} own_op;

typedef struct own_kernel {
    callback *run; /* of a kernel */
    size_t n_args;
} own_kernel;

static thunder_status *run_decompose(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    return callback_run(scope, in, out, ((own_op *)user)->decompose);
}
static thunder_status *run_vjp(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    return callback_run(scope, in, out, ((own_op *)user)->vjp);
}

typedef struct meta_frame {
    const thunder_node *node;
    thunder_types *types;
} meta_frame;

/* A tensor that it is like, or (dtype, shape). */
static int push_type(thunder_types *types, PyObject *one)
{
    if (tensor_test(one)) {
        thunder_types_push_like(types, tensor_handle(one));
        return 0;
    }
    PyObject *kind, *sizes;
    thunder_dtype dtype;
    int64_t shape[64];
    if (!PyArg_ParseTuple(one, "OO!:meta", &kind, &PyTuple_Type, &sizes) || !dtype_from(kind, &dtype)) return -1;
    const Py_ssize_t rank = PyTuple_GET_SIZE(sizes);
    if (rank > (Py_ssize_t)(sizeof shape / sizeof shape[0])) {
        PyErr_SetString(PyExc_ValueError, "meta: too many dims");
        return -1;
    }
    for (Py_ssize_t i = 0; i < rank; i++) shape[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i));
    if (PyErr_Occurred()) return -1;
    thunder_types_push(types, dtype, 0, (size_t)rank, shape);
    return 0;
}

/* The function gives a tuple of these. */
static int call_meta(PyObject *function, void *frame)
{
    const meta_frame *f = frame;
    PyObject *fields = node_fields(f->node), *types = fields ? PyObject_CallOneArg(function, fields) : NULL;
    int failed = !types || !PyTuple_Check(types);
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(types); i++) failed = push_type(f->types, PyTuple_GET_ITEM(types, i));
    Py_XDECREF(types);
    Py_XDECREF(fields);
    return failed ? -1 : 0;
}

static thunder_status *run_meta(const thunder_node *node, thunder_types *types, void *user)
{
    meta_frame f = {node, types};
    return callback_enter(((own_op *)user)->meta, NULL, call_meta, &f);
}

/* The context's share; ours is never given up. */
static void drop_op(void *user)
{
    own_op *op = user;
    if (op->decompose) callback_destroy(op->decompose);
    if (op->meta) callback_destroy(op->meta);
    if (op->vjp) callback_destroy(op->vjp);
    free(op);
}

/* NULL of None, and with an exception. */
static callback *keep_callback(PyObject *function)
{
    callback *made = function != Py_None ? callback_new(function, callback_owner_itself) : NULL;
    if (!made) return NULL;
    callback_spread_results(made);
    Py_INCREF(function);
    return made;
}

/* add_op(schema, doc, flags, decompose or None, meta or None, vjp or None) */
static PyObject *add_op(PyObject *module, PyObject *args)
{
    thunder_op_desc desc = {.size = sizeof desc};
    PyObject *decompose, *meta, *vjp;
    unsigned flags;
    if (!PyArg_ParseTuple(args, "ssIOOO:add_op", &desc.schema, &desc.doc, &flags, &decompose, &meta, &vjp)) return NULL;
    own_op *op = calloc(1, sizeof *op);
    if (!op) return PyErr_NoMemory();
    op->decompose = keep_callback(decompose), op->meta = keep_callback(meta), op->vjp = keep_callback(vjp);
    if (PyErr_Occurred()) {
        drop_op(op);
        return NULL;
    }
    desc.flags = flags, desc.user = op, desc.destroy = drop_op;
    desc.decompose = op->decompose ? run_decompose : NULL, desc.meta = op->meta ? run_meta : NULL, desc.vjp = op->vjp ? run_vjp : NULL;
    return none_of(thunder_context_add_op(context, &desc));
}

typedef struct kernel_frame {
    const own_kernel *kernel;
    const thunder_launch *launch;
    const thunder_any *args;
} kernel_frame;

static int call_kernel(PyObject *kernel, void *frame)
{
    const kernel_frame *f = frame;
    return kernel_call(kernel, f->launch, f->args, f->kernel->n_args);
}

static thunder_status *run_kernel(const thunder_launch *launch, const thunder_any *args, void *user)
{
    kernel_frame f = {user, launch, args};
    return callback_enter(f.kernel->run, NULL, call_kernel, &f);
}

static void drop_kernel(void *user)
{
    own_kernel *kernel = user;
    callback_destroy(kernel->run);
    free(kernel);
}

/* add_cuda_kernel(op, fields of a kernel) */
static PyObject *add_cuda_kernel(PyObject *module, PyObject *args)
{
    const char *op;
    PyObject *fields;
    cuda_kernel kernel;
    if (!PyArg_ParseTuple(args, "sO!:add_cuda_kernel", &op, &PyTuple_Type, &fields)) return NULL;
    if (cuda_kernel_read(fields, &kernel)) return NULL;
    PyObject *result = none_of(thunder_context_add_kernel(context, op, &kernel.desc));
    cuda_kernel_free(&kernel);
    return result;
}

/* add_kernel(op, kernel, number of the schema's parameters) */
static PyObject *add_kernel(PyObject *module, PyObject *args)
{
    thunder_kernel_desc desc = {.size = sizeof desc};
    const char *op;
    PyObject *kernel;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "sOn:add_kernel", &op, &kernel, &count)) return NULL;
    own_kernel *made = malloc(sizeof *made);
    if (!made) return PyErr_NoMemory();
    made->run = keep_callback(kernel), made->n_args = (size_t)count;
    if (!made->run) {
        free(made);
        return NULL;
    }
    desc.run = run_kernel, desc.user = made, desc.destroy = drop_kernel;
    return none_of(thunder_context_add_kernel(context, op, &desc));
}

int open_extend(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"add_op", add_op, METH_VARARGS, NULL}, {"add_kernel", add_kernel, METH_VARARGS, NULL},
        {"add_cuda_kernel", add_cuda_kernel, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
