/* described.h: what described.c, which is generated, needs of the classes. */
#ifndef THUNDER_PYTHON_DESCRIBED_H
#define THUNDER_PYTHON_DESCRIBED_H
#include "layer.h"

extern PyTypeObject *compiled_type, *batches_type;
thunder_batches *batches_handle(PyObject *object);
/* Makes each function a method of the type; -1 and an exception. */
int add_methods(PyTypeObject *type, PyMethodDef *methods);
#endif
