/* Transforms of functions: one call of a function of tensors, batched or differentiated, in the scope that is current. */
#include "layer.h"

static thunder_function *function_of(const char *name, PyObject *callable, callback **back)
{
    thunder_function *made = NULL;
    *back = callback_new(callable, callback_owner_itself);
    if (!*back) return NULL;
    callback_spread_results(*back);
    return check_status(thunder_function_create(context, name, callback_run, *back, callback_destroy, &made)) ? NULL : made;
}

/* A list of integers and None as the library's dims. */
static int64_t *dims_from(PyObject *list, size_t *count)
{
    const Py_ssize_t n = PyList_Size(list);
    int64_t *dims = n < 0 ? NULL : PyMem_New(int64_t, n ? n : 1);
    if (!dims) return PyErr_Occurred() ? NULL : (int64_t *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyList_GET_ITEM(list, i);
        dims[i] = item == Py_None ? THUNDER_NO_DIM : PyLong_AsLongLong(item);
        if (!PyErr_Occurred()) continue;
        PyMem_Free(dims);
        return NULL;
    }
    *count = (size_t)n;
    return dims;
}

static thunder_status *vmap_of(thunder_function *function, PyObject *dims, const char *randomness, thunder_function **out)
{
    size_t count = 0;
    int64_t *to = dims == Py_None ? NULL : dims_from(dims, &count);
    thunder_status *failed = to || dims == Py_None ? thunder_function_vmap(function, NULL, 0, to, count, randomness, out) : NULL;
    PyMem_Free(to);
    return failed;
}

static thunder_status *transformed(const char *kind, thunder_function *function, PyObject *option, const char *randomness,
                                   thunder_function **out)
{
    const uint32_t first = THUNDER_DIFFERENTIATE_FIRST;
    switch (kind[0] == 'j' && kind[1] == 'a' ? kind[3] : kind[0]) {
    case 'j': return thunder_function_jvp(function, NULL, first, out);
    case 'r': return thunder_function_jacrev(function, NULL, first, out);
    case 'f': return thunder_function_jacfwd(function, NULL, first, out);
    case 'c': return thunder_function_checkpoint(function, out);
    default: break;
    }
    return kind[1] == 'j' ? thunder_function_vjp(function, NULL, first, out) : vmap_of(function, option, randomness, out);
}

static PyObject *apply(thunder_function *function, PyObject *tensors, PyObject *last)
{
    PyObject *result = NULL;
    thunder_scope *scope = scope_now();
    thunder_values *in = scope ? values_new() : NULL;
    if (in && values_add_each(in, tensors) == 0 && (last == Py_None || values_add(in, last) == 0) &&
        check_status(thunder_values_status(in)) == 0) {
        thunder_values *out = thunder_function_apply(scope, function, in);
        if (scope_check(scope) == 0) {
            result = values_list(out, thunder_scope_is_tracing(scope), NULL);
            scope_done(scope);
        }
    }
    thunder_values_release(in);
    return result;
}

/* transform(kind, name, function, tensors, option, last, randomness): a list of the results. `function` takes the tensors one by
 * one and gives a tuple; `last` is a list that follows the arguments, or None; `option`: the dims of vmap's results, or None. */
static PyObject *transform(PyObject *module, PyObject *args)
{
    const char *kind, *name, *randomness;
    PyObject *callable, *tensors, *option, *last, *result = NULL;
    if (!PyArg_ParseTuple(args, "ssOO!OOs:transform", &kind, &name, &callable, &PyTuple_Type, &tensors, &option, &last, &randomness)) return NULL;
    callback *back;
    thunder_function *function = function_of(name, callable, &back), *made = NULL;
    if (function && check_status(transformed(kind, function, option, randomness, &made)) == 0 && !PyErr_Occurred())
        result = apply(made, tensors, last);
    thunder_function_release(made);
    thunder_function_release(function);
    callback_forget_owner(back);
    return result;
}

int open_transform(PyObject *module)
{
    static PyMethodDef functions[] = {{"transform", transform, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
