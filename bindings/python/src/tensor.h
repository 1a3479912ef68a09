/* tensor.h: what the files of the tensor type share. */
#ifndef THUNDER_PYTHON_TENSOR_H
#define THUNDER_PYTHON_TENSOR_H
#include "layer.h"

PyObject *tensor_shape(PyObject *self, void *unused);
PyObject *tensor_dtype(PyObject *self, void *unused);
PyObject *tensor_item(PyObject *self, PyObject *unused);
bool tensor_is_number(PyObject *self, bool whole); /* of any object: a tensor without dims, where nothing is recorded that would lose its gradient */
PyObject *tensor_float(PyObject *self);
PyObject *tensor_int(PyObject *self);
PyObject *tensor_index(PyObject *self);
int tensor_bool(PyObject *self);
Py_hash_t tensor_hash_live(PyObject *self); /* of a float that a function was given */
#endif
