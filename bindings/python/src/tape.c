/* Tapes, gradients, and what is recorded now. */
#include "layer.h"

typedef struct Tape {
    PyObject_HEAD
    thunder_scope *scope; /* NULL: something records already, and this does nothing */
    thunder_scope *outer;
    grad_mode around; /* in which this asks for gradients */
    unsigned long thread;
} Tape;

static PyObject *tape_enter(PyObject *object, PyObject *unused)
{
    Tape *self = (Tape *)object;
    if (self->scope) return PyErr_Format(PyExc_RuntimeError, "this tape is running already; make another one");
    if (!is_recording()) {
        if (check_status(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &self->scope))) return NULL;
        thunder_scope_set_autocast(self->scope, thunder_scope_autocast(scope_now()));
        self->thread = PyThread_get_thread_ident();
        self->outer = here;
        here = self->scope;
    }
    self->around = grad_mode_reset();
    return Py_NewRef(object);
}

static PyObject *tape_exit(PyObject *object, PyObject *args)
{
    Tape *self = (Tape *)object;
    const bool elsewhere = self->scope && self->thread != PyThread_get_thread_ident();
    if (!elsewhere) grad_mode_restore(&self->around);
    if (elsewhere || (self->scope && here != self->scope))
        return PyErr_Format(PyExc_RuntimeError, "a tape ends in the thread where it began, after all that began inside it");
    if (self->scope) {
        here = self->outer;
        thunder_scope_release(self->scope);
        self->scope = NULL;
    }
    Py_RETURN_NONE;
}

static void tape_dealloc(PyObject *object)
{
    Tape *self = (Tape *)object;
    /* One that was entered and never left stays: the thread may still be recording on it. */
    if (self->scope && here != self->scope) thunder_scope_release(self->scope);
    free_object(object);
}

static PyMethodDef tape_methods[] = {{"__enter__", tape_enter, METH_NOARGS, NULL},
                                     {"__exit__", tape_exit, METH_VARARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
static PyType_Slot tape_slots[] = {
    {Py_tp_dealloc, tape_dealloc},
    {Py_tp_methods, tape_methods},
    {Py_tp_doc, "with thunder.tape(): ... keeps what grad_of() needs. Inside a traced function it does nothing."},
    {Py_tp_new, PyType_GenericNew},
    {0, NULL}};
static PyType_Spec tape_spec = {"thunder.tape", sizeof(Tape), 0, Py_TPFLAGS_DEFAULT, tape_slots};

/* The axis over whose ranks this thread takes gradients, and how they are put together, two str; or NULL. */
static _Thread_local PyObject *grad_axis;

/* _set_grad_axis((axis, reduction, reduce_dtype or None) or None): what it was. */
static PyObject *set_grad_axis(PyObject *module, PyObject *axis)
{
    const char *name, *reduction;
    PyObject *dtype;
    thunder_dtype value;
    if (axis != Py_None && (!PyArg_ParseTuple(axis, "ssO:data", &name, &reduction, &dtype) || !dtype_from(dtype, &value))) return NULL;
    PyObject *before = grad_axis ? grad_axis : Py_NewRef(Py_None);
    grad_axis = axis == Py_None ? NULL : Py_NewRef(axis);
    return before;
}

static thunder_values *over_ranks(thunder_scope *scope, thunder_values *gradients, thunder_values *wrt)
{
    thunder_dtype dtype;
    dtype_from(PyTuple_GET_ITEM(grad_axis, 2), &dtype);
    return thunder_scope_reduce_gradients(scope, gradients, wrt, PyUnicode_AsUTF8(PyTuple_GET_ITEM(grad_axis, 0)),
                                          PyUnicode_AsUTF8(PyTuple_GET_ITEM(grad_axis, 1)), dtype);
}

/* Of the mode at hand. */
static thunder_values *gradients_of(thunder_scope *scope, thunder_tensor *loss, thunder_values *wrt)
{
    thunder_values *own = thunder_scope_grad(scope, loss, wrt);
    return own && grad_axis ? over_ranks(scope, own, wrt) : own;
}

static PyObject *has_grad_axis(PyObject *module, PyObject *unused)
{
    return PyBool_FromLong(grad_axis != NULL);
}

/* reduce_gradients(gradients, by): over the ranks of the axis at hand. */
static PyObject *reduce_gradients(PyObject *module, PyObject *args)
{
    PyObject *gradients, *by, *result = NULL;
    if (!PyArg_ParseTuple(args, "OO:reduce_gradients", &gradients, &by)) return NULL;
    if (!grad_axis)
        return PyErr_Format(PyExc_RuntimeError, "reduce_gradients: it is called in a step of th.parallel.data, and not in no_sync()");
    thunder_scope *scope = scope_now();
    thunder_values *given = scope ? values_new() : NULL, *wrt = given ? values_new() : NULL;
    if (wrt && values_add(given, gradients) == 0 && values_add(wrt, by) == 0 && check_status(thunder_values_status(given)) == 0 &&
        check_status(thunder_values_status(wrt)) == 0) {
        thunder_values *reduced = over_ranks(scope, given, wrt);
        if (scope_check(scope) == 0) result = values_result(reduced, true);
    }
    thunder_values_release(given);
    thunder_values_release(wrt);
    return result;
}

/* grad_of(loss, wrt) */
static PyObject *grad_of(PyObject *module, PyObject *args)
{
    PyObject *loss, *wrt, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!O:grad_of", tensor_type, &loss, &wrt)) return NULL;
    if (!is_recording())
        return PyErr_Format(PyExc_RuntimeError,
                            "grad_of: nothing was recorded; call it in a compiled function, or inside `with thunder.tape():`");
    thunder_scope *scope = here;
    thunder_values *tree = values_new();
    if (tree && values_add(tree, wrt) == 0 && check_status(thunder_values_status(tree)) == 0) {
        thunder_values *gradients = gradients_of(scope, tensor_handle(loss), tree);
        if (scope_check(scope) == 0) result = values_result(gradients, true);
    }
    thunder_values_release(tree);
    return result;
}

/* reached(loss, tensors): whether the loss depends on each, a list. */
static PyObject *reached(PyObject *module, PyObject *args)
{
    PyObject *loss, *tensors, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!O!:reached", tensor_type, &loss, &PyList_Type, &tensors)) return NULL;
    thunder_scope *scope = scope_now();
    thunder_values *list = scope ? values_new() : NULL;
    if (list && values_add_each(list, tensors) == 0 && check_status(thunder_values_status(list)) == 0) {
        thunder_values *found = thunder_scope_reached(scope, tensor_handle(loss), list);
        if (scope_check(scope) == 0) result = values_list(found, false, NULL);
    }
    thunder_values_release(list);
    return result;
}

/* stand_in(tensor, other or None): in the function that is traced now. */
static PyObject *stand_in(PyObject *module, PyObject *args)
{
    PyObject *tensor, *other;
    if (!PyArg_ParseTuple(args, "O!O:stand_in", tensor_type, &tensor, &other)) return NULL;
    thunder_scope *scope = scope_now();
    if (!scope) return NULL;
    thunder_scope_stand_in(scope, tensor_handle(tensor), other == Py_None ? NULL : tensor_handle(other));
    if (scope_check(scope)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *recording(PyObject *module, PyObject *unused)
{
    return PyBool_FromLong(is_recording());
}

static PyObject *is_tracing(PyObject *module, PyObject *unused)
{
    return PyBool_FromLong(here && thunder_scope_is_tracing(here));
}

/* _set_autocast(dtype or None): what it was. */
static PyObject *set_autocast(PyObject *module, PyObject *dtype)
{
    thunder_dtype wanted = 0;
    if (dtype != Py_None && !dtype_from(dtype, &wanted)) return NULL;
    thunder_scope *scope = scope_now();
    if (!scope) return NULL;
    const thunder_dtype before = thunder_scope_autocast(scope);
    thunder_scope_set_autocast(scope, wanted);
    if (scope_check(scope)) return NULL;
    return before ? constant_of(THUNDER_DTYPE, before) : Py_NewRef(Py_None);
}

/* _autocast(): the dtype of the region at hand, or None. */
static PyObject *autocast(PyObject *module, PyObject *unused)
{
    thunder_scope *scope = scope_now();
    if (!scope) return NULL;
    const thunder_dtype now = thunder_scope_autocast(scope);
    return now ? constant_of(THUNDER_DTYPE, now) : Py_NewRef(Py_None);
}

int open_tape(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"grad_of", grad_of, METH_VARARGS,
         "grad_of(loss, wrt)\n--\n\nd(loss)/d(wrt) in the structure of wrt: a tensor, or a tree of tensors."},
        {"reached", reached, METH_VARARGS, NULL},
        {"stand_in", stand_in, METH_VARARGS, NULL},
        {"is_recording", recording, METH_NOARGS, "Whether ops are traced or taped now."},
        {"is_tracing", is_tracing, METH_NOARGS, "Whether a function is being traced now."},
        {"_autocast", autocast, METH_NOARGS, NULL},
        {"_set_autocast", set_autocast, METH_O, NULL},
        {"_set_grad_axis", set_grad_axis, METH_O, NULL},
        {"_has_grad_axis", has_grad_axis, METH_NOARGS, NULL},
        {"_reduce_gradients", reduce_gradients, METH_VARARGS, NULL},
        {NULL, NULL, 0, NULL}};
    return add_type(module, &tape_spec, NULL) ? PyModule_AddFunctions(module, functions) : -1;
}
