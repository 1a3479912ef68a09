/* Passes of Python: rules, and functions over a trace that is edited through an Editor, which is empty once they have
 * returned. */
#include "layer.h"

typedef struct Pass {
    PyObject_HEAD
    thunder_pass *handle;
    callback *callback;
    PyObject *function; /* of an editor; None: rules alone */
} Pass;

typedef struct Editor {
    PyObject_HEAD
    thunder_editor *handle; /* NULL: the pass is over */
} Editor;

static PyTypeObject *pass_type, *editor_type;

/* ---- the editor ---- */

static thunder_editor *editor_of(PyObject *object)
{
    thunder_editor *editor = ((Editor *)object)->handle;
    if (!editor) PyErr_SetString(PyExc_RuntimeError, "the pass is over: its trace can no longer be read or changed");
    return editor;
}

/* The first mistake; the scope of the editor keeps it. */
static int editor_failed(thunder_editor *editor)
{
    return check_status(thunder_scope_status(thunder_editor_before(editor, thunder_editor_line_count(editor))));
}

static PyObject *editor_count(PyObject *object, PyObject *unused)
{
    thunder_editor *editor = editor_of(object);
    return editor ? PyLong_FromSize_t(thunder_editor_line_count(editor)) : NULL;
}

/* The arguments of a method: the editor and a line; NULL and an exception. */
static thunder_editor *line_of(PyObject *object, PyObject *number, size_t *line)
{
    thunder_editor *editor = editor_of(object);
    *line = editor ? PyLong_AsSize_t(number) : 0;
    return PyErr_Occurred() ? NULL : editor;
}

static PyObject *editor_line(PyObject *object, PyObject *number)
{
    size_t line;
    thunder_editor *editor = line_of(object, number, &line);
    const thunder_node *node = editor ? thunder_editor_line(editor, line) : NULL;
    return !editor || editor_failed(editor) ? NULL : node_fields(node);
}

static PyObject *editor_arguments(PyObject *object, PyObject *number)
{
    size_t line;
    thunder_editor *editor = line_of(object, number, &line);
    const thunder_values *arguments = editor ? thunder_editor_arguments(editor, line) : NULL;
    return !editor || editor_failed(editor) ? NULL : values_list(arguments, true, NULL);
}

/* results(line): as tensors to compute with. */
static PyObject *editor_results(PyObject *object, PyObject *number)
{
    size_t line;
    thunder_editor *editor = line_of(object, number, &line);
    const thunder_node *node = editor ? thunder_editor_line(editor, line) : NULL;
    if (!editor || editor_failed(editor)) return NULL;
    const size_t count = thunder_node_output_count(node);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) put_item(&list, i, tensor_of(thunder_editor_value(editor, thunder_node_output_value(node, i))));
    if (list && editor_failed(editor)) Py_CLEAR(list);
    return list;
}

/* before(line, function, arguments): its result; the ops that it calls are inserted before the line. */
static PyObject *editor_before(PyObject *object, PyObject *args)
{
    PyObject *number, *function, *arguments;
    if (!PyArg_ParseTuple(args, "OOO:before", &number, &function, &arguments)) return NULL;
    size_t line;
    thunder_editor *editor = line_of(object, number, &line);
    PyObject *tuple = editor ? PySequence_Tuple(arguments) : NULL;
    if (!tuple) return NULL;
    thunder_scope *scope = thunder_editor_before(editor, line), *outer = here;
    PyObject *result = NULL;
    if (check_status(thunder_scope_status(scope)) == 0) {
        here = scope;
        result = PyObject_CallObject(function, tuple);
        here = outer;
    }
    Py_DECREF(tuple);
    return result;
}

/* replace(line, result or a tuple of them) */
static PyObject *editor_replace(PyObject *object, PyObject *args)
{
    PyObject *number, *results;
    if (!PyArg_ParseTuple(args, "OO:replace", &number, &results)) return NULL;
    size_t line;
    thunder_editor *editor = line_of(object, number, &line);
    thunder_values *values = editor ? values_new() : NULL;
    int failed = !values || values_add_each(values, results);
    if (!failed) {
        thunder_editor_replace(editor, line, values);
        failed = editor_failed(editor);
    }
    thunder_values_release(values);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *editor_delete(PyObject *object, PyObject *number)
{
    size_t line;
    thunder_editor *editor = line_of(object, number, &line);
    if (!editor) return NULL;
    thunder_editor_delete(editor, line);
    if (editor_failed(editor)) return NULL;
    Py_RETURN_NONE;
}

/* ---- the pass ---- */

static PyObject *function_of(PyObject *owner) { return Py_XNewRef(((Pass *)owner)->function); }

static int edit(PyObject *function, void *editor)
{
    PyObject *lent = editor_type->tp_alloc(editor_type, 0), *result = NULL;
    if (lent) {
        ((Editor *)lent)->handle = editor;
        result = PyObject_CallOneArg(function, lent);
        ((Editor *)lent)->handle = NULL;
    }
    Py_XDECREF(lent);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static thunder_status *run(thunder_editor *editor, void *user) { return callback_enter(user, NULL, edit, editor); }

thunder_pass *pass_test(PyObject *object)
{
    return pass_type && PyObject_TypeCheck(object, pass_type) ? ((Pass *)object)->handle : NULL;
}

/* The rules' texts, which `list` keeps; NULL and an exception. */
static const char **texts_of(PyObject *list)
{
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
    const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    if (!texts) PyErr_NoMemory();
    for (Py_ssize_t i = 0; texts && i < count; i++) {
        texts[i] = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(list, i));
        if (texts[i]) continue;
        PyMem_Free(texts);
        return NULL;
    }
    return texts;
}

static int create(Pass *self, thunder_pass_desc *d, PyObject *rules)
{
    PyObject *list = PySequence_Fast(rules, "a pass takes a list of rules");
    const char **texts = list ? texts_of(list) : NULL;
    self->callback = texts ? callback_new((PyObject *)self, function_of) : NULL;
    int failed = !self->callback;
    if (!failed) {
        d->size = sizeof *d, d->rules = texts, d->n_rules = (size_t)PySequence_Fast_GET_SIZE(list);
        d->run = self->function != Py_None ? run : NULL, d->user = self->callback, d->destroy = callback_destroy;
        failed = check_status(thunder_pass_create(context, d, &self->handle));
    }
    PyMem_Free(texts);
    Py_XDECREF(list);
    return failed ? -1 : 0;
}

/* Pass(name, function of an editor or None, [rules], before or None, after or None) */
static PyObject *pass_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    thunder_pass_desc d = {0};
    PyObject *function, *rules;
    if (!PyArg_ParseTuple(args, "sOOzz:Pass", &d.name, &function, &rules, &d.before, &d.after)) return NULL;
    Pass *self = (Pass *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->function = Py_NewRef(function);
    if (create(self, &d, rules) == 0) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int pass_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((Pass *)object)->function);
    Py_VISIT(Py_TYPE(object));
    return 0;
}

static int pass_clear(PyObject *object)
{
    Py_CLEAR(((Pass *)object)->function);
    return 0;
}

static void pass_dealloc(PyObject *object)
{
    Pass *self = (Pass *)object;
    PyObject_GC_UnTrack(object);
    pass_clear(object);
    callback_forget_owner(self->callback);
    thunder_pass_release(self->handle);
    free_object(object);
}

/* _register(): part of every compile from now on, and it stays for ever. */
static PyObject *pass_register(PyObject *object, PyObject *unused)
{
    if (check_status(thunder_context_add_pass(context, ((Pass *)object)->handle))) return NULL;
    Py_INCREF(object);
    Py_RETURN_NONE;
}

int open_pass(PyObject *module)
{
    static PyMethodDef pass_methods[] = {{"_register", pass_register, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
    static PyType_Slot pass_slots[] = {{Py_tp_new, pass_new},     {Py_tp_dealloc, pass_dealloc}, {Py_tp_traverse, pass_traverse},
                                       {Py_tp_clear, pass_clear}, {Py_tp_methods, pass_methods}, {0, NULL}};
    static PyType_Spec pass_spec = {"thunder._thunder.Pass", sizeof(Pass), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, pass_slots};
    static PyMethodDef editor_methods[] = {{"count", editor_count, METH_NOARGS, NULL},
                                           {"line", editor_line, METH_O, NULL},
                                           {"arguments", editor_arguments, METH_O, NULL},
                                           {"results", editor_results, METH_O, NULL},
                                           {"before", editor_before, METH_VARARGS, NULL},
                                           {"replace", editor_replace, METH_VARARGS, NULL},
                                           {"delete", editor_delete, METH_O, NULL},
                                           {NULL, NULL, 0, NULL}};
    static PyType_Slot editor_slots[] = {{Py_tp_dealloc, free_object}, {Py_tp_methods, editor_methods}, {0, NULL}};
    static PyType_Spec editor_spec = {"thunder._thunder.Editor", sizeof(Editor), 0,
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, editor_slots};
    pass_type = add_type(module, &pass_spec, NULL);
    editor_type = pass_type ? add_type(module, &editor_spec, NULL) : NULL;
    return editor_type ? 0 : -1;
}
