/* The frames that run while a function is traced: of each, as it begins, the Python part is told. */
#include "layer.h"

typedef struct watch {
    struct watch *outer;
    PyObject *visit; /* frame -> whether those of its code are told no more */
    PyObject *told;  /* address of a code -> the code */
    Py_tracefunc before; /* a profiler of the user's, which hears what it would */
    PyObject *profiler;
} watch;

static _Thread_local watch *watching;

/* A frame begins; the interpreter tells nothing while this runs. */
static int tell(watch *w, PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *address = PyLong_FromVoidPtr(code), *answer = NULL;
    const int known = address ? PyDict_Contains(w->told, address) : -1;
    int failed = known < 0;
    if (known == 0) {
        answer = PyObject_CallOneArg(w->visit, (PyObject *)frame);
        failed = !answer || (answer == Py_True && PyDict_SetItem(w->told, address, (PyObject *)code));
    }
    Py_XDECREF(answer);
    Py_XDECREF(address);
    Py_DECREF(code);
    return failed ? -1 : 0;
}

static int on_event(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    watch *w = watching;
    if (!w) return 0;
    if (w->before && w->before(w->profiler, frame, what, arg)) return -1;
    return what == PyTrace_CALL ? tell(w, frame) : 0;
}

/* watched_call(visit, function, args, named): what the function gives. */
static PyObject *watched_call(PyObject *module, PyObject *given)
{
    PyObject *visit, *function, *args, *named, *result = NULL;
    if (!PyArg_ParseTuple(given, "OOO!O!:watched_call", &visit, &function, &PyTuple_Type, &args, &PyDict_Type, &named)) return NULL;
    const PyThreadState *state = PyThreadState_Get();
    watch w = {watching, visit, PyDict_New(), state->c_profilefunc, Py_XNewRef(state->c_profileobj)};
    if (w.before == on_event) { /* a function is traced inside of another */
        w.before = w.outer->before;
        Py_XSETREF(w.profiler, Py_XNewRef(w.outer->profiler));
    }
    if (w.told) {
        watching = &w;
        PyEval_SetProfile(on_event, NULL);
        result = PyObject_Call(function, args, named);
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        watching = w.outer;
        PyEval_SetProfile(w.outer ? on_event : w.before, w.outer ? NULL : w.profiler);
        PyErr_Restore(type, error, traceback);
    }
    Py_XDECREF(w.told);
    Py_XDECREF(w.profiler);
    return result;
}

int open_frames(PyObject *module)
{
    static PyMethodDef functions[] = {{"watched_call", watched_call, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
