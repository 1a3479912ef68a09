/* Optimisers: an update rule over a tree of parameters; its numbers are tensors of its state, a module. */
#include "described.h"

typedef struct Optimizer {
    PyObject_HEAD
    thunder_optimizer *handle;
} Optimizer;
typedef struct Schedule {
    PyObject_HEAD
    thunder_schedule *handle;
} Schedule;

PyTypeObject *optimizer_type, *schedule_type;

thunder_optimizer *optimizer_handle(PyObject *object) { return ((Optimizer *)object)->handle; }
thunder_schedule *schedule_handle(PyObject *object) { return ((Schedule *)object)->handle; }

/* The tree's entries are the top of the values, as thunder_module_parameters() fills them. */
static thunder_values *tree_of(PyObject *object)
{
    thunder_values *made = values_new();
    if (made && (values_add(made, object) || check_status(thunder_values_status(made)))) {
        thunder_values_release(made);
        return NULL;
    }
    return made;
}

/* OptimizerBase(kind, parameters, options); parameters None: groups are added. */
static PyObject *optimizer_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    const char *kind;
    PyObject *tree, *dict;
    if (!PyArg_ParseTuple(args, "sOO:Optimizer", &kind, &tree, &dict)) return NULL;
    thunder_values *parameters = tree == Py_None ? NULL : tree_of(tree);
    thunder_options *options = PyErr_Occurred() ? NULL : options_from(dict);
    Optimizer *self = !PyErr_Occurred() ? (Optimizer *)type->tp_alloc(type, 0) : NULL;
    if (self && check_status(thunder_optimizer_create(context, kind, parameters, options, &self->handle))) Py_CLEAR(self);
    thunder_options_release(options);
    thunder_values_release(parameters);
    return (PyObject *)self;
}

static void optimizer_dealloc(PyObject *object)
{
    thunder_optimizer_release(((Optimizer *)object)->handle);
    free_object(object);
}

/* _add_group(parameters, options) */
static PyObject *optimizer_add_group(PyObject *object, PyObject *args)
{
    PyObject *tree, *dict;
    if (!PyArg_ParseTuple(args, "OO:_add_group", &tree, &dict)) return NULL;
    thunder_values *parameters = tree_of(tree);
    thunder_options *options = parameters ? options_from(dict) : NULL;
    if (!PyErr_Occurred()) check_status(thunder_optimizer_add_group(((Optimizer *)object)->handle, parameters, options));
    thunder_options_release(options);
    thunder_values_release(parameters);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *optimizer_text(PyObject *object)
{
    thunder_values *out = values_new();
    PyObject *text = NULL;
    if (out && check_status(thunder_optimizer_text(((Optimizer *)object)->handle, out)) == 0) text = values_result(out, false);
    thunder_values_release(out);
    return text;
}

static PyObject *optimizer_step(PyObject *object, PyObject *tree)
{
    thunder_scope *scope = scope_now();
    thunder_values *gradients = scope ? tree_of(tree) : NULL;
    if (!gradients) return NULL;
    thunder_optimizer_step(scope, ((Optimizer *)object)->handle, gradients);
    thunder_values_release(gradients);
    if (scope_check(scope)) return NULL;
    scope_done(scope);
    Py_RETURN_NONE;
}

/* Of a step that is recorded, its ops are; else it is an ordinary call, in which compiled functions run as such. */
static thunder_status *evaluate(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    return callback_run(here ? scope : NULL, in, out, user);
}

/* _step_closure(function): function() gives (loss, gradients); the first loss. */
static PyObject *optimizer_step_closure(PyObject *object, PyObject *function)
{
    thunder_scope *scope = scope_now();
    callback *closure = scope ? callback_new(function, callback_owner_itself) : NULL;
    if (!closure) return NULL;
    callback_spread_results(closure);
    Py_INCREF(function);
    thunder_tensor *loss = thunder_optimizer_step_closure(scope, ((Optimizer *)object)->handle, evaluate, closure);
    callback_forget_owner(closure);
    callback_destroy(closure);
    Py_DECREF(function);
    if (scope_check(scope)) return NULL;
    PyObject *result = tensor_of(loss);
    scope_done(scope);
    return result;
}

/* Made of an optimiser, or of a list of schedules. */
static int schedule_make(Schedule *self, const char *kind, PyObject *of, const thunder_options *options)
{
    if (PyObject_TypeCheck(of, optimizer_type))
        return check_status(thunder_schedule_create(((Optimizer *)of)->handle, kind, options, &self->handle));
    if (!PyList_Check(of)) {
        PyErr_Format(PyExc_TypeError, "%s: an optimizer was expected, not %s", kind, Py_TYPE(of)->tp_name);
        return -1;
    }
    const Py_ssize_t count = PyList_GET_SIZE(of);
    thunder_schedule **parts = PyMem_Calloc((size_t)count + 1, sizeof *parts);
    if (!parts) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *part = PyList_GET_ITEM(of, i);
        if (PyObject_TypeCheck(part, schedule_type))
            parts[i] = ((Schedule *)part)->handle;
        else
            PyErr_Format(PyExc_TypeError, "%s: element %zd is no schedule but %s", kind, i, Py_TYPE(part)->tp_name);
    }
    const int failed = PyErr_Occurred() || check_status(thunder_schedule_compose(kind, parts, (size_t)count, options, &self->handle));
    PyMem_Free(parts);
    return failed ? -1 : 0;
}

/* ScheduleBase(kind, optimizer or list of schedules, options) */
static PyObject *schedule_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    const char *kind;
    PyObject *of, *dict;
    if (!PyArg_ParseTuple(args, "sOO:Schedule", &kind, &of, &dict)) return NULL;
    thunder_options *options = options_from(dict);
    Schedule *self = PyErr_Occurred() ? NULL : (Schedule *)type->tp_alloc(type, 0);
    if (self && schedule_make(self, kind, of, options)) Py_CLEAR(self);
    thunder_options_release(options);
    return (PyObject *)self;
}

static void schedule_dealloc(PyObject *object)
{
    thunder_schedule_release(((Schedule *)object)->handle);
    free_object(object);
}

/* step(), or step(metric) */
static PyObject *schedule_step(PyObject *object, PyObject *args)
{
    PyObject *metric = NULL;
    if (!PyArg_ParseTuple(args, "|O:step", &metric)) return NULL;
    thunder_schedule *schedule = ((Schedule *)object)->handle;
    const double number = metric ? PyFloat_AsDouble(metric) : 0;
    if (PyErr_Occurred()) return NULL;
    return none_of(metric ? thunder_schedule_step_metric(schedule, number) : thunder_schedule_step(schedule));
}

/* clip(gradients, bound, by_norm): the clipped ones and, by norm, the norm before. */
static PyObject *clip(PyObject *module, PyObject *args)
{
    PyObject *tree, *result = NULL;
    double bound;
    int by_norm;
    if (!PyArg_ParseTuple(args, "Odp:clip", &tree, &bound, &by_norm)) return NULL;
    thunder_scope *scope = scope_now();
    thunder_values *gradients = scope ? tree_of(tree) : NULL;
    if (!gradients) return NULL;
    thunder_tensor *norm = NULL;
    thunder_values *clipped =
        by_norm ? thunder_clip_grad_norm(scope, gradients, bound, &norm) : thunder_clip_grad_value(scope, gradients, bound);
    if (scope_check(scope) == 0) {
        result = values_result(clipped, true);
        if (result && by_norm) result = Py_BuildValue("NN", result, tensor_of(norm));
        scope_done(scope);
    }
    thunder_values_release(gradients);
    return result;
}

static PyMethodDef optimizer_methods[] = {{"_step", optimizer_step, METH_O, NULL},
                                          {"_step_closure", optimizer_step_closure, METH_O, NULL},
                                          {"_add_group", optimizer_add_group, METH_VARARGS, NULL},
                                          {NULL, NULL, 0, NULL}};
static PyMethodDef schedule_methods[] = {{"step", schedule_step, METH_VARARGS,
                                          "Writes the next learning rate; of ReduceLROnPlateau: step(metric)."},
                                         {NULL, NULL, 0, NULL}};
static PyType_Slot optimizer_slots[] = {{Py_tp_new, optimizer_new}, {Py_tp_dealloc, optimizer_dealloc},
                                        {Py_tp_methods, optimizer_methods}, {Py_tp_repr, optimizer_text}, {0, NULL}};
static PyType_Slot schedule_slots[] = {{Py_tp_new, schedule_new}, {Py_tp_dealloc, schedule_dealloc},
                                       {Py_tp_methods, schedule_methods}, {0, NULL}};
static PyType_Spec optimizer_spec = {"thunder._thunder.OptimizerBase", sizeof(Optimizer), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, optimizer_slots};
static PyType_Spec schedule_spec = {"thunder._thunder.ScheduleBase", sizeof(Schedule), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, schedule_slots};

int open_optimizer(PyObject *module)
{
    static PyMethodDef functions[] = {{"clip", clip, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    optimizer_type = add_type(module, &optimizer_spec, NULL);
    schedule_type = add_type(module, &schedule_spec, NULL);
    return optimizer_type && schedule_type ? PyModule_AddFunctions(module, functions) : -1;
}
