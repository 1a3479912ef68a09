/* thunder/devices.h: streams and events of devices, their memory, and what they are like. A part of thunder.h, which includes it. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_DEVICES_H)
#define THUNDER_DEVICES_H

/* ==== streams [S] ==== */

/* native NULL: a stream of our own; else one of the device's own type (CUstream), borrowed. */
THUNDER_CHECK thunder_status *thunder_stream_create(thunder_context *context, thunder_device device,
    void *native_or_null, thunder_stream **out) THUNDER_NOEXCEPT;
/* Failures of work that was in flight surface here and in thunder_tensor_read(). */
THUNDER_CHECK thunder_status *thunder_stream_wait(thunder_stream *stream) THUNDER_NOEXCEPT;
void thunder_stream_release(thunder_stream *stream) THUNDER_NOEXCEPT;
/* The stream as the device's own library knows it (CUstream); NULL on the CPU, and of the legacy default stream. */
void *thunder_stream_native(const thunder_stream *stream) THUNDER_NOEXCEPT;
/* Whether what it was asked for by now is done, without waiting: always on the CPU. */
THUNDER_CHECK thunder_status *thunder_stream_query(thunder_stream *stream, int32_t *done) THUNDER_NOEXCEPT;
/* What the stream is asked for from now on waits for the event. */
THUNDER_CHECK thunder_status *thunder_stream_wait_event(thunder_stream *stream, thunder_event *event) THUNDER_NOEXCEPT;

/* Events of a device other than the CPU. timed: the time between two such can be asked for. One that was never recorded has been
 * reached. */
THUNDER_CHECK thunder_status *thunder_event_create(thunder_context *context, thunder_device device, int32_t timed,
    thunder_event **out) THUNDER_NOEXCEPT;
/* The event is behind all that the stream was asked for by now. */
THUNDER_CHECK thunder_status *thunder_event_record(thunder_event *event, thunder_stream *stream) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_event_wait(thunder_event *event) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_event_query(thunder_event *event, int32_t *reached) THUNDER_NOEXCEPT;
/* Milliseconds between two that were reached. */
THUNDER_CHECK thunder_status *thunder_event_elapsed(thunder_event *first, thunder_event *last, double *ms) THUNDER_NOEXCEPT;
void thunder_event_release(thunder_event *event) THUNDER_NOEXCEPT;

/* ==== memory of a device [S] ==== */

/* Of the blocks that a context's tensors and programs are in; a block counts as what was reserved for it. On the CPU those of
 * fewer than 1,024 bytes are not counted, and none where the context has an allocator of the caller's. The names are those of
 * torch.cuda.memory_stats(). */
typedef struct thunder_memory_stats {
    size_t size; /* of this structure, set by the caller */
    uint64_t allocated_bytes, max_allocated_bytes; /* in use, and the most of it since the last reset */
    uint64_t reserved_bytes, max_reserved_bytes;   /* in use or kept for reuse, likewise */
    uint64_t hits, misses;                         /* blocks that were kept, and that the system or driver gave */
    uint64_t retries;                              /* how often kept blocks went back to make room */
} thunder_memory_stats;
THUNDER_CHECK thunder_status *thunder_context_memory_stats(thunder_context *context, thunder_device device,
    thunder_memory_stats *out) THUNDER_NOEXCEPT;
/* The peaks begin again at what is in use now. */
THUNDER_CHECK thunder_status *thunder_context_reset_peak_memory_stats(thunder_context *context,
    thunder_device device) THUNDER_NOEXCEPT;
/* Blocks that are kept for reuse go back to the system or driver. Waits for the device. */
THUNDER_CHECK thunder_status *thunder_context_empty_cache(thunder_context *context, thunder_device device) THUNDER_NOEXCEPT;
/* Another library's allocator for a device's memory. thunder_context_memory_stats() does not count its blocks. Any thread may call
 * the two functions; they must not call this library. */
typedef struct thunder_device_allocator {
    size_t size; /* of this structure, set by the caller */
    /* Returns so many bytes of device memory, aligned to 256, or NULL: there is no memory. `*stream` holds the CUstream that will use
     * them; an allocator whose earlier users of the block work on another stream writes that one: the library's waits for it
     * before it uses the block, and it is made to wait for the library's before give_back(). `*block` is what give_back() gets. */
    void *(*lend)(size_t bytes, void **stream, void **block, void *user);
    void (*give_back)(void *block, void *user);
    void *user;
} thunder_device_allocator;
/* Sets the allocator of all further blocks. Blocks in use go back to the allocator that they came from, which must outlive them.
 * NULL: the library's own again. The structure is copied. Any thread. */
THUNDER_CHECK thunder_status *thunder_context_set_device_allocator(thunder_context *context, thunder_device device,
    const thunder_device_allocator *allocator) THUNDER_NOEXCEPT;
/* Waits for all work of the context on the device, and reports what went wrong in it. */
THUNDER_CHECK thunder_status *thunder_context_synchronize(thunder_context *context, thunder_device device) THUNDER_NOEXCEPT;

/* What the hardware of a device other than the CPU is like. Fills what `out->size` holds. */
typedef struct thunder_device_info {
    size_t size;                    /* of this structure, set by the caller */
    char name[256];                 /* "NVIDIA H100 80GB HBM3" */
    int32_t major, minor;           /* its compute capability */
    int32_t multiprocessors;
    uint64_t total_bytes, l2_bytes, shared_bytes_per_block; /* of its memory, its cache, and what a block of threads may have */
    uint64_t free_bytes;            /* that nobody has, of all programs; blocks that are kept for reuse are not free */
} thunder_device_info;
THUNDER_CHECK thunder_status *thunder_context_device_info(thunder_context *context, thunder_device device,
    thunder_device_info *out) THUNDER_NOEXCEPT;

#endif
