/* A list of all live modules, whose parameters backward() looks up. */
#include "module.h"

static Module *first;

PyObject *module_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *made = type->tp_alloc(type, 0);
    Module *self = (Module *)made;
    if (!made) return NULL;
    self->after = first;
    if (first) first->before = self;
    return (PyObject *)(first = self);
}

void module_unlist(Module *self)
{
    if (self->before) self->before->after = self->after;
    if (self->after) self->after->before = self->before;
    if (first == self) first = self->after;
}

/* modules(): the live modules of a class. One that is being deallocated has no references, and is left out. */
static PyObject *modules(PyObject *module, PyObject *type)
{
    if (!PyType_Check(type)) return PyErr_Format(PyExc_TypeError, "modules: a class was expected");
    PyObject *list = PyList_New(0);
    for (Module *one = first; list && one; one = one->after)
        if (Py_REFCNT(one) && one->handle && PyObject_TypeCheck((PyObject *)one, (PyTypeObject *)type) && PyList_Append(list, (PyObject *)one))
            Py_CLEAR(list);
    return list;
}

int open_module_list(PyObject *module)
{
    static PyMethodDef functions[] = {{"modules", modules, METH_O, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
