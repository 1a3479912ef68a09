/* exchange.h: shared by the files that call programs with tensors of another library through DLPack's exchange API. */
#pragma once
#include "dlpack.h"

typedef struct api_header {
    struct {
        uint32_t major, minor;
    } version;
    struct api_header *previous; /* of an older major version, or NULL */
} api_header;

/* As DLPack 1.3 fixes it. Functions give 0, or anything else and an exception. */
typedef struct exchange_api {
    api_header header;
    int (*allocate)(DLTensor *like, DLManagedTensorVersioned **out, void *user,
                    void (*fail)(void *user, const char *kind, const char *message));
    int (*from_object)(void *object, DLManagedTensorVersioned **out);
    int (*to_object)(DLManagedTensorVersioned *managed, void **out);
    int (*view)(void *object, DLTensor *out);
    int (*current_stream)(int32_t device_kind, int32_t device_index, void **out);
} exchange_api;

_Static_assert(sizeof(void *) != 8 || sizeof(exchange_api) == 56, "DLPack 1.3");

/* The values of the previous call, for reuse; NULL while a call uses them. */
typedef struct spare_values {
    thunder_values *in, *out;
} spare_values;

typedef struct Exchange {
    PyObject_HEAD
    PyObject *capsule, *class; /* of the API, which it keeps; of tensors */
    const exchange_api *api;
    spare_values spare;
} Exchange;

/* A list of the results. `emptied`: the list that the arguments are in, which the call empties; NULL: somebody holds them until it
 * ends. Then `spare` serves calls of one program, whose arguments get the handles of the call before. */
PyObject *exchange_run(Exchange *self, thunder_compiled *compiled, spare_values *spare, PyObject *const *args, Py_ssize_t count,
                       PyObject *emptied);
void release_spare(const spare_values *spare);
