/* Regions without gradients, as torch.no_grad(): on a tape their ops are not recorded; in a traced function they get their tensors by way
 * of `detach`. Elsewhere nothing is recorded in any case. */
#include "op.h"

static _Thread_local grad_mode mode;

/* What the tape's ops run in instead: the thread's own scope may be in use further out. */
static int suspend_tape(void)
{
    thunder_scope *own = NULL;
    if (check_status(thunder_scope_create(context, 0, &own))) return -1;
    thunder_scope_set_autocast(own, thunder_scope_autocast(here));
    mode.tape = here, mode.own = own, mode.outer_eager = eager;
    here = NULL, eager = own;
    return 0;
}

static void resume_tape(void)
{
    here = mode.tape, eager = mode.outer_eager;
    thunder_scope_release(mode.own);
    mode.tape = mode.own = mode.outer_eager = NULL;
}

static bool is_enabled(void) { return is_recording() ? mode.traced != here : !mode.off; }

/* _set_grad_enabled(enabled): whether it was. */
static PyObject *set_grad_enabled(PyObject *module, PyObject *enabled)
{
    const bool was = is_enabled();
    const int on = PyObject_IsTrue(enabled);
    if (on < 0) return NULL;
    if (!on && is_recording()) {
        if (thunder_scope_is_tracing(here))
            mode.traced = here;
        else if (suspend_tape())
            return NULL;
    }
    if (on && mode.tape && !here) resume_tape();
    if (on && mode.traced == here) mode.traced = NULL;
    mode.off = !on;
    return PyBool_FromLong(was);
}

static PyObject *is_grad_enabled(PyObject *module, PyObject *unused)
{
    return PyBool_FromLong(is_enabled());
}

grad_mode grad_mode_reset(void)
{
    const grad_mode taken = mode;
    mode = (grad_mode){.off = false};
    return taken;
}

void grad_mode_restore(const grad_mode *taken)
{
    if (mode.tape && !here) resume_tape();
    mode = *taken;
}

bool grad_mode_detaches(void) { return mode.traced && mode.traced == here; }

/* ---- what a region's ops get ---- */

static thunder_tensor *detach_tensor(thunder_tensor *tensor)
{
    const thunder_any any = {.kind = THUNDER_TENSOR, .u.t = tensor};
    thunder_tensor *made = NULL;
    return tensor ? thunder_op_invoke(here, "detach", &any, 1, NULL, &made, 1, NULL) : NULL;
}

int grad_mode_detach(arguments *c)
{
    for (int i = 0; i < c->count; i++) { /* what is written in place too: its gradient stays that of what it was */
        thunder_any *any = &c->any[i];
        if (any->kind == THUNDER_TENSOR) any->u.t = detach_tensor(any->u.t);
        if (any->kind != THUNDER_TENSORS) continue;
        thunder_tensor **all = arguments_block(c, any->count * sizeof *all);
        if (!all) return -1;
        for (uint32_t k = 0; k < any->count; k++) all[k] = detach_tensor(any->u.ts[k]);
        any->u.ts = all;
    }
    return 0;
}

/* _grad_detaches(): whether the region at hand is one of a traced function. */
static PyObject *detaches(PyObject *module, PyObject *unused)
{
    return PyBool_FromLong(grad_mode_detaches());
}

int open_grad_mode(PyObject *module)
{
    static PyMethodDef functions[] = {
        {"_set_grad_enabled", set_grad_enabled, METH_O, NULL},
        {"_grad_detaches", detaches, METH_NOARGS, NULL},
        {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Whether no region of no_grad() or inference_mode() is at hand."},
        {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
