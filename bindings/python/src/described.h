/* described.h: what described.c and calls.c, which are generated, need of the classes. */
#pragma once
#include "module.h"

extern PyTypeObject *compiled_type, *batches_type, *optimizer_type, *schedule_type;
thunder_batches *batches_handle(PyObject *object);
thunder_optimizer *optimizer_handle(PyObject *object);
thunder_schedule *schedule_handle(PyObject *object);
/* Makes each function a method of the type; -1 and an exception. */
int add_methods(PyTypeObject *type, PyMethodDef *methods);
