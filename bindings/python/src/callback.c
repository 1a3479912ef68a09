/* Python functions that the library calls: the one place where Python runs inside it. */
#include "layer.h"

#include <stdatomic.h>
#include <string.h>

struct callback {
    atomic_int uses; /* the owner's and the library's */
    PyObject *owner; /* NULL: it is gone; read and written with the interpreter's lock */
    PyObject *(*target)(PyObject *owner);
    bool spreads;
    callback_run_fn *run;       /* what runs the function where it is traced; or NULL */
    callback_finish_fn *finish;
};

callback *callback_new(PyObject *owner, PyObject *(*target)(PyObject *owner))
{
    callback *made = malloc(sizeof *made);
    if (!made) {
        PyErr_NoMemory();
        return NULL;
    }
    atomic_init(&made->uses, 2);
    made->owner = owner, made->target = target, made->spreads = false, made->run = NULL, made->finish = NULL;
    return made;
}

void callback_spread_results(callback *self) { self->spreads = true; }
void callback_set_hooks(callback *self, callback_run_fn *run, callback_finish_fn *finish) { self->run = run, self->finish = finish; }
PyObject *callback_owner_itself(PyObject *owner) { return Py_NewRef(owner); }

PyObject *callback_owner(const callback *self) { return self->owner; }

callback *callback_retain(callback *self)
{
    atomic_fetch_add(&self->uses, 1);
    return self;
}

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

static int call(PyObject *function, const thunder_values *in, thunder_values *out, bool traced, const callback *self)
{
    const bool depends = traced && self->run;
    PyObject *named = NULL, *result = NULL, *list = values_list(in, traced, &named);
    PyObject *args = list ? PyList_AsTuple(list) : NULL;
    if (args) result = depends ? self->run(function, in, args, named) : PyObject_Call(function, args, named);
    const int failed = !result || (self->spreads ? values_add_each(out, result) : values_add(out, result)) || (depends && self->finish(out));
    Py_XDECREF(result);
    Py_XDECREF(args);
    Py_XDECREF(list);
    Py_XDECREF(named);
    return failed ? -1 : 0;
}

/* Ops go to the scope. Without one they run at once, in a scope of this call: the thread's own may be in use further out. */
static thunder_status *enter_scope(thunder_scope *scope, thunder_scope **own)
{
    *own = NULL;
    thunder_status *failed = scope ? NULL : thunder_scope_create(context, 0, own);
    if (failed) return failed;
    here = scope;
    if (*own) eager = *own;
    return NULL;
}

static thunder_status *run_body(PyObject *function, thunder_scope *scope, int (*body)(PyObject *, void *), void *frame)
{
    thunder_scope *outer = here, *outer_eager = eager, *own;
    thunder_status *status = enter_scope(scope, &own);
    if (status) return status;
    if (!outer) sizes_given = false;
    const bool begins = scope && scope != outer && thunder_scope_is_tracing(scope);
    const grad_mode around = begins ? grad_mode_reset() : (grad_mode){.off = false};
    const int failed = body(function, frame);
    if (begins) grad_mode_restore(&around);
    here = outer, eager = outer_eager;
    /* An op that failed is the scope's first error and stays so; the exception that it became goes with it. */
    if (failed) status = status_of_exception(scope ? thunder_scope_status(scope) : NULL);
    thunder_scope_release(own);
    return status;
}

thunder_status *callback_enter(const callback *self, thunder_scope *scope, int (*body)(PyObject *, void *), void *frame)
{
    static const char over[] = "Python has ended", gone[] = "the function was collected: keep what was compiled";
    PyGILState_STATE state;
    if (!python_enter(&state)) return thunder_status_create(THUNDER_CALLBACK, over, sizeof over - 1);
    thunder_status *status = NULL;
    PyObject *owner = Py_XNewRef(self->owner), *function = owner ? self->target(owner) : NULL;
    if (function)
        status = run_body(function, scope, body, frame);
    else if (PyErr_Occurred())
        status = status_of_exception(NULL);
    else
        status = thunder_status_create(THUNDER_CALLBACK, gone, sizeof gone - 1);
    Py_XDECREF(function);
    Py_XDECREF(owner);
    python_leave(state);
    return status;
}

typedef struct run_frame {
    thunder_scope *scope;
    const thunder_values *in;
    thunder_values *out;
    const callback *self;
} run_frame;

static int run(PyObject *function, void *frame)
{
    const run_frame *f = frame;
    const bool outer = live_numbers;
    live_numbers = false;
    const int failed = call(function, f->in, f->out, thunder_scope_is_tracing(f->scope), f->self);
    live_numbers = outer;
    return failed;
}

thunder_status *callback_run(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    run_frame frame = {scope, in, out, user};
    return callback_enter(user, scope, run, &frame);
}
