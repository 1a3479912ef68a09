/* Tensors through DLPack, out and in again, in both generations of its structure. */
// covers: capi/dlpack.cpp
#include "test.h"

/* As dlpack.h lays them out. */
typedef struct { int32_t type, id; } device;
typedef struct { uint8_t code, bits; uint16_t lanes; } dtype;
typedef struct {
    void *data;
    device device;
    int32_t ndim;
    dtype dtype;
    int64_t *shape, *strides;
    uint64_t offset;
} dltensor;
struct DLManagedTensor { dltensor tensor; void *context; void (*deleter)(struct DLManagedTensor *); };
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct DLManagedTensorVersioned *);
    uint64_t flags;
    dltensor tensor;
};

static int deleted;
static void count_up(struct DLManagedTensorVersioned *self) { (void)self, deleted++; }

static void round_trip(thunder_context *context)
{
    const int64_t shape[] = { 2, 3 };
    const float data[] = { 1, 2, 3, 4, 5, 6 };
    thunder_tensor *x = test_f32(context, 2, shape, data), *y = NULL;
    struct DLManagedTensorVersioned *m = NULL;
    struct DLManagedTensor *old = NULL;
    const void *ours = NULL, *theirs = NULL;
    OK(thunder_tensor_to_dlpack(x, 1, NULL, &m));
    CHECK(m->major == 1 && m->tensor.ndim == 2 && m->tensor.shape[1] == 3 && m->tensor.strides[0] == 3);
    CHECK(m->tensor.dtype.code == 2 && m->tensor.dtype.bits == 32 && m->tensor.device.type == 1);
    OK(thunder_tensor_from_dlpack(context, m, &y));
    OK(thunder_tensor_data(x, &ours));
    OK(thunder_tensor_data(y, &theirs));
    CHECK(ours == theirs);
    thunder_tensor_release(x); /* y keeps the memory */
    OK(thunder_tensor_to_dlpack_legacy(y, NULL, &old));
    thunder_tensor_release(y);
    OK(thunder_tensor_from_dlpack_legacy(context, old, &y));
    float r[6];
    OK(thunder_tensor_read(y, r, sizeof r));
    CHECK(r[0] == 1 && r[5] == 6);
    thunder_tensor_release(y);
}

/* Where a stream orders the work: the same memory, and no wait for a device. */
static void round_trip_unordered(thunder_context *context)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 1, 2 };
    thunder_tensor *x = test_f32(context, 1, shape, data), *y = NULL;
    struct DLManagedTensorVersioned *m = NULL;
    const void *ours = NULL, *theirs = NULL;
    OK(thunder_tensor_to_dlpack_unordered(x, NULL, &m));
    OK(thunder_tensor_from_dlpack_unordered(context, m, &y));
    OK(thunder_tensor_data(x, &ours));
    OK(thunder_tensor_data(y, &theirs));
    CHECK(ours == theirs);
    thunder_tensor_release(x);
    thunder_tensor_release(y);
}

static void from_others(thunder_context *context)
{
    static float memory[] = { 0, 1, 2, 3, 4, 5 };
    int64_t shape[] = { 3 }, reversed[] = { -2 };
    struct DLManagedTensorVersioned m = { 1, 0, NULL, count_up, 1, /* read-only */
        { memory, { 1, 0 }, 1, { 2, 32, 1 }, shape, reversed, 5 * sizeof(float) } };
    thunder_tensor *x = NULL;
    void *data = NULL;
    float r[3];
    m.tensor.dtype.lanes = 4; /* refused, and still the caller's */
    REFUSED(thunder_tensor_from_dlpack(context, &m, &x), THUNDER_INVALID_ARGUMENT, "lanes");
    m.tensor.dtype.lanes = 1;
    m.major = 9;
    thunder_status *newer = thunder_tensor_from_dlpack(context, &m, &x);
    CHECK(newer != NULL && deleted == 0 && x == NULL);
    thunder_status_release(newer);
    m.major = 1;

    OK(thunder_tensor_from_dlpack(context, &m, &x));
    OK(thunder_tensor_read(x, r, sizeof r));
    CHECK(r[0] == 5 && r[1] == 3 && r[2] == 1);
    REFUSED(thunder_tensor_data_mutable(x, &data), THUNDER_FAILED_PRECONDITION, "read-only");
    struct DLManagedTensor *old = NULL;
    REFUSED(thunder_tensor_to_dlpack_legacy(x, NULL, &old), THUNDER_FAILED_PRECONDITION, "read-only");
    CHECK(deleted == 0);
    thunder_tensor_release(x);
    CHECK(deleted == 1);
}

/* Whether somebody else shows a memory. */
static void shared(thunder_context *context)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 1, 2 };
    thunder_tensor *t = test_f32(context, 1, shape, data), *view = NULL;
    CHECK(!thunder_tensor_shares_memory(NULL) && !thunder_tensor_shares_memory(t));
    OK(thunder_tensor_view(t, 1, shape, NULL, 0, &view));
    CHECK(thunder_tensor_shares_memory(t) && thunder_tensor_shares_memory(view));
    thunder_tensor_release(t);
    CHECK(!thunder_tensor_shares_memory(view));
    struct DLManagedTensorVersioned *managed = NULL;
    OK(thunder_tensor_to_dlpack(view, 1, NULL, &managed));
    CHECK(thunder_tensor_shares_memory(view));
    managed->deleter(managed);
    CHECK(!thunder_tensor_shares_memory(view));
    thunder_tensor_release(view);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    round_trip(context);
    round_trip_unordered(context);
    shared(context);
    from_others(context);
    thunder_context_release(context);
    return 0;
}
