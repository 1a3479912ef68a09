/* op.h: Python's arguments as the library's leaves, by a signature: ops and kinds of modules have one. */
#pragma once
#include "layer.h"

enum { MAX_ARGUMENTS = 32, MAX_RESULTS = 8, INLINE_BYTES = 256, INLINE_KEPT = 8 };
enum parameter_kind { TAKES_ANY, TAKES_TENSOR, TAKES_INT, TAKES_FLOAT, TAKES_DIMS, TAKES_FLOATS, TAKES_TENSORS, TAKES_DTYPE, TAKES_DEVICE };

typedef struct parameter {
    const char *name;
    PyObject *word; /* the name, interned */
    enum parameter_kind kind;
    bool gathers; /* an int[] that no parameter with numbers follows: view(x, 2, 3) */
} parameter;

typedef struct signature {
    PyObject *owner; /* a tuple that keeps the names */
    const char *name;
    int n_parameters, n_results; /* 0 results: a list; -1: the arguments say how many, one stands alone */
    bool takes_out; /* out=, which no schema has */
    bool creates; /* its result is made of nothing that has gradients: requires_grad=, which no schema has */
    parameter parameters[];
} signature;

typedef struct arguments {
    const signature *signature;
    int count, n_kept, room, n_blocks;
    bool named; /* at least one name is not NULL */
    PyObject *out; /* where the results are to be stored: a tensor, or a tuple of them; or NULL */
    PyObject *requires_grad; /* what was given for it, or NULL */
    thunder_any any[MAX_ARGUMENTS];
    const char *names[MAX_ARGUMENTS];
    thunder_tensor **kept, *few[INLINE_KEPT]; /* made for this call; room for so many */
    void *blocks[MAX_ARGUMENTS];
    size_t used;
    _Alignas(16) char memory[INLINE_BYTES]; /* elements of short lists */
} arguments;

/* signature_new(name, [parameter names], [kinds], number of results) */
signature *signature_new(PyObject *name, PyObject *names, PyObject *kinds, int n_results);
void signature_free(signature *self);
/* -1 and an exception; arguments_free() in either case. `names` is vectorcall's tuple or NULL. */
int arguments_read(arguments *c, const signature *s, PyObject *const *args, Py_ssize_t count, PyObject *names);
void arguments_free(arguments *c);
void *arguments_block(arguments *c, size_t bytes); /* memory until arguments_free(); NULL and an exception */
PyObject *arguments_aliases(void); /* {numpy's name of a parameter: ours} */

/* In a region without gradients of a traced function: the arguments, detached; -1 and an exception. */
bool grad_mode_detaches(void);
int grad_mode_detach(arguments *c);

/* An op by name with positional arguments, for operators. */
PyObject *op_call(const char *name, PyObject *const *args, Py_ssize_t count);
