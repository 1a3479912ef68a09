/* The interface of plugins as it was first published: what the oldest plugins were compiled against. Frozen; it includes
 * nothing of today's, and its structures are as short as they were. */
#include <stddef.h>
#include <stdint.h>

typedef struct thunder_status thunder_status;
typedef struct thunder_context thunder_context;
typedef struct thunder_tensor thunder_tensor;
typedef struct thunder_executor thunder_executor;
typedef struct thunder_node thunder_node;
typedef struct thunder_any thunder_any;
typedef int32_t thunder_code, thunder_dtype, thunder_device;
enum { THUNDER_DECLINED = 1000, THUNDER_F32 = 0x0220 };

typedef struct thunder_buffer {
    void *data;
    const int64_t *shape, *strides;
    int32_t rank;
    thunder_dtype dtype;
    thunder_device device;
    int32_t reserved;
} thunder_buffer;

typedef struct thunder_launch {
    size_t size;
    const thunder_buffer *inputs;
    size_t n_inputs;
    const thunder_buffer *outputs;
    size_t n_outputs;
    void *scratch;
    void *native_stream;
    thunder_status *(*parallel_for)(const struct thunder_launch *launch, int64_t n, int64_t grain,
        thunder_status *(*body)(int64_t begin, int64_t end, void *arg), void *arg);
    void *threads;
} thunder_launch;

typedef struct thunder_executor_desc {
    size_t size;
    const char *name;
    const char *const *ops;
    size_t n_ops;
    uint32_t flags;
    void *user;
    int32_t (*claim)(const thunder_node *node, void *user);
    int32_t (*claim_region)(const thunder_node *const *nodes, size_t n, uint8_t *taken, void *user);
    thunder_status *(*prepare)(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user);
    thunder_status *(*run)(const thunder_launch *launch, void *state);
    void (*drop)(void *state);
    void (*destroy)(void *user);
} thunder_executor_desc;

#define THUNDER_PLUGIN_ABI 1u
typedef struct thunder_host_api {
    size_t size;
    uint32_t version;
    thunder_status *(*status_create)(thunder_code code, const char *text, size_t bytes);
    void (*status_release)(thunder_status *status);
    thunder_code (*status_code)(const thunder_status *status);
    const char *(*status_message)(const thunder_status *status);
    const char *(*node_op)(const thunder_node *node);
    thunder_tensor *(*node_input)(const thunder_node *node, size_t index);
    thunder_tensor *(*node_output)(const thunder_node *node, size_t index);
    thunder_status *(*node_arg)(const thunder_node *node, const char *name, thunder_any *out);
    thunder_dtype (*tensor_dtype)(const thunder_tensor *tensor);
    thunder_device (*tensor_device)(const thunder_tensor *tensor);
    size_t (*tensor_rank)(const thunder_tensor *tensor);
    int64_t (*tensor_size)(const thunder_tensor *tensor, int32_t axis);
    thunder_status *(*executor_create)(thunder_context *context, const thunder_executor_desc *desc,
        thunder_executor **out);
    thunder_status *(*context_add_executor)(thunder_context *context, thunder_executor *executor);
    void (*executor_release)(thunder_executor *executor);
} thunder_host_api;

typedef struct thunder_plugin_desc {
    size_t size;
    uint32_t abi_min, abi_max;
    const char *name, *version;
    thunder_status *(*start)(thunder_context *context, const thunder_host_api *host);
} thunder_plugin_desc;

extern __attribute__((visibility("hidden"))) const thunder_host_api *thunder_host;
#define THUNDER_PLUGIN_MAIN(desc)                                                                              \
    const thunder_host_api *thunder_host;                                                                      \
    __attribute__((visibility("default"))) thunder_status *thunder_plugin_query_v1(                            \
        const thunder_host_api *host, uint32_t abi, const thunder_plugin_desc **out);                          \
    thunder_status *thunder_plugin_query_v1(const thunder_host_api *host, uint32_t abi,                        \
        const thunder_plugin_desc **out)                                                                       \
    {                                                                                                          \
        (void)abi;                                                                                             \
        thunder_host = host;                                                                                   \
        *out = (desc);                                                                                         \
        return NULL;                                                                                           \
    }
#define thunder_status_create thunder_host->status_create
#define thunder_status_release thunder_host->status_release
#define thunder_status_code thunder_host->status_code
#define thunder_status_message thunder_host->status_message
#define thunder_node_op thunder_host->node_op
#define thunder_node_input thunder_host->node_input
#define thunder_node_output thunder_host->node_output
#define thunder_node_arg thunder_host->node_arg
#define thunder_tensor_dtype thunder_host->tensor_dtype
#define thunder_tensor_device thunder_host->tensor_device
#define thunder_tensor_rank thunder_host->tensor_rank
#define thunder_tensor_size thunder_host->tensor_size
#define thunder_executor_create thunder_host->executor_create
#define thunder_context_add_executor thunder_host->context_add_executor
#define thunder_executor_release thunder_host->executor_release
