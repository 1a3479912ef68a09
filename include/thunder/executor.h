/* thunder/executor.h: executors of your own, which run ops, and the nodes that they get. A part of thunder.h, which includes it;
 * thunder/plugin.h is the same for shared libraries that link nothing. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_EXECUTOR_H)
#define THUNDER_EXECUTOR_H

/* ==== executors [S]: one descriptor, in programs and in plugins ==== */

/* A node's tensors are metadata: dtype, rank, sizes. NULL: an optional input that is absent, or no such one; without memory
 * a failed one. Lists of tensors are flattened. */
const char *thunder_node_op(const thunder_node *node) THUNDER_NOEXCEPT;
thunder_tensor *thunder_node_input(const thunder_node *node, size_t index) THUNDER_NOEXCEPT;
thunder_tensor *thunder_node_output(const thunder_node *node, size_t index) THUNDER_NOEXCEPT;
/* Which value that is: within a region and its lines, and among the nodes that claim_region is given, equal numbers are
 * one value. UINT32_MAX of what is absent and of a plain number. */
uint32_t thunder_node_input_value(const thunder_node *node, size_t index) THUNDER_NOEXCEPT;
uint32_t thunder_node_output_value(const thunder_node *node, size_t index) THUNDER_NOEXCEPT;
/* The lines of a region, in order, borrowed from it; 0 and NULL for any other node. A region's op is "region"; its inputs
 * are the values that its lines read from outside, its outputs those that are read outside. */
size_t thunder_node_line_count(const thunder_node *node) THUNDER_NOEXCEPT;
const thunder_node *thunder_node_line(const thunder_node *node, size_t index) THUNDER_NOEXCEPT;
/* An argument that is not a tensor, by its name in the schema; what it points to lives as long as the node. */
THUNDER_CHECK thunder_status *thunder_node_arg(const thunder_node *node, const char *name,
    thunder_any *out) THUNDER_NOEXCEPT;
/* How many there are, absent inputs counted; of the arguments all, in the schema's order, and what each is called. */
size_t thunder_node_input_count(const thunder_node *node) THUNDER_NOEXCEPT;
size_t thunder_node_output_count(const thunder_node *node) THUNDER_NOEXCEPT;
size_t thunder_node_arg_count(const thunder_node *node) THUNDER_NOEXCEPT;
const char *thunder_node_arg_name(const thunder_node *node, size_t index) THUNDER_NOEXCEPT; /* "" beyond the last */
/* The user's "file:line", and the executor that claimed it; "" if there is none. */
const char *thunder_node_where(const thunder_node *node) THUNDER_NOEXCEPT;
const char *thunder_node_executor(const thunder_node *node) THUNDER_NOEXCEPT;

typedef struct thunder_buffer { /* 40 bytes, frozen for ever */
    void *data;
    const int64_t *shape, *strides; /* strides in elements */
    int32_t rank;                   /* -1: an optional input that is absent */
    thunder_dtype dtype;
    thunder_device device;
    int32_t reserved;
} thunder_buffer;

typedef struct thunder_launch { /* made by the library; grows at its end */
    size_t size;
    const thunder_buffer *inputs; /* dense row-major unless THUNDER_EXECUTOR_STRIDED */
    size_t n_inputs;
    const thunder_buffer *outputs; /* placed by the memory plan: fill them */
    size_t n_outputs;
    void *scratch; /* as many bytes as prepare asked for; steps share them: nothing stays there from call to call */
    void *native_stream; /* of the device that the line runs on (CUstream); NULL on the CPU */
    /* Divides [0, n) evenly among the threads of the context, in parts of `grain` items or more, and returns when all
     * is done: NULL, or the first part's failure, owned. Give `grain` some microseconds of work: less is slower in
     * parts. The caller takes part; it does all when the threads are busy, so also inside a body. */
    thunder_status *(*parallel_for)(const struct thunder_launch *launch, int64_t n, int64_t grain,
        thunder_status *(*body)(int64_t begin, int64_t end, void *arg), void *arg);
    void *threads; /* the library's */
    const void *follower; /* the library's */
} thunder_launch;

enum {
    THUNDER_EXECUTOR_STRIDED = 1,      /* takes inputs of any strides */
    THUNDER_EXECUTOR_CALLER_THREAD = 2, /* run must be called on the thread that called the compiled function */
    /* Its regions of elementwise nodes read an element of every input before they write that element of any output, so
     * that an output may lie in an input's memory. */
    THUNDER_EXECUTOR_IN_PLACE = 4,
    /* Is asked about nodes with tensors on CUDA devices too (thunder_tensor_device tells); without it, only about those that
     * are all on the CPU. Buffers of such nodes are in the device's memory, and `run` asks for its work on the launch's
     * native_stream, without waiting for it. */
    THUNDER_EXECUTOR_CUDA = 8
};
typedef struct thunder_kernel_desc thunder_kernel_desc; /* thunder/extend.h */
typedef struct thunder_executor_desc { /* copied */
    size_t size;
    const char *name;
    const char *const *ops; /* those it may claim; none: `claim` is asked about every op */
    size_t n_ops;
    uint32_t flags;
    void *user;
    /* Pure. 0: the next executor is asked, and in the end the node is replaced by its decomposition. NULL: all of `ops`. */
    int32_t (*claim)(const thunder_node *node, void *user);
    /* Fusion executors, else NULL. Gets nodes that the executor claims, in order; others may lie between them. Sets
     * taken[k] for those that form one region with the first; 0: none do. A region is prepared and run like an op. Nodes
     * that depend on one that was not taken are left out of it. */
    int32_t (*claim_region)(const thunder_node *const *nodes, size_t n, uint8_t *taken, void *user);
    /* Once for each node that runs. THUNDER_DECLINED asks the next executor, for the node or for those inside it. */
    thunder_status *(*prepare)(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user);
    /* Hot, from any thread: no handles, no allocation. A status fails the call; its message gets the executor's name. */
    thunder_status *(*run)(const thunder_launch *launch, void *state);
    void (*drop)(void *state); /* once for each successful prepare; may be NULL */
    void (*destroy)(void *user);
    /* Called after memory is planned, or NULL: may adapt the state to the strides, and change the scratch size. `layout`
     * has the inputs and outputs that run will get, without data, and nothing else. Since: 0.1 */
    thunder_status *(*lay_out)(const thunder_node *node, const thunder_launch *layout, void *state,
        size_t *scratch_bytes, void *user);
    /* Called before gradients are taken, or NULL: computes a node that the executor would claim by other ops, as a traced
     * function of the node's arguments, like a decomposition. With an op of its own that has a vjp, an executor's forward
     * gets its own backward. THUNDER_DECLINED leaves the node unchanged. Since: 0.1 */
    thunder_status *(*execution_transform)(thunder_scope *scope, const thunder_node *node, const thunder_values *in,
        thunder_values *out, void *user);
    /* Kernels, each of which runs the op of that name in `kernel_ops`, one of the library's too, where its tensors are all on a
     * device of the kernel's kind, and `claim`, if there is one, does not refuse. These ops need neither be in `ops` nor have
     * prepare and run. A kernel's `destroy` is called with the executor's. Since: 0.1 */
    const thunder_kernel_desc *const *kernels;
    const char *const *kernel_ops;
    size_t n_kernels;
} thunder_executor_desc;
THUNDER_CHECK thunder_status *thunder_executor_create(thunder_context *context, const thunder_executor_desc *desc,
    thunder_executor **out) THUNDER_NOEXCEPT;
/* From now on the option "executors" can name it. */
THUNDER_CHECK thunder_status *thunder_context_add_executor(thunder_context *context,
    thunder_executor *executor) THUNDER_NOEXCEPT;
void thunder_executor_release(thunder_executor *executor) THUNDER_NOEXCEPT;

/* A name for the option "backend": executors that are asked before those of the option "executors", or before the built-in
 * ones, and passes that are left out. One executor whose claim_region takes all that it is given is a backend that gets each
 * trace, gradients taken, as one region. */
typedef struct thunder_backend_desc { /* copied; executors are retained */
    size_t size;
    const char *name, *doc;                /* doc may be NULL */
    thunder_executor *const *executors;    /* asked in this order; none: NULL */
    size_t n_executors;
    const char *executor_names;            /* asked after these: "mine,products", looked up at each compile; NULL: none */
    const char *disable_passes;            /* "cse,fold"; NULL: none */
    const char *tags;                      /* "debug,experimental", for those who list backends; NULL: none */
    int32_t no_fusion;                     /* not 0: executors that claim regions, but for those of its own, are left out */
} thunder_backend_desc;
/* Fails at a name that is taken. Since: 0.1 */
THUNDER_CHECK thunder_status *thunder_context_add_backend(thunder_context *context,
    const thunder_backend_desc *desc) THUNDER_NOEXCEPT;
#endif
