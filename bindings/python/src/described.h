/* described.h: what described.c, which is generated, needs of the classes. */
#pragma once
#include "layer.h"

extern PyTypeObject *compiled_type, *batches_type;
thunder_batches *batches_handle(PyObject *object);
/* Makes each function a method of the type; -1 and an exception. */
int add_methods(PyTypeObject *type, PyMethodDef *methods);
