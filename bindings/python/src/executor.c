/* Executors of Python: the callbacks of the library's descriptor over the methods of a subclass, which are _claim(fields),
 * _claim_region([fields]), _prepare(fields) and _transform(fields, args); fields are those of a node. */
#include "layer.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct Executor {
    PyObject_HEAD
    thunder_executor *handle;
    callback *callback;
    PyObject *ops;     /* the dict of those it may claim; None: _claim is asked about all */
    PyObject *kernels; /* what was prepared, by number: Python's collector sees what the library runs */
    unsigned long long prepared;
} Executor;

static PyTypeObject *executor_type;

/* What the library has. Claiming cannot fail in the descriptor: an error in it is kept, and fails the next preparation. */
typedef struct shared {
    callback *callback;
    _Atomic(thunder_status *) failed;
} shared;

static void keep_failure(shared *self, thunder_status *status) { thunder_status_release(atomic_exchange(&self->failed, status)); }

typedef struct claim_frame {
    const thunder_node *node;         /* of claim */
    const thunder_node *const *nodes; /* of claim_region */
    size_t count;
    uint8_t *taken;
    bool claims;
} claim_frame;

static int call_claim(PyObject *object, void *frame)
{
    claim_frame *f = frame;
    PyObject *ops = ((Executor *)object)->ops;
    if (ops != Py_None && !PyDict_GetItemString(ops, thunder_node_op(f->node))) return 0;
    PyObject *result = PyObject_CallMethod(object, "_claim", "(N)", node_fields(f->node));
    const int claims = result ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    f->claims = claims > 0;
    return claims < 0 ? -1 : 0;
}

static int32_t claim(const thunder_node *node, void *user)
{
    shared *self = user;
    claim_frame f = {.node = node};
    thunder_status *failed = callback_enter(self->callback, NULL, call_claim, &f);
    if (!failed) return f.claims;
    keep_failure(self, failed);
    return 1; /* so that preparing it reports the error */
}

/* The method gives the positions of the lines that form one region with the first. */
static int call_claim_region(PyObject *object, void *frame)
{
    claim_frame *f = frame;
    PyObject *positions = PyObject_CallMethod(object, "_claim_region", "(N)", nodes_fields(f->nodes, f->count));
    PyObject *fast = positions ? PySequence_Fast(positions, "") : NULL;
    for (Py_ssize_t i = 0; fast && i < PySequence_Fast_GET_SIZE(fast); i++) {
        const Py_ssize_t position = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(fast, i), PyExc_IndexError);
        if (position < 0 || position >= (Py_ssize_t)f->count) break; /* the method has looked at them */
        f->taken[position] = 1;
        f->claims = true;
    }
    Py_XDECREF(fast);
    Py_XDECREF(positions);
    return PyErr_Occurred() ? -1 : 0;
}

static int32_t claim_region(const thunder_node *const *nodes, size_t n, uint8_t *taken, void *user)
{
    shared *self = user;
    claim_frame f = {.nodes = nodes, .count = n, .taken = taken};
    thunder_status *failed = callback_enter(self->callback, NULL, call_claim_region, &f);
    if (!failed) return f.claims;
    keep_failure(self, failed);
    return 0;
}

/* The library's reference to a kernel: a way to find it. */
typedef struct plan {
    callback *callback;
    unsigned long long number;
} plan;

typedef struct prepare_frame {
    const thunder_node *node;
    plan *plan;
    bool declined;
} prepare_frame;

static int call_prepare(PyObject *object, void *frame)
{
    prepare_frame *f = frame;
    Executor *self = (Executor *)object;
    PyObject *kernel = PyObject_CallMethod(object, "_prepare", "(N)", node_fields(f->node)), *number = NULL;
    int failed = !kernel;
    if (kernel == Py_None) {
        f->declined = true;
    } else if (kernel) {
        f->plan->number = ++self->prepared;
        number = PyLong_FromUnsignedLongLong(f->plan->number);
        failed = !number || PyObject_SetItem(self->kernels, number, kernel);
    }
    Py_XDECREF(number);
    Py_XDECREF(kernel);
    return failed ? -1 : 0;
}

static thunder_status *prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    static const char declined[] = "its prepare gave nothing", memory[] = "no memory for a plan";
    shared *self = user;
    thunder_status *failed = atomic_exchange(&self->failed, NULL);
    if (failed) return failed;
    prepare_frame f = {node, malloc(sizeof *f.plan), false};
    if (!f.plan) return thunder_status_create(THUNDER_OUT_OF_MEMORY, memory, sizeof memory - 1);
    f.plan->callback = self->callback;
    failed = callback_enter(self->callback, NULL, call_prepare, &f);
    if (!failed && f.declined) failed = thunder_status_create(THUNDER_DECLINED, declined, sizeof declined - 1);
    if (failed) {
        free(f.plan);
        return failed;
    }
    callback_retain(self->callback);
    *out_state = f.plan, *out_scratch_bytes = 0;
    return NULL;
}

typedef struct launch_frame {
    const plan *plan;
    const thunder_launch *launch; /* NULL: the kernel is dropped */
} launch_frame;

static int call_kernel(PyObject *object, void *frame)
{
    const launch_frame *f = frame;
    PyObject *kernels = ((Executor *)object)->kernels, *number = PyLong_FromUnsignedLongLong(f->plan->number);
    PyObject *kernel = number ? Py_XNewRef(PyDict_GetItemWithError(kernels, number)) : NULL;
    int failed = 0;
    if (!f->launch) {
        if (kernel) failed = PyDict_DelItem(kernels, number);
    } else if (kernel) {
        failed = kernel_call(kernel, f->launch, NULL, 0);
    } else {
        failed = -1;
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "the executor was collected: keep what was compiled");
    }
    Py_XDECREF(kernel);
    Py_XDECREF(number);
    return failed;
}

static thunder_status *run(const thunder_launch *launch, void *state)
{
    launch_frame f = {state, launch};
    return callback_enter(f.plan->callback, NULL, call_kernel, &f);
}

static void drop_plan(void *state)
{
    launch_frame f = {state, NULL};
    thunder_status_release(callback_enter(f.plan->callback, NULL, call_kernel, &f)); /* it may be gone, and its kernels with it */
    callback_destroy(f.plan->callback);
    free(state);
}

typedef struct transform_frame {
    const thunder_node *node;
    const thunder_values *in;
    thunder_values *out;
    bool declined;
} transform_frame;

static int call_transform(PyObject *object, void *frame)
{
    transform_frame *f = frame;
    PyObject *arguments = values_list(f->in, true, NULL), *results = NULL;
    if (arguments) results = PyObject_CallMethod(object, "_transform", "NN", node_fields(f->node), arguments);
    f->declined = results == Py_None;
    const int failed = !results || (!f->declined && values_add_each(f->out, results));
    Py_XDECREF(results);
    return failed ? -1 : 0;
}

static thunder_status *transform(thunder_scope *scope, const thunder_node *node, const thunder_values *in, thunder_values *out,
                                 void *user)
{
    transform_frame f = {node, in, out, false};
    thunder_status *failed = callback_enter(((shared *)user)->callback, scope, call_transform, &f);
    if (!failed && f.declined) failed = thunder_status_create(THUNDER_DECLINED, "", 0);
    return failed;
}

static void destroy(void *user)
{
    shared *self = user;
    thunder_status_release(atomic_load(&self->failed));
    callback_destroy(self->callback);
    free(self);
}

/* ---- the type ---- */

thunder_executor *executor_test(PyObject *object)
{
    return executor_type && PyObject_TypeCheck(object, executor_type) ? ((Executor *)object)->handle : NULL;
}

/* The kernels that the descriptor lists: {op: fields}. */
typedef struct kernel_list {
    cuda_kernel *kernels;
    const thunder_kernel_desc **descs;
    const char **ops;
    size_t count;
} kernel_list;

static void free_kernels(kernel_list *list)
{
    for (size_t i = 0; i < list->count; i++) cuda_kernel_free(&list->kernels[i]);
    free(list->kernels), free(list->descs), free(list->ops);
}

static int read_kernels(PyObject *by_op, kernel_list *out)
{
    const size_t most = (size_t)PyDict_Size(by_op) + 1;
    *out = (kernel_list){calloc(most, sizeof *out->kernels), calloc(most, sizeof *out->descs), calloc(most, sizeof *out->ops), 0};
    if (!out->kernels || !out->descs || !out->ops) return free_kernels(out), PyErr_NoMemory(), -1;
    PyObject *op, *fields;
    for (Py_ssize_t at = 0; PyDict_Next(by_op, &at, &op, &fields);) {
        const size_t i = out->count;
        out->ops[i] = PyUnicode_AsUTF8(op);
        if (!out->ops[i] || cuda_kernel_read(fields, &out->kernels[i])) return free_kernels(out), -1;
        out->descs[i] = &out->kernels[i].desc;
        out->count++;
    }
    return 0;
}

static int create(Executor *self, const char *name, bool regions, const kernel_list *kernels, unsigned flags)
{
    thunder_executor_desc d = {.size = sizeof d, .name = name, .flags = flags};
    d.kernels = kernels->descs, d.kernel_ops = kernels->ops, d.n_kernels = kernels->count;
    shared *made = malloc(sizeof *made);
    self->callback = made ? callback_new((PyObject *)self, callback_owner_itself) : NULL;
    if (!self->callback) {
        free(made);
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return -1;
    }
    made->callback = self->callback;
    atomic_init(&made->failed, NULL);
    d.claim = claim, d.claim_region = regions ? claim_region : NULL, d.prepare = prepare, d.run = run, d.drop = drop_plan;
    d.execution_transform = transform, d.user = made, d.destroy = destroy;
    return check_status(thunder_executor_create(context, &d, &self->handle));
}

/* Executor(name, ops or None, takes regions, {op: fields of a kernel for CUDA devices}, flags of the descriptor=0) */
static PyObject *executor_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    const char *name;
    PyObject *ops, *by_op;
    int regions;
    unsigned flags = 0;
    kernel_list kernels;
    if (!PyArg_ParseTuple(args, "sOpO!|I:Executor", &name, &ops, &regions, &PyDict_Type, &by_op, &flags)) return NULL;
    if (read_kernels(by_op, &kernels)) return NULL;
    Executor *self = (Executor *)type->tp_alloc(type, 0);
    if (self) {
        self->ops = Py_NewRef(ops);
        self->kernels = PyDict_New();
    }
    const bool made = self && self->kernels && create(self, name, regions, &kernels, flags) == 0;
    free_kernels(&kernels);
    if (made) return (PyObject *)self;
    Py_XDECREF(self);
    return NULL;
}

static int executor_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((Executor *)object)->ops);
    Py_VISIT(((Executor *)object)->kernels);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

/* Both stay dicts: the library may still ask, and what it drops is not there. */
static int executor_clear(PyObject *object)
{
    if (((Executor *)object)->kernels) PyDict_Clear(((Executor *)object)->kernels);
    return 0;
}

static void executor_dealloc(PyObject *object)
{
    Executor *self = (Executor *)object;
    PyObject_GC_UnTrack(object);
    callback_forget_owner(self->callback);
    thunder_executor_release(self->handle);
    Py_XDECREF(self->kernels);
    Py_XDECREF(self->ops);
    free_object(object);
}

/* _register(): the option "executors" may name it from now on, and it stays for ever. */
static PyObject *executor_register(PyObject *object, PyObject *unused)
{
    if (check_status(thunder_context_add_executor(context, ((Executor *)object)->handle))) return NULL;
    Py_INCREF(object);
    Py_RETURN_NONE;
}

/* add_backend(name, doc, executors, names, disabled passes, tags, without fusion): texts are lists with commas, executors stay for ever. */
static PyObject *add_backend(PyObject *module, PyObject *args)
{
    thunder_backend_desc d = {.size = sizeof d};
    PyObject *executors;
    int no_fusion;
    if (!PyArg_ParseTuple(args, "ssO!sssp:add_backend", &d.name, &d.doc, &PyList_Type, &executors, &d.executor_names, &d.disable_passes,
                          &d.tags, &no_fusion))
        return NULL;
    const Py_ssize_t count = PyList_GET_SIZE(executors);
    thunder_executor **handles = PyMem_Calloc((size_t)count + 1, sizeof *handles);
    if (!handles) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) handles[i] = executor_test(PyList_GET_ITEM(executors, i));
    d.executors = handles, d.n_executors = (size_t)count, d.no_fusion = no_fusion;
    const int failed = check_status(thunder_context_add_backend(context, &d));
    PyMem_Free(handles);
    if (failed) return NULL;
    Py_INCREF(executors); /* with what it holds */
    Py_RETURN_NONE;
}

int open_executor(PyObject *module)
{
    static PyMethodDef functions[] = {{"add_backend", add_backend, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    if (PyModule_AddFunctions(module, functions)) return -1;
    static PyMethodDef methods[] = {{"_register", executor_register, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {{Py_tp_new, executor_new},     {Py_tp_dealloc, executor_dealloc}, {Py_tp_traverse, executor_traverse},
                                  {Py_tp_clear, executor_clear}, {Py_tp_methods, methods},          {0, NULL}};
    static PyType_Spec spec = {"thunder._thunder.Executor", sizeof(Executor), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};
    executor_type = add_type(module, &spec, NULL);
    return executor_type ? 0 : -1;
}
