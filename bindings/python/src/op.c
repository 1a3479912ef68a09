/* Ops: one Python object for each, over the one C function that calls them all. */
#include "op.h"
#include "tensor.h"

#include <string.h>

/* ---- signatures ---- */

static enum parameter_kind kind_of(const char *word)
{
    static const struct {
        const char *word;
        enum parameter_kind kind;
    } rows[] = {{"tensor", TAKES_TENSOR}, {"int", TAKES_INT},          {"float", TAKES_FLOAT}, {"int[]", TAKES_DIMS},
                {"float[]", TAKES_FLOATS}, {"tensor[]", TAKES_TENSORS}, {"dtype", TAKES_DTYPE}, {"device", TAKES_DEVICE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].word, word) == 0) return rows[i].kind;
    return TAKES_ANY;
}

static bool takes_numbers(const char *word)
{
    return strncmp(word, "int", 3) == 0 || strncmp(word, "float", 5) == 0 || strncmp(word, "tensor", 6) == 0;
}

static int fill_parameters(signature *self, PyObject *names, PyObject *kinds)
{
    bool numbers_follow = false;
    for (int i = self->n_parameters - 1; i >= 0; i--) {
        PyObject *word = PyTuple_GET_ITEM(names, i);
        const char *name = PyUnicode_AsUTF8(word), *kind = PyUnicode_AsUTF8(PyTuple_GET_ITEM(kinds, i));
        if (!name || !kind) return -1;
        const bool gathers = strcmp(kind, "int[]") == 0 && !numbers_follow;
        self->parameters[i] = (parameter){name, word, kind_of(kind), gathers};
        numbers_follow |= takes_numbers(kind);
    }
    return 0;
}

signature *signature_new(PyObject *name, PyObject *names, PyObject *kinds, int n_results)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(names);
    if (count > MAX_ARGUMENTS || count != PyTuple_GET_SIZE(kinds) || n_results < -1 || n_results > MAX_RESULTS) {
        PyErr_Format(PyExc_ValueError, "%U: too many parameters or results", name);
        return NULL;
    }
    signature *self = PyMem_Malloc(sizeof *self + (size_t)count * sizeof self->parameters[0]);
    if (!self) {
        PyErr_NoMemory();
        return NULL;
    }
    self->name = PyUnicode_AsUTF8(name), self->n_parameters = (int)count, self->n_results = n_results;
    self->takes_out = self->creates = false;
    self->owner = PyTuple_Pack(2, name, names);
    if (self->name && self->owner && fill_parameters(self, names, kinds) == 0) return self;
    signature_free(self);
    return NULL;
}

void signature_free(signature *self)
{
    if (!self) return;
    Py_XDECREF(self->owner);
    PyMem_Free(self);
}

/* ---- calls ---- */

typedef struct Op {
    PyObject_HEAD
    vectorcallfunc call;
    signature *signature;
    PyObject *dict; /* __doc__, __name__, __text_signature__ */
    PyObject *named; /* makes a named tuple of several results; None: they stay a tuple */
} Op;

static PyTypeObject *op_type;
static PyObject *ops; /* name -> Op, for operators */

/* Eager ops let other threads run Python meanwhile, when there is enough to do. */
static bool is_large(const arguments *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->any[i].kind == THUNDER_TENSOR && thunder_tensor_nbytes(c->any[i].u.t) > 1 << 16) return true;
    return false;
}

/* An op that gives its first argument back, such as add_, gives the same object; `passed`: what stood for it, its detached form in no_grad(). */
static PyObject *wrap_results(thunder_tensor **results, int count, PyObject *first, const thunder_any *passed)
{
    if (count == 1)
        return first && tensor_test(first) && (tensor_handle(first) == results[0] || (passed->kind == THUNDER_TENSOR && passed->u.t == results[0]))
                   ? Py_NewRef(first) : tensor_of(results[0]);
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple && i < count; i++) {
        PyObject *one = tensor_of(results[i]);
        if (!one) Py_CLEAR(tuple);
        if (one) PyTuple_SET_ITEM(tuple, i, one);
    }
    return tuple;
}

/* What the arguments asked for: one tensor stands alone. Takes the list. */
static PyObject *alone_or_tuple(PyObject *list)
{
    PyObject *made = PyList_GET_SIZE(list) == 1 ? Py_NewRef(PyList_GET_ITEM(list, 0)) : PyList_AsTuple(list);
    Py_DECREF(list);
    return made;
}

static PyObject *invoke(const signature *op, const arguments *c, PyObject *first)
{
    thunder_scope *scope = scope_now();
    if (!scope) return NULL;
    const char *const *names = c->named ? c->names : NULL;
    const char *place = here ? caller_place() : NULL; /* an eager op's error is raised here and now */
    thunder_tensor *results[MAX_RESULTS];
    thunder_values *all = NULL;
    PyThreadState *state = !here && is_large(c) ? PyEval_SaveThread() : NULL;
    if (op->n_results > 0)
        thunder_op_invoke(scope, op->name, c->any, (size_t)c->count, names, results, (size_t)op->n_results, place);
    else
        all = thunder_op_invoke_all(scope, op->name, c->any, (size_t)c->count, names, place);
    if (state) PyEval_RestoreThread(state);
    if (scope_check(scope)) return NULL;
    PyObject *made = op->n_results > 0 ? wrap_results(results, op->n_results, first, c->any) : values_list(all, false, NULL);
    if (made && op->n_results < 0) made = alone_or_tuple(made);
    scope_done(scope);
    return made;
}

/* ---- out= ---- */

static int refuse_out(const signature *op, PyObject *result, PyObject *out)
{
    PyObject *wanted = tensor_shape(result, NULL), *dtype = tensor_dtype(result, NULL);
    if (wanted && dtype && !tensor_test(out))
        PyErr_Format(PyExc_TypeError, "%s: out must be a tensor, not %s", op->name, Py_TYPE(out)->tp_name);
    else if (wanted && dtype)
        PyErr_Format(PyExc_ValueError, "%s: out must have the result's shape, %R, and a dtype that %R can be stored in: tensors are not resized here",
                     op->name, wanted, dtype);
    Py_XDECREF(wanted);
    Py_XDECREF(dtype);
    return -1;
}

static int store_one(const signature *op, PyObject *result, PyObject *out)
{
    bool fits = tensor_test(out);
    if (fits) {
        const thunder_tensor *from = tensor_handle(result), *to = tensor_handle(out);
        const size_t rank = thunder_tensor_rank(from);
        fits = rank == thunder_tensor_rank(to) && thunder_can_cast(thunder_tensor_dtype(from), thunder_tensor_dtype(to));
        for (size_t i = 0; fits && i < rank; i++) fits = thunder_tensor_size(from, (int32_t)i) == thunder_tensor_size(to, (int32_t)i);
    }
    if (!fits) return refuse_out(op, result, out);
    PyObject *const both[2] = {out, result};
    PyObject *made = op_call("copy_", both, 2);
    Py_XDECREF(made);
    return made ? 0 : -1;
}

/* Stores the result of the op, which it owns, in `out`, and returns that. */
static PyObject *store(const signature *op, PyObject *result, PyObject *out)
{
    int failed = 0;
    if (!PyTuple_Check(result)) {
        failed = store_one(op, result, out);
    } else if (!PyTuple_Check(out) || PyTuple_GET_SIZE(out) != PyTuple_GET_SIZE(result)) {
        PyErr_Format(PyExc_TypeError, "%s: out must be a tuple of %zd tensors", op->name, PyTuple_GET_SIZE(result));
        failed = -1;
    }
    for (Py_ssize_t i = 0; PyTuple_Check(result) && !failed && i < PyTuple_GET_SIZE(result); i++)
        failed = store_one(op, PyTuple_GET_ITEM(result, i), PyTuple_GET_ITEM(out, i));
    Py_DECREF(result);
    return failed ? NULL : Py_NewRef(out);
}

/* ---- requires_grad= ---- */

/* Whether an op makes a tensor of a size or of numbers: all that take a dtype and a device do, but the one that converts. */
static bool is_creation_op(const signature *s)
{
    bool dtype = false, device = false;
    for (int i = 0; i < s->n_parameters; i++)
        dtype |= s->parameters[i].kind == TAKES_DTYPE, device |= s->parameters[i].kind == TAKES_DEVICE;
    return dtype && device && strcmp(s->name, "to") != 0;
}

/* The result, which the caller asked to have gradients, or not. Takes it over. */
static PyObject *set_requires_grad(PyObject *result, PyObject *requires_grad)
{
    PyObject *marked = PyObject_CallMethod(result, "requires_grad_", "O", requires_grad);
    Py_DECREF(result);
    return marked;
}

/* Whether this is view(dtype), which is another op than view(size). */
static bool is_view_of_dtype(const signature *op, PyObject *const *args, size_t count, PyObject *names)
{
    const Py_ssize_t all = PyVectorcall_NARGS(count) + (names ? PyTuple_GET_SIZE(names) : 0);
    const Constant *constant = all == 2 && !strcmp(op->name, "view") ? constant_test(args[1]) : NULL;
    return constant && constant->kind == THUNDER_DTYPE;
}

static PyObject *op_vectorcall(PyObject *object, PyObject *const *args, size_t count, PyObject *names)
{
    const signature *op = ((Op *)object)->signature;
    arguments c;
    PyObject *first = PyVectorcall_NARGS(count) ? args[0] : NULL, *named = ((Op *)object)->named;
    const bool failed = arguments_read(&c, op, args, PyVectorcall_NARGS(count), names) || (grad_mode_detaches() && grad_mode_detach(&c));
    PyObject *result = failed ? NULL : invoke(op, &c, first), *out = c.out, *requires_grad = c.requires_grad;
    arguments_free(&c);
    if (failed && is_view_of_dtype(op, args, count, names)) {
        PyErr_Clear();
        return op_call("view_dtype", args, 2);
    }
    if (result && out) result = store(op, result, out);
    if (result && requires_grad) result = set_requires_grad(result, requires_grad);
    if (!result || named == Py_None || !PyTuple_Check(result)) return result;
    PyObject *tuple = PyObject_Call(named, result, NULL);
    Py_DECREF(result);
    return tuple;
}

PyObject *op_call(const char *name, PyObject *const *args, Py_ssize_t count)
{
    PyObject *op = PyDict_GetItemString(ops, name);
    if (!op) return PyErr_Format(PyExc_TypeError, "there is no op '%s'", name);
    return op_vectorcall(op, args, (size_t)count, NULL);
}

/* ---- the type ---- */

/* Op(name, parameter names, kinds, number of results, type of several): 0: a list; -1: the arguments say how many, one
   stands alone. */
static PyObject *op_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *name, *names, *kinds, *several;
    int results;
    if (!PyArg_ParseTuple(args, "UO!O!iO:Op", &name, &PyTuple_Type, &names, &PyTuple_Type, &kinds, &results, &several))
        return NULL;
    Op *self = (Op *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->call = op_vectorcall;
    self->signature = signature_new(name, names, kinds, results);
    self->dict = PyDict_New();
    self->named = Py_NewRef(several);
    if (self->signature) self->signature->takes_out = results > 0 && self->signature->name[strlen(self->signature->name) - 1] != '_';
    if (self->signature) self->signature->creates = is_creation_op(self->signature);
    if (self->signature && self->dict && PyDict_SetItem(ops, name, (PyObject *)self) == 0) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int op_traverse(PyObject *object, visitproc visit, void *arg)
{
    Op *self = (Op *)object;
    Py_VISIT(self->dict);
    Py_VISIT(self->named);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int op_clear(PyObject *object)
{
    Py_CLEAR(((Op *)object)->dict);
    Py_CLEAR(((Op *)object)->named);
    return 0;
}

static void op_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    op_clear(object);
    signature_free(((Op *)object)->signature);
    free_object(object);
}

/* By name, so that a function that holds one can be pickled. */
static PyObject *op_reduce(PyObject *object, PyObject *unused)
{
    return PyUnicode_FromString(((Op *)object)->signature->name);
}

static PyMethodDef op_methods[] = {{"__reduce__", op_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Op, call), READONLY, NULL},
                                   {"__dictoffset__", T_PYSSIZET, offsetof(Op, dict), READONLY, NULL},
                                   {NULL, 0, 0, 0, NULL}};
static PyObject *op_creates(PyObject *object, void *unused)
{
    return PyBool_FromLong(((Op *)object)->signature->creates);
}

static PyGetSetDef op_getset[] = {{"creates", op_creates, NULL, "Whether it makes a tensor of a size or of numbers, and takes requires_grad.", NULL},
                                  {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
                                  {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, op_new},         {Py_tp_dealloc, op_dealloc},     {Py_tp_traverse, op_traverse},
                              {Py_tp_clear, op_clear},     {Py_tp_call, PyVectorcall_Call}, {Py_tp_descr_get, bind_method},
                              {Py_tp_members, op_members}, {Py_tp_methods, op_methods},     {Py_tp_getset, op_getset},
                              {0, NULL}};
static PyType_Spec spec = {"thunder._thunder.Op", sizeof(Op), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                           slots};

int open_op(PyObject *module)
{
    ops = PyDict_New();
    op_type = ops ? add_type(module, &spec, NULL) : NULL;
    PyObject *aliases = op_type ? arguments_aliases() : NULL;
    const int failed = !aliases || PyModule_AddObjectRef(module, "aliases", aliases);
    Py_XDECREF(aliases);
    return failed ? -1 : 0;
}
