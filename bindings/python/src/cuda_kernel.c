/* Kernels for CUDA devices: the library's descriptor of the fields that thunder/_cuda_kernel.py gives. */
#include "layer.h"

#include <stdlib.h>

/* What it points to lives as long as `fields`, but for the list of the options. */
int cuda_kernel_read(PyObject *fields, cuda_kernel *out)
{
    const char *image = NULL;
    Py_ssize_t bytes = 0;
    PyObject *options;
    int strided;
    *out = (cuda_kernel){.desc = {.size = sizeof out->desc, .device = THUNDER_CUDA(0)}};
    thunder_kernel_desc *d = &out->desc;
    if (!PyArg_ParseTuple(fields, "szz#O!zsszp:kernel", &d->symbol, &d->source, &image, &bytes, &PyTuple_Type, &options, &d->parameters, &d->grid,
                          &d->block, &d->shared_bytes, &strided))
        return -1;
    d->image = image, d->image_bytes = (size_t)bytes;
    d->flags = strided ? THUNDER_EXECUTOR_STRIDED : 0;
    const Py_ssize_t count = PyTuple_GET_SIZE(options);
    out->options = calloc((size_t)count + 1, sizeof *out->options);
    if (!out->options) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        out->options[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(options, i));
        if (!out->options[i]) return cuda_kernel_free(out), -1;
    }
    d->options = out->options, d->n_options = (size_t)count;
    return 0;
}

void cuda_kernel_free(cuda_kernel *kernel)
{
    free(kernel->options);
    kernel->options = NULL;
}
