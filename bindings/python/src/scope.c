/* Scopes: where ops go, and which line of the program they are of. */
#include "layer.h"

#include <string.h>

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

/* skip_frames_of(folder): places are looked for outside of it. */
static PyObject *skip_frames_of(PyObject *module, PyObject *folder)
{
    if (!PyUnicode_Check(folder)) return PyErr_Format(PyExc_TypeError, "a folder is a str");
    Py_XSETREF(package, Py_NewRef(folder));
    Py_RETURN_NONE;
}

int open_scope(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"skip_frames_of", skip_frames_of, METH_O, NULL},
        {"set_place", set_place, METH_O, NULL},
        {NULL, NULL, 0, NULL}};
    code_lines = PyDict_New();
    return code_lines ? PyModule_AddFunctions(module, functions) : -1;
}
