/* thunder/tensor.h: tensors made, looked at, read and written, and exchanged by DLPack. A part of thunder.h, which
 * includes it. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_TENSOR_H)
#define THUNDER_TENSOR_H

/* ==== tensor: metadata [S], data [X] ==== */

/* A dense row-major tensor that holds a copy of `host_data`; `bytes` must be what dtype and shape make. */
THUNDER_CHECK thunder_status *thunder_tensor_create(thunder_context *context, thunder_dtype dtype, size_t rank,
    const int64_t *shape, thunder_device device, const void *host_data, size_t bytes,
    thunder_tensor **out) THUNDER_NOEXCEPT;
/* A tensor over memory of the caller: `bytes` from `data` on, aligned to the element. strides NULL: dense row-major.
 * `destroy` (may be NULL) runs when the last use ends, views and calls in flight included, not with the handle. */
THUNDER_CHECK thunder_status *thunder_tensor_borrow(thunder_context *context, thunder_dtype dtype, size_t rank,
    const int64_t *shape, const int64_t *strides_or_null, thunder_device device, void *data, size_t bytes,
    void (*destroy)(void *user), void *user, thunder_tensor **out) THUNDER_NOEXCEPT;
/* The same handle for other memory of the host, `bytes` from `data` on, as borrowed without `destroy`. 1: it is; 0: it is as it was,
 * since somebody else holds it, it was not borrowed from the host, or dtype, shape, strides or bytes are others. */
int32_t thunder_tensor_reborrow(thunder_tensor *tensor, thunder_dtype dtype, size_t rank, const int64_t *shape,
    const int64_t *strides, void *data, size_t bytes) THUNDER_NOEXCEPT;
/* Another view of the same memory, `offset` elements from `tensor`'s first element. It must lie inside the memory. */
THUNDER_CHECK thunder_status *thunder_tensor_view(thunder_tensor *tensor, size_t rank, const int64_t *shape,
    const int64_t *strides_or_null, int64_t offset, thunder_tensor **out) THUNDER_NOEXCEPT;
/* Without a copy in both directions. `from` takes the structure over on success only, and calls its deleter when
 * the last use ends. `to` gives a structure that the consumer must delete; max_major is the highest DLPack major
 * version it reads (1 or higher). Read-only memory keeps its flag. On a device the stream, on which the consumer works (NULL: the
 * legacy default one), waits for our work; what we do with the memory once the structure is deleted waits for the stream. */
THUNDER_CHECK thunder_status *thunder_tensor_from_dlpack(thunder_context *context,
    struct DLManagedTensorVersioned *managed, thunder_tensor **out) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_tensor_to_dlpack(thunder_tensor *tensor, uint32_t max_major,
    thunder_stream *stream_or_null, struct DLManagedTensorVersioned **out) THUNDER_NOEXCEPT;
/* The same with the structure of DLPack 0.x, which cannot say that memory is read-only: `to` refuses such. */
THUNDER_CHECK thunder_status *thunder_tensor_from_dlpack_legacy(thunder_context *context,
    struct DLManagedTensor *managed, thunder_tensor **out) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_tensor_to_dlpack_legacy(thunder_tensor *tensor, thunder_stream *stream_or_null,
    struct DLManagedTensor **out) THUNDER_NOEXCEPT;
/* Of DLPack 1.x, where the work on a device is ordered otherwise, such as by the stream of the call that the tensors are
 * arguments and results of: nothing waits, and the deleter of what `from` took is called as soon as the last handle is gone.
 * stream: that of `to`, as above. */
THUNDER_CHECK thunder_status *thunder_tensor_from_dlpack_unordered(thunder_context *context,
    struct DLManagedTensorVersioned *managed, thunder_tensor **out) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_tensor_to_dlpack_unordered(thunder_tensor *tensor, thunder_stream *stream_or_null,
    struct DLManagedTensorVersioned **out) THUNDER_NOEXCEPT;
/* Memory of a device that others lent, by `from` or by thunder_tensor_borrow(), is theirs again when our work on it is done, and
 * their structure's deleter is then called by a later call of ours on that device. This says on which stream its lender works,
 * where that is not the legacy default one, which waits by itself: our work from now on waits for what the stream holds, and what
 * the stream is asked for after the last use has ended waits for our work. The stream must live until then. */
THUNDER_CHECK thunder_status *thunder_tensor_lent_on(thunder_tensor *tensor, thunder_stream *stream) THUNDER_NOEXCEPT;
thunder_tensor *thunder_tensor_retain(thunder_tensor *tensor) THUNDER_NOEXCEPT;
void thunder_tensor_release(thunder_tensor *tensor) THUNDER_NOEXCEPT;

thunder_dtype thunder_tensor_dtype(const thunder_tensor *tensor) THUNDER_NOEXCEPT; /* 0 of a failed one */
thunder_device thunder_tensor_device(const thunder_tensor *tensor) THUNDER_NOEXCEPT;
size_t thunder_tensor_rank(const thunder_tensor *tensor) THUNDER_NOEXCEPT;
/* The extent of one axis; a negative axis counts from the back; -1 if there is no such axis. */
int64_t thunder_tensor_size(const thunder_tensor *tensor, int32_t axis) THUNDER_NOEXCEPT;
/* Of concrete tensors only (else NULL, NULL, 0, 0): `rank` extents, `rank` strides, whether the memory is dense
 * row-major, and the bytes of its elements without gaps: what read and write expect. Of a function that is traced it is known as
 * well whether a tensor will be dense; -1: it is not known. */
const int64_t *thunder_tensor_shape(const thunder_tensor *tensor) THUNDER_NOEXCEPT;
const int64_t *thunder_tensor_strides(const thunder_tensor *tensor) THUNDER_NOEXCEPT;
int32_t thunder_tensor_is_contiguous(const thunder_tensor *tensor) THUNDER_NOEXCEPT;
size_t thunder_tensor_nbytes(const thunder_tensor *tensor) THUNDER_NOEXCEPT;
/* 1 if it has data; 0 for a proxy, a plain number and a failed tensor. */
int32_t thunder_tensor_is_concrete(const thunder_tensor *tensor) THUNDER_NOEXCEPT;
/* 1 if others show its memory, too: another handle that is a view of it, or of which it is one, or what a consumer got by
 * DLPack. Handles that thunder_tensor_retain() gave are the same one. */
int32_t thunder_tensor_shares_memory(const thunder_tensor *tensor) THUNDER_NOEXCEPT;
/* Why it failed, or NULL. */
THUNDER_CHECK thunder_status *thunder_tensor_status(const thunder_tensor *tensor) THUNDER_NOEXCEPT;

/* Copies all elements to or from dense row-major host memory; `bytes` must be thunder_tensor_nbytes(). Reading waits
 * for the work that makes the data; of a proxy it is THUNDER_PROXY_HAS_NO_DATA, unless its
 * function may break, thunder_tensor_materialize(). Writing changes the tensor in place,
 * so that compiled functions that captured it see the new data. */
THUNDER_CHECK thunder_status *thunder_tensor_read(thunder_tensor *tensor, void *host, size_t bytes) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_tensor_write(thunder_tensor *tensor, const void *host,
    size_t bytes) THUNDER_NOEXCEPT;
/* The address of the first element, in host memory only; mind the strides. A taped scope sees writes through the
 * mutable one only up to this call: ask again before each change. */
THUNDER_CHECK thunder_status *thunder_tensor_data(const thunder_tensor *tensor, const void **out) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_tensor_data_mutable(thunder_tensor *tensor, void **out) THUNDER_NOEXCEPT;

/* ---- dtypes [S] ---- */

typedef struct thunder_dtype_info { /* torch.finfo and torch.iinfo */
    size_t size; /* set it before the call */
    const char *name; /* PyTorch's, "float16"; static */
    int32_t bits;
    int32_t is_real, is_signed; /* of bool, which counts as an integer here, neither */
    int64_t integer_min;        /* of integers; 0 of real dtypes */
    uint64_t integer_max;
    double min, max;            /* the least and the greatest finite number; of 64-bit integers rounded to a double */
    /* Of real dtypes, else 0: the step from 1 to the next number, the least positive numbers, normal and at all, and the
     * power of ten to which decimal numbers are kept. */
    double eps, smallest_normal, smallest_subnormal, resolution;
} thunder_dtype_info;
/* Fills what `out->size` holds. An unknown dtype is refused. */
THUNDER_CHECK thunder_status *thunder_dtype_describe(thunder_dtype dtype, thunder_dtype_info *out) THUNDER_NOEXCEPT;
/* torch.promote_types: the dtype in which both meet. uint16, uint32 and uint64 meet real dtypes and themselves; the rest is
 * refused. */
THUNDER_CHECK thunder_status *thunder_promote_types(thunder_dtype a, thunder_dtype b, thunder_dtype *out) THUNDER_NOEXCEPT;
/* torch.can_cast: whether an op may store results of `from` in a tensor of `to`: not real ones in integers, nor what is not
 * bool in bool. 0 of an unknown dtype. */
int32_t thunder_can_cast(thunder_dtype from, thunder_dtype to) THUNDER_NOEXCEPT;
/* torch.result_type of tensors and plain numbers, any number of them: in which dtype arithmetic on them is done. 0-d tensors
 * count as tensors with dims do only if their category is higher, numbers as they do. */
THUNDER_CHECK thunder_status *thunder_result_type(const thunder_any *operands, size_t n, thunder_dtype *out) THUNDER_NOEXCEPT;

/* How tensors are printed, by the names and with the meaning of torch.set_printoptions: "profile" ("default", "short", "full"),
 * "precision" (4), "threshold" (1000; a float infinity leaves nothing out), "edgeitems" (3), "linewidth" (80), "sci_mode".
 * What is not named stays as it is, but for sci_mode, which then follows each tensor's elements. [S] */
THUNDER_CHECK thunder_status *thunder_context_set_printoptions(thunder_context *context,
    const thunder_options *options) THUNDER_NOEXCEPT;
/* Pushes the text of a tensor as PyTorch prints it, "tensor([1., 2.], dtype=thunder.float64)". Options as above, on top of
 * those of the context. It waits as reading does, and copies from other devices what is shown alone. Of a proxy it is the
 * shape, "tensor(..., size=(2, 3), traced)"; of a failed tensor its error. */
THUNDER_CHECK thunder_status *thunder_tensor_text(thunder_context *context, thunder_tensor *tensor,
    const thunder_options *options_or_null, thunder_values *out) THUNDER_NOEXCEPT;

#endif
