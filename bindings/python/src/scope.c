/* Scopes: where ops go, tapes, and gradients. */
#include "layer.h"

#include <string.h>

_Thread_local thunder_scope *here;
_Thread_local thunder_scope *eager;

/* Runs as the thread's state is cleared. */
static void release_eager(PyObject *capsule)
{
    thunder_scope *scope = PyCapsule_GetPointer(capsule, "thunder.scope");
    if (scope == eager) eager = NULL;
    thunder_scope_release(scope);
}

/* The thread's dict owns the scope that `eager` is a short way to. */
static thunder_scope *make_eager(void)
{
    PyObject *dict = PyThreadState_GetDict();
    thunder_scope *made = NULL;
    if (!dict) {
        PyErr_SetString(PyExc_RuntimeError, "this thread has no state");
        return NULL;
    }
    if (check_status(thunder_scope_create(context, 0, &made))) return NULL;
    PyObject *capsule = PyCapsule_New(made, "thunder.scope", release_eager);
    if (!capsule) {
        thunder_scope_release(made);
        return NULL;
    }
    const int failed = PyDict_SetItemString(dict, "thunder.scope", capsule);
    Py_DECREF(capsule);
    return failed ? NULL : (eager = made);
}

thunder_scope *scope_now(void)
{
    return here ? here : eager ? eager : make_eager();
}

void scope_done(thunder_scope *scope)
{
    if (scope == eager && !here) thunder_scope_reset(scope);
}

int scope_check(thunder_scope *scope)
{
    thunder_status *status = thunder_scope_status(scope);
    if (!status) return 0;
    scope_done(scope);
    return check_status(status);
}

/* ---- places ---- */

static PyObject *package;    /* the folder of our own files */
static PyObject *code_lines; /* (file, line) or a stated place -> bytes, kept for ever: traces point to them */

static bool code_is_ours(PyCodeObject *code)
{
    return package && PyUnicode_Tailmatch(code->co_filename, package, 0, PY_SSIZE_T_MAX, -1) == 1;
}

bool frame_is_ours(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    const bool ours = code_is_ours(code);
    Py_DECREF(code);
    return ours;
}

/* What the table keeps for this frame; borrowed. NULL: it is one of ours, or an exception is set. */
static PyObject *place_of(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *key = Py_BuildValue("Oi", code->co_filename, PyFrame_GetLineNumber(frame)), *found = NULL;
    if (key) found = PyDict_GetItemWithError(code_lines, key);
    if (key && !found && !code_is_ours(code) && !PyErr_Occurred()) {
        PyObject *text = PyUnicode_FromFormat("%U:%d", code->co_filename, PyFrame_GetLineNumber(frame));
        found = text ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
        Py_XDECREF(text);
        if (found && PyDict_SetItem(code_lines, key, found) == 0)
            Py_DECREF(found); /* the table has it */
        else
            Py_CLEAR(found);
    }
    Py_XDECREF(key);
    Py_DECREF(code);
    return found;
}

static _Thread_local const char *stated; /* of a graph that is replayed: where each of its lines was written */

/* set_place("file:line" or None): of the ops of this thread from now on. */
static PyObject *set_place(PyObject *module, PyObject *text)
{
    (void)module;
    stated = NULL;
    if (text == Py_None) Py_RETURN_NONE;
    PyObject *found = PyDict_GetItemWithError(code_lines, text);
    PyObject *made = found || PyErr_Occurred() ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "replace");
    if (made && PyDict_SetItem(code_lines, text, made) == 0) found = made;
    Py_XDECREF(made); /* the table has it */
    if (!found) return NULL;
    stated = PyBytes_AS_STRING(found);
    Py_RETURN_NONE;
}

const char *caller_place(void)
{
    if (stated) return stated;
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    const char *text = NULL;
    while (frame && !text) {
        PyObject *found = place_of(frame);
        if (found) text = PyBytes_AS_STRING(found);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Clear(); /* a place is never worth an error */
    return text;
}

/* ---- tapes ---- */

typedef struct Tape {
    PyObject_HEAD
    thunder_scope *scope; /* NULL: something records already, and this does nothing */
    thunder_scope *outer;
    grad_mode around; /* in which this asks for gradients */
    unsigned long thread;
} Tape;

static PyObject *tape_enter(PyObject *object, PyObject *unused)
{
    (void)unused;
    Tape *self = (Tape *)object;
    if (self->scope) return PyErr_Format(PyExc_RuntimeError, "this tape is running already; make another one");
    if (!is_recording()) {
        if (check_status(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &self->scope))) return NULL;
        thunder_scope_set_autocast(self->scope, thunder_scope_autocast(scope_now()));
        self->thread = PyThread_get_thread_ident();
        self->outer = here;
        here = self->scope;
    }
    self->around = grad_mode_take();
    return Py_NewRef(object);
}

static PyObject *tape_exit(PyObject *object, PyObject *args)
{
    (void)args;
    Tape *self = (Tape *)object;
    const bool elsewhere = self->scope && self->thread != PyThread_get_thread_ident();
    if (!elsewhere) grad_mode_put(&self->around);
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
    PyTypeObject *type = Py_TYPE(object);
    /* One that was entered and never left stays: the thread may still be recording on it. */
    if (self->scope && here != self->scope) thunder_scope_release(self->scope);
    type->tp_free(object);
    Py_DECREF(type);
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

/* grad_of(loss, wrt) */
static PyObject *grad_of(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *loss, *wrt, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!O:grad_of", tensor_type, &loss, &wrt)) return NULL;
    if (!is_recording())
        return PyErr_Format(PyExc_RuntimeError,
                            "grad_of: nothing was recorded; call it in a compiled function, or inside `with thunder.tape():`");
    thunder_scope *scope = here;
    thunder_values *tree = values_new();
    if (tree && values_add(tree, wrt) == 0 && check_status(thunder_values_status(tree)) == 0) {
        thunder_values *gradients = thunder_scope_grad(scope, tensor_handle(loss), tree);
        if (scope_check(scope) == 0) result = values_result(gradients, true);
    }
    thunder_values_release(tree);
    return result;
}

static PyObject *recording(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(is_recording());
}

static PyObject *is_tracing(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(here && thunder_scope_is_tracing(here));
}

/* _set_autocast(dtype or None): what it was. */
static PyObject *set_autocast(PyObject *module, PyObject *dtype)
{
    (void)module;
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
    (void)module, (void)unused;
    thunder_scope *scope = scope_now();
    if (!scope) return NULL;
    const thunder_dtype now = thunder_scope_autocast(scope);
    return now ? constant_of(THUNDER_DTYPE, now) : Py_NewRef(Py_None);
}

/* skip_frames_of(folder): places are looked for outside of it. */
static PyObject *skip_frames_of(PyObject *module, PyObject *folder)
{
    (void)module;
    if (!PyUnicode_Check(folder)) return PyErr_Format(PyExc_TypeError, "a folder is a str");
    Py_XSETREF(package, Py_NewRef(folder));
    Py_RETURN_NONE;
}

int open_scope(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"grad_of", grad_of, METH_VARARGS,
         "grad_of(loss, wrt)\n--\n\nd(loss)/d(wrt) in the structure of wrt: a tensor, or a tree of tensors."},
        {"is_recording", recording, METH_NOARGS, "Whether ops are traced or taped now."},
        {"is_tracing", is_tracing, METH_NOARGS, "Whether a function is being traced now."},
        {"_autocast", autocast, METH_NOARGS, NULL},
        {"_set_autocast", set_autocast, METH_O, NULL},
        {"skip_frames_of", skip_frames_of, METH_O, NULL},
        {"set_place", set_place, METH_O, NULL},
        {NULL, NULL, 0, NULL}};
    code_lines = PyDict_New();
    if (!code_lines || !add_type(module, &tape_spec, NULL)) return -1;
    return PyModule_AddFunctions(module, functions);
}
