/* dlpack.h: DLPack's structures as its specification fixes them. */
#pragma once
#include "layer.h"

typedef struct DLTensor {
    void *data;
    struct {
        int32_t type, index;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* in elements */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

enum { DLPACK_READ_ONLY = 1, DLPACK_IS_COPIED = 2 };
enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_HOST = 3 };

/* What an object's __dlpack__ gives; NULL and an exception. stream: which is made to wait for what the producer has asked for; NULL:
 * it is none of a device. */
PyObject *foreign_capsule(PyObject *object, void *stream);
/* Consumes the capsule; NULL and an exception: it is still whole. */
thunder_tensor *dlpack_take(PyObject *capsule);
/* By __dlpack__ alone, where tensor_from_foreign() also has other ways; NULL and an exception. */
thunder_tensor *tensor_from_dlpack(PyObject *object);
/* A tensor of the library of an Exchange over the memory of a running program, which it must not outlive. */
PyObject *exchange_view(PyObject *exchange, const thunder_buffer *buffer);
/* A TypeError about elements that no dtype is for. */
void raise_no_dtype(PyObject *elements);

_Static_assert(sizeof(void *) != 8 || sizeof(DLManagedTensor) == 64, "DLPack 0.x");
_Static_assert(sizeof(void *) != 8 || sizeof(DLManagedTensorVersioned) == 80, "DLPack 1.x");
