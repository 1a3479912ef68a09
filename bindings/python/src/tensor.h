/* tensor.h: what the files of the tensor type share. */
#pragma once
#include "layer.h"

void tensor_unregister(const Tensor *self); /* that is known, as it goes */
/* As tensor_materialize(), with its error as the status that it is. */
thunder_status *tensor_materialized(thunder_tensor *tensor, int32_t *concrete);
PyObject *tensor_shape(PyObject *self, void *unused);
PyObject *tensor_dtype(PyObject *self, void *unused);
PyObject *tensor_item(PyObject *self, PyObject *unused);
bool tensor_is_number(PyObject *self, bool whole); /* of any object: a tensor without dims, where nothing is recorded that would lose its gradient */
PyObject *tensor_float(PyObject *self);
PyObject *tensor_int(PyObject *self);
PyObject *tensor_index(PyObject *self);
int tensor_bool(PyObject *self);
PyObject *tensor_str(PyObject *self); /* of a float that a function was given the number's */

/* Each operator, as the slot of Python's that it is, and its op. */
#define TENSOR_BINARY_OPERATORS(ROW) \
    ROW(nb_add, "add") ROW(nb_inplace_add, "add_") \
    ROW(nb_subtract, "sub") ROW(nb_inplace_subtract, "sub_") \
    ROW(nb_multiply, "mul") ROW(nb_inplace_multiply, "mul_") \
    ROW(nb_true_divide, "div") ROW(nb_inplace_true_divide, "div_") \
    ROW(nb_floor_divide, "floor_divide") ROW(nb_inplace_floor_divide, "floor_divide_") \
    ROW(nb_remainder, "remainder") ROW(nb_inplace_remainder, "remainder_") \
    ROW(nb_and, "bitwise_and") ROW(nb_inplace_and, "bitwise_and_") \
    ROW(nb_or, "bitwise_or") ROW(nb_inplace_or, "bitwise_or_") \
    ROW(nb_xor, "bitwise_xor") ROW(nb_inplace_xor, "bitwise_xor_") \
    ROW(nb_lshift, "bitwise_left_shift") ROW(nb_inplace_lshift, "bitwise_left_shift_") \
    ROW(nb_rshift, "bitwise_right_shift") ROW(nb_inplace_rshift, "bitwise_right_shift_") \
    ROW(nb_matrix_multiply, "matmul") /* whose result has another shape: @= binds it, as in PyTorch */
#define TENSOR_UNARY_OPERATORS(ROW) ROW(nb_negative, "neg") ROW(nb_absolute, "abs") ROW(nb_invert, "bitwise_not")

#define DECLARE(slot, name) PyObject *tensor_##slot(PyObject *a, PyObject *b);
TENSOR_BINARY_OPERATORS(DECLARE)
#undef DECLARE
#define DECLARE(slot, name) PyObject *tensor_##slot(PyObject *a);
TENSOR_UNARY_OPERATORS(DECLARE)
#undef DECLARE
PyObject *tensor_power(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *tensor_power_in_place(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *tensor_divmod(PyObject *a, PyObject *b);
PyObject *tensor_positive(PyObject *a);
PyObject *tensor_compare(PyObject *a, PyObject *b, int operator);
Py_hash_t tensor_hash_live(PyObject *self); /* of a float that a function was given */
