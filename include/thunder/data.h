/* thunder/data.h: reading and writing files of tensors, and cutting data sets into batches. A part of thunder.h, which
 * includes it. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_DATA_H)
#define THUNDER_DATA_H

/* ==== data: files [S], batches [X] ==== */

/* Paths are UTF-8. A damaged or truncated file is THUNDER_DATA_LOST, with what was expected and what was found.
 * CSV gives a [rows, columns] tensor of THUNDER_F32 (0 means it) or THUNDER_F64, without a first row of names. */
THUNDER_CHECK thunder_status *thunder_read_csv(thunder_context *context, const char *path, thunder_dtype dtype,
    thunder_tensor **out) THUNDER_NOEXCEPT;
/* NumPy's .npy, versions 1 to 3. */
THUNDER_CHECK thunder_status *thunder_read_npy(thunder_context *context, const char *path,
    thunder_tensor **out) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_write_npy(thunder_tensor *tensor, const char *path) THUNDER_NOEXCEPT;
/* IDX as MNIST has it, also packed by gzip. */
THUNDER_CHECK thunder_status *thunder_read_idx(thunder_context *context, const char *path,
    thunder_tensor **out) THUNDER_NOEXCEPT;
/* Tensors by name: `out_map`, which is reset first, gets one map. Writing takes such a map; the old file stays whole
 * until the new one is. */
THUNDER_CHECK thunder_status *thunder_read_safetensors(thunder_context *context, const char *path,
    thunder_values *out_map) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_write_safetensors(const thunder_values *map, const char *path) THUNDER_NOEXCEPT;

/* Batches of `size` rows of tensors with equal first sizes. The order of an epoch depends on `seed`, the epoch and the
 * number of rows alone. The tensors are retained and read at each batch. */
THUNDER_CHECK thunder_status *thunder_batches_create(thunder_context *context, thunder_tensor *const *tensors,
    size_t count, int64_t size, int32_t shuffle, int32_t drop_last, uint64_t seed,
    thunder_batches **out) THUNDER_NOEXCEPT;
void thunder_batches_release(thunder_batches *batches) THUNDER_NOEXCEPT;
/* Resets `out` and pushes a fresh tensor for each source, or nothing at the end of an epoch; the call after that begins
 * the next epoch. */
THUNDER_CHECK thunder_status *thunder_batches_next(thunder_batches *batches, thunder_values *out) THUNDER_NOEXCEPT;
/* An epoch of its own, to be read by thunder_batches_next until it gives nothing, and to be released: the one in which `batches`
 * stand, from there on, or the one behind it where another pass reads that. Passes do not hinder one another; `batches` stand
 * where the latest one does. */
THUNDER_CHECK thunder_status *thunder_batches_pass(thunder_batches *batches, thunder_batches **out) THUNDER_NOEXCEPT;
/* From the next batch on its tensors are on this device, and while one batch is used a thread of the library's copies the
 * rows of the next one and sends them: the sources must not be written meanwhile. THUNDER_CPU: as at first.
 * THUNDER_UNIMPLEMENTED where there is no such device. */
THUNDER_CHECK thunder_status *thunder_batches_set_device(thunder_batches *batches, thunder_device device) THUNDER_NOEXCEPT;
int64_t thunder_batches_count(const thunder_batches *batches) THUNDER_NOEXCEPT; /* batches in an epoch; 0 of NULL */
/* The position, i64[4] {seed, epoch, rows taken, rows}: after setting a saved one, the next batch is the same. */
THUNDER_CHECK thunder_status *thunder_batches_state(const thunder_batches *batches,
    thunder_tensor **out) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_batches_set_state(thunder_batches *batches,
    thunder_tensor *state) THUNDER_NOEXCEPT;
#endif
