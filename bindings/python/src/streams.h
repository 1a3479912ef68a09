/* streams.h: streams of devices, for what exchanges memory with other libraries. */
#pragma once
#include "layer.h"

#include <stdint.h>

#define LEGACY_STREAM ((void *)(uintptr_t)1) /* CU_STREAM_LEGACY */

/* NULL: the library's own. NULL and an exception. */
thunder_stream *stream_on(thunder_device device, void *native);

/* Of memory that a consumer takes on that stream: the stream will be there when the memory comes back. */
void keep_consumer(const void *native, int index);

/* What the library of `object` does on its current stream comes behind the work on `tensor`, which it lent; -1 and an exception. */
int follow_stream(PyObject *object, thunder_tensor *tensor);
