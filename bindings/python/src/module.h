/* module.h: what optimisers need to know about modules. */
#pragma once
#include "layer.h"

typedef struct Module {
    PyObject_HEAD
    PyObject *dict, *weak;
    PyObject *held;         /* the tensors that were read, by path: each is one object */
    thunder_module *handle; /* NULL until it is made */
    callback *forward;      /* of a class that has one */
    struct Module *before, *after; /* among all that there are */
} Module;

extern PyTypeObject *module_type;
thunder_module *module_handle(PyObject *object); /* NULL and an exception */
PyObject *module_new(PyTypeObject *type, PyObject *args, PyObject *named); /* bare */
void module_unlist(Module *self);
PyObject *module_wrap(PyTypeObject *type, thunder_module *lent); /* an object of this class over it, bare */
