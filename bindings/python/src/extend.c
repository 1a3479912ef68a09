/* Ops and rules of the user's own. What is registered lives as long as the context, which is as long as the process. */
#include "layer.h"

#include <string.h>

/* An op's functions; kept for ever, with the Python functions in them. */
typedef struct own_op {
    callback *decompose, *vjp;
} own_op;

static thunder_status *run_decompose(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    return callback_run(scope, in, out, ((own_op *)user)->decompose);
}
static thunder_status *run_vjp(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    return callback_run(scope, in, out, ((own_op *)user)->vjp);
}
/* The context's share; ours is never given up. */
static void drop_op(void *user)
{
    own_op *op = user;
    if (op->decompose) callback_destroy(op->decompose);
    if (op->vjp) callback_destroy(op->vjp);
    free(op);
}

static PyObject *itself(PyObject *owner) { return Py_NewRef(owner); }
static callback *kept(PyObject *function)
{
    callback *made = callback_new(function, itself);
    if (!made) return NULL;
    callback_spread(made);
    Py_INCREF(function);
    return made;
}

/* add_op(schema, doc, decompose, vjp or None, flags) */
PyObject *extend_add_op(PyObject *module, PyObject *args)
{
    (void)module;
    const char *schema, *doc;
    PyObject *decompose, *vjp;
    unsigned flags;
    if (!PyArg_ParseTuple(args, "ssOOI:add_op", &schema, &doc, &decompose, &vjp, &flags)) return NULL;
    own_op *op = calloc(1, sizeof *op);
    if (!op) return PyErr_NoMemory();
    op->decompose = kept(decompose);
    if (vjp != Py_None) op->vjp = kept(vjp);
    if (PyErr_Occurred()) {
        drop_op(op);
        return NULL;
    }
    thunder_op_desc desc = {0};
    desc.size = sizeof desc, desc.schema = schema, desc.doc = doc, desc.flags = flags, desc.user = op;
    desc.decompose = run_decompose, desc.vjp = op->vjp ? run_vjp : NULL, desc.destroy = drop_op;
    if (check_status(thunder_context_add_op(context, &desc))) return NULL;
    Py_RETURN_NONE;
}

/* add_rules(name, [rules], before or None, after or None) */
PyObject *extend_add_rules(PyObject *module, PyObject *args)
{
    (void)module;
    const char *texts[256];
    thunder_pass_desc desc = {0};
    PyObject *rules;
    desc.size = sizeof desc, desc.rules = texts;
    if (!PyArg_ParseTuple(args, "sOzz:add_rules", &desc.name, &rules, &desc.before, &desc.after)) return NULL;
    PyObject *list = PySequence_Fast(rules, "add_rules: a list of rules was expected");
    if (!list) return NULL;
    desc.n_rules = (size_t)PySequence_Fast_GET_SIZE(list);
    int failed = desc.n_rules > sizeof texts / sizeof texts[0];
    if (failed) PyErr_SetString(PyExc_ValueError, "add_rules: a pass has at most 256 rules");
    for (size_t i = 0; !failed && i < desc.n_rules; i++)
        failed = !(texts[i] = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(list, (Py_ssize_t)i)));
    thunder_pass *pass = NULL;
    failed = failed || check_status(thunder_pass_create(context, &desc, &pass)) || check_status(thunder_context_add_pass(context, pass));
    thunder_pass_release(pass);
    Py_DECREF(list);
    if (failed) return NULL;
    Py_RETURN_NONE;
}
