/* Memory of a running program as a tensor of the library of an Exchange. */
#include "exchange.h"

#include <stdlib.h>

typedef struct lent {
    DLManagedTensorVersioned managed;
    int64_t sizes[]; /* shape, then strides */
} lent;

static void drop_lent(DLManagedTensorVersioned *managed) { free(managed); }

PyObject *exchange_view(PyObject *exchange, const thunder_buffer *b)
{
    const size_t rank = (size_t)b->rank;
    lent *made = malloc(sizeof *made + 2 * rank * sizeof made->sizes[0]);
    if (!made) return PyErr_NoMemory();
    for (size_t i = 0; i < rank; i++) made->sizes[i] = b->shape[i], made->sizes[rank + i] = b->strides[i];
    made->managed = (DLManagedTensorVersioned){.version = {1, 0}, .deleter = drop_lent};
    made->managed.dl_tensor = (DLTensor){.data = b->data,
                                         .device = {b->device >> 16, b->device & 0xffff},
                                         .ndim = b->rank,
                                         .dtype = {(uint8_t)(b->dtype >> 8), (uint8_t)(b->dtype & 0xff), 1},
                                         .shape = made->sizes,
                                         .strides = made->sizes + rank};
    void *object = NULL;
    if (((Exchange *)exchange)->api->to_object(&made->managed, &object) == 0) return object;
    free(made);
    return NULL;
}
