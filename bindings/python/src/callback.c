/* Python functions that the library calls: the one place where Python runs inside it. */
#include "layer.h"

#include <stdatomic.h>
#include <string.h>

struct callback {
    atomic_int uses; /* the owner's and the library's */
    PyObject *owner; /* NULL: it is gone; read and written with the interpreter's lock */
    PyObject *(*target)(PyObject *owner);
    bool spreads;
};

callback *callback_new(PyObject *owner, PyObject *(*target)(PyObject *owner))
{
    callback *made = malloc(sizeof *made);
    if (!made) {
        PyErr_NoMemory();
        return NULL;
    }
    atomic_init(&made->uses, 2);
    made->owner = owner, made->target = target, made->spreads = false;
    return made;
}

void callback_spread(callback *self) { self->spreads = true; }

/* Needs no lock of the interpreter: the library may drop its share on any thread, also after the interpreter's end. */
void callback_destroy(void *user)
{
    callback *self = user;
    if (atomic_fetch_sub(&self->uses, 1) == 1) free(self);
}

void callback_forget_owner(callback *self)
{
    if (!self) return;
    self->owner = NULL;
    callback_destroy(self);
}

static int add_each(thunder_values *out, PyObject *results)
{
    int failed = 0;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(results); i++) failed = values_add(out, PyTuple_GET_ITEM(results, i));
    return failed;
}

static int call(PyObject *function, const thunder_values *in, thunder_values *out, bool traced, bool spreads)
{
    PyObject *named = NULL, *result = NULL, *list = values_list(in, traced, &named);
    PyObject *args = list ? PyList_AsTuple(list) : NULL;
    if (args) result = PyObject_Call(function, args, named);
    const int failed = !result || (spreads && PyTuple_Check(result) ? add_each(out, result) : values_add(out, result));
    Py_XDECREF(result);
    Py_XDECREF(args);
    Py_XDECREF(list);
    Py_XDECREF(named);
    return failed ? -1 : 0;
}

thunder_status *callback_run(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    const callback *self = user;
    static const char over[] = "Python has ended", gone[] = "the function was collected: keep what was compiled";
    if (!python_is_alive()) return thunder_status_create(THUNDER_CALLBACK, over, sizeof over - 1);
    const PyGILState_STATE state = PyGILState_Ensure();
    thunder_status *status = NULL;
    PyObject *owner = self->owner, *function = owner ? self->target(Py_NewRef(owner)) : NULL;
    if (!owner) {
        status = thunder_status_create(THUNDER_CALLBACK, gone, sizeof gone - 1);
    } else {
        thunder_scope *outer = here;
        here = scope;
        const int failed = !function || call(function, in, out, thunder_scope_is_tracing(scope), self->spreads);
        here = outer;
        /* An op that failed is the scope's first error and stays so; the exception that it became goes with it. */
        if (failed) status = status_of_exception(thunder_scope_status(scope));
        Py_XDECREF(function);
        Py_DECREF(owner);
    }
    PyGILState_Release(state);
    return status;
}
