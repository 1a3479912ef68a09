/* Modules: the base of thunder.nn.Module, which owns the library's module. */
#include "module.h"

#include "host.h"
#include "op.h"

PyTypeObject *module_type;

thunder_module *module_handle(PyObject *object)
{
    if (!PyObject_TypeCheck(object, module_type)) {
        PyErr_Format(PyExc_TypeError, "a module was expected, not %s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    thunder_module *handle = ((Module *)object)->handle;
    if (!handle) PyErr_SetString(PyExc_RuntimeError, "the module is not made yet: call super().__init__() first");
    return handle;
}

/* _make(kind, parameter names, their kinds, args, named): the library's part of it. */
static PyObject *create_module(PyObject *object, PyObject *const *given, Py_ssize_t n_given)
{
    Module *self = (Module *)object;
    if (n_given != 5 || !PyTuple_Check(given[1]) || !PyTuple_Check(given[2]) || !PyTuple_Check(given[3]) || !PyDict_Check(given[4]))
        return PyErr_Format(PyExc_TypeError, "_make(kind, names, kinds, args, named)");
    if (self->handle) return PyErr_Format(PyExc_RuntimeError, "the module is made already");
    signature *kind = signature_new(given[0], given[1], given[2], 1);
    if (!kind) return NULL;
    PyObject *list = PyDict_Values(given[4]), *values = list ? PyList_AsTuple(list) : NULL;
    PyObject *names = PySequence_Tuple(given[4]), *all = values && names ? PySequence_Concat(given[3], values) : NULL;
    arguments c;
    c.n_kept = c.room = c.n_blocks = 0;
    thunder_module *made = NULL;
    if (all && arguments_read(&c, kind, PySequence_Fast_ITEMS(all), PyTuple_GET_SIZE(given[3]), names) == 0)
        check_status(thunder_module_create(context, kind->name, c.any, (size_t)c.count, c.named ? c.names : NULL, &made));
    arguments_free(&c);
    signature_free(kind);
    Py_XDECREF(all);
    Py_XDECREF(names);
    Py_XDECREF(values);
    Py_XDECREF(list);
    if (!made) return NULL;
    self->handle = made;
    Py_RETURN_NONE;
}

static PyObject *run_method(PyObject *owner) { return PyObject_GetAttrString(owner, "_run"); }

/* The status of what a traced function can see change. */
static PyObject *note_change(thunder_status *status)
{
    if (check_status(status)) return NULL;
    host_changes++;
    Py_RETURN_NONE;
}

/* _set_forward(): from now on the library calls _run(), which is forward() with the hooks around it. */
static PyObject *set_forward(PyObject *object, PyObject *unused)
{
    Module *self = (Module *)object;
    thunder_module *handle = module_handle(object);
    callback *made = handle ? callback_new(object, run_method) : NULL;
    if (!made) return NULL;
    callback_forget_owner(self->forward);
    self->forward = made;
    return note_change(thunder_module_set_forward(handle, callback_run, made, callback_destroy));
}

static PyObject *add_child(PyObject *object, PyObject *args)
{
    const char *name;
    PyObject *child;
    if (!PyArg_ParseTuple(args, "sO:_add", &name, &child)) return NULL;
    thunder_module *handle = module_handle(object), *added = handle ? module_handle(child) : NULL;
    return added ? note_change(thunder_module_add(handle, name, added)) : NULL;
}

/* _child(path, classes by kind): what the library made below this module, as an object of its class. */
static PyObject *get_child(PyObject *object, PyObject *args)
{
    const char *path;
    PyObject *classes;
    if (!PyArg_ParseTuple(args, "sO!:_child", &path, &PyDict_Type, &classes)) return NULL;
    thunder_module *handle = module_handle(object), *found = NULL;
    if (!handle || check_status(thunder_module_child(handle, path, &found))) return NULL;
    PyTypeObject *type = (PyTypeObject *)PyDict_GetItemString(classes, thunder_module_kind(found));
    PyObject *made = type ? module_wrap(type, found) : PyErr_Format(PyExc_KeyError, "%s", thunder_module_kind(found));
    thunder_module_release(found);
    return made;
}

/* _child_names(): a list, in the order of addition. */
static PyObject *child_names(PyObject *object, PyObject *unused)
{
    thunder_module *handle = module_handle(object);
    PyObject *names = handle ? PyList_New(0) : NULL;
    for (size_t i = 0; names && thunder_module_child_name(handle, i); i++) {
        PyObject *name = PyUnicode_FromString(thunder_module_child_name(handle, i));
        if (!name || PyList_Append(names, name)) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

/* _copy(): another of the same class with copies of the tensors; its attributes are the caller's to copy. */
static PyObject *copy_module(PyObject *object, PyObject *unused)
{
    thunder_module *handle = module_handle(object), *copied = NULL;
    if (!handle || check_status(thunder_module_copy(handle, &copied))) return NULL;
    PyObject *made = module_wrap(Py_TYPE(object), copied);
    thunder_module_release(copied);
    return made;
}

/* From now on the tensor is one object wherever it is read, as long as the module keeps it under this path. */
static int hold_tensor(PyObject *object, PyObject *path, PyObject *tensor)
{
    Module *self = (Module *)object;
    if (!self->held && !(self->held = PyDict_New())) return -1;
    return tensor_register(tensor) || PyDict_SetItem(self->held, path, tensor) ? -1 : 0;
}

/* _set_tensor(name, tensor, role): the values of roles are thunder.h's. */
static PyObject *set_tensor(PyObject *object, PyObject *args)
{
    PyObject *path, *tensor;
    int role;
    if (!PyArg_ParseTuple(args, "UO!i:_set_tensor", &path, tensor_type, &tensor, &role)) return NULL;
    const char *name = PyUnicode_AsUTF8(path);
    if (!name) return NULL;
    thunder_module *handle = module_handle(object);
    if (!handle || check_status(thunder_module_set_tensor(handle, name, tensor_handle(tensor), role))) return NULL;
    host_changes++;
    if (hold_tensor(object, path, tensor)) return NULL;
    Py_RETURN_NONE;
}

/* _remove_tensor(name) */
static PyObject *remove_tensor(PyObject *object, PyObject *path)
{
    const char *name = PyUnicode_AsUTF8(path);
    thunder_module *handle = name ? module_handle(object) : NULL;
    if (!handle || check_status(thunder_module_remove_tensor(handle, name))) return NULL;
    host_changes++;
    if (((Module *)object)->held && PyDict_DelItem(((Module *)object)->held, path)) PyErr_Clear();
    Py_RETURN_NONE;
}

/* _remove(name): a child. */
static PyObject *remove_child(PyObject *object, PyObject *path)
{
    const char *name = PyUnicode_AsUTF8(path);
    thunder_module *handle = name ? module_handle(object) : NULL;
    return handle ? note_change(thunder_module_remove(handle, name)) : NULL;
}

/* _set_option(name, parameter names, their kinds, value) */
static PyObject *set_option(PyObject *object, PyObject *args)
{
    PyObject *name, *names, *kinds, *value;
    if (!PyArg_ParseTuple(args, "UO!O!O:_set_option", &name, &PyTuple_Type, &names, &PyTuple_Type, &kinds, &value)) return NULL;
    thunder_module *handle = module_handle(object);
    PyObject *kind = handle ? PyUnicode_FromString(thunder_module_kind(handle)) : NULL;
    signature *made = kind ? signature_new(kind, names, kinds, 1) : NULL;
    Py_XDECREF(kind);
    PyObject *given = made ? PyTuple_Pack(1, name) : NULL;
    arguments c;
    c.n_kept = c.room = c.n_blocks = 0;
    const int failed = !given || arguments_read(&c, made, &value, 0, given) ||
                       check_status(thunder_module_set_option(handle, PyUnicode_AsUTF8(name), &c.any[0]));
    if (given) arguments_free(&c);
    if (made) signature_free(made);
    Py_XDECREF(given);
    if (failed) return NULL;
    host_changes++;
    Py_RETURN_NONE;
}

/* _option(name): what it is. */
static PyObject *get_option(PyObject *object, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    thunder_module *handle = text ? module_handle(object) : NULL;
    thunder_any value;
    if (!handle || check_status(thunder_module_option(handle, text, &value))) return NULL;
    return values_leaf(&value);
}

static PyObject *get_tensor(PyObject *object, PyObject *path)
{
    const char *text = PyUnicode_AsUTF8(path);
    thunder_module *handle = text ? module_handle(object) : NULL;
    thunder_scope *scope = handle ? scope_now() : NULL;
    if (!scope) return NULL;
    thunder_tensor *found = thunder_module_tensor(scope, handle, text);
    if (scope_check(scope)) return NULL;
    PyObject *tensor = tensor_of(found);
    scope_done(scope);
    if (tensor && thunder_tensor_is_concrete(found) && !((Tensor *)tensor)->known && hold_tensor(object, path, tensor)) Py_CLEAR(tensor);
    return tensor;
}

/* _hold_again(): what its paths have now, after all tensors were made anew. */
static PyObject *refresh_held_tensors(PyObject *object, PyObject *unused)
{
    PyObject *held = ((Module *)object)->held, *paths = held ? PyDict_Keys(held) : NULL;
    for (Py_ssize_t i = 0; paths && i < PyList_GET_SIZE(paths); i++) {
        PyObject *tensor = get_tensor(object, PyList_GET_ITEM(paths, i));
        if (!tensor) Py_CLEAR(paths);
        Py_XDECREF(tensor);
    }
    Py_XDECREF(paths);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* _call(*args, **named): the forward of its kind. */
static PyObject *call_module(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    thunder_module *handle = module_handle(object);
    thunder_scope *scope = handle ? scope_now() : NULL;
    thunder_values *in = scope ? values_new() : NULL;
    PyObject *result = NULL;
    if (in && values_add_call(in, args, count, names, false) == 0) {
        thunder_values *out = thunder_module_call_at(scope, handle, in, is_recording() ? caller_place() : NULL);
        if (scope_check(scope) == 0) {
            result = values_result(out, is_recording());
            scope_done(scope);
        }
    }
    thunder_values_release(in);
    return result;
}

static PyObject *training(PyObject *object, PyObject *unused)
{
    thunder_module *handle = module_handle(object);
    thunder_scope *scope = handle ? scope_now() : NULL;
    if (!scope) return NULL;
    const int32_t is_training = thunder_module_training(scope, handle);
    return scope_check(scope) ? NULL : PyBool_FromLong(is_training);
}

/* The values that a function of the library fills: dicts of path to tensor, or a text. */
static PyObject *read_values(PyObject *object, thunder_status *(*list)(thunder_module *, thunder_values *))
{
    thunder_module *handle = module_handle(object);
    thunder_values *out = handle ? values_new() : NULL;
    PyObject *dict = NULL;
    if (out && check_status(list(handle, out)) == 0) dict = values_result(out, false);
    thunder_values_release(out);
    return dict;
}
/* The same of tensors by path, which are objects that stay. */
static PyObject *read_tensors(PyObject *object, thunder_status *(*list)(thunder_module *, thunder_values *), bool trained)
{
    PyObject *dict = read_values(object, list), *path, *tensor;
    Py_ssize_t at = 0;
    while (dict && PyDict_Next(dict, &at, &path, &tensor)) {
        if (trained) ((Tensor *)tensor)->parameter = true;
        if (!((Tensor *)tensor)->known && hold_tensor(object, path, tensor)) Py_CLEAR(dict);
    }
    return dict;
}
static PyObject *parameters(PyObject *object, PyObject *unused)
{
    return read_tensors(object, thunder_module_parameters, true);
}
static PyObject *state(PyObject *object, PyObject *unused)
{
    return read_tensors(object, thunder_module_state, false);
}
/* _buffers(): [path, tensor] of each. */
static PyObject *buffers(PyObject *object, PyObject *unused)
{
    PyObject *list = read_values(object, thunder_module_buffers);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        PyObject *pair = PyList_GET_ITEM(list, i), *tensor = PyList_GET_ITEM(pair, 1);
        if (!((Tensor *)tensor)->known && hold_tensor(object, PyList_GET_ITEM(pair, 0), tensor)) Py_CLEAR(list);
    }
    return list;
}
/* _kind_now(): what a lazy module has become; "" before it is made. */
static PyObject *get_kind(PyObject *object, PyObject *unused)
{
    return PyUnicode_FromString(thunder_module_kind(((Module *)object)->handle));
}

/* ---- the type ---- */

PyObject *module_wrap(PyTypeObject *type, thunder_module *lent)
{
    PyObject *made = module_new(type, NULL, NULL);
    if (made) ((Module *)made)->handle = thunder_module_retain(lent);
    return made;
}

static int module_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((Module *)object)->dict);
    Py_VISIT(((Module *)object)->held);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int module_clear(PyObject *object)
{
    Py_CLEAR(((Module *)object)->dict);
    Py_CLEAR(((Module *)object)->held);
    return 0;
}

static void module_dealloc(PyObject *object)
{
    Module *self = (Module *)object;
    PyObject_GC_UnTrack(object);
    module_unlist((Module *)object);
    if (self->weak) PyObject_ClearWeakRefs(object);
    module_clear(object);
    callback_forget_owner(self->forward);
    thunder_module_release(self->handle);
    free_object(object);
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))
static PyMethodDef methods[] = {{"_make", FAST(create_module), METH_FASTCALL, NULL},
                                {"_set_forward", set_forward, METH_NOARGS, NULL},
                                {"_add", add_child, METH_VARARGS, NULL},
                                {"_child", get_child, METH_VARARGS, NULL},
                                {"_child_names", child_names, METH_NOARGS, NULL},
                                {"_set_tensor", set_tensor, METH_VARARGS, NULL},
                                {"_tensor", get_tensor, METH_O, NULL},
                                {"_call", FAST(call_module), METH_FASTCALL | METH_KEYWORDS, NULL},
                                {"_hold_again", refresh_held_tensors, METH_NOARGS, NULL},
                                {"_training", training, METH_NOARGS, NULL},
                                {"_parameters", parameters, METH_NOARGS, NULL},
                                {"_state", state, METH_NOARGS, NULL},
                                {"_remove", remove_child, METH_O, NULL},
                                {"_remove_tensor", remove_tensor, METH_O, NULL},
                                {"_set_option", set_option, METH_VARARGS, NULL},
                                {"_option", get_option, METH_O, NULL},
                                {"_buffers", buffers, METH_NOARGS, NULL},
                                {"_copy", copy_module, METH_NOARGS, NULL},
                                {"_kind_now", get_kind, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(Module, dict), READONLY, NULL},
                                {"__weaklistoffset__", T_PYSSIZET, offsetof(Module, weak), READONLY, NULL},
                                {NULL, 0, 0, 0, NULL}};
static PyGetSetDef getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
                               {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, module_new},           {Py_tp_dealloc, module_dealloc}, {Py_tp_traverse, module_traverse},
                              {Py_tp_clear, module_clear},       {Py_tp_methods, methods},        {Py_tp_members, members},
                              {Py_tp_getset, getset},            {0, NULL}};
static PyType_Spec spec = {"thunder._thunder.ModuleBase", sizeof(Module), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

int open_module(PyObject *module)
{
    module_type = add_type(module, &spec, NULL);
    return module_type ? 0 : -1;
}
