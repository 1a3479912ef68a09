/* thunder.h: the stable C interface of libthunder, a deep-learning compiler that you link.
 *
 * A program writes a function of tensors in terms of ops (thunder/ops.h: th_add, th_matmul ...), gives it to
 * thunder_compile(), and calls the result. The same function also runs eagerly, op by op, in an eager scope.
 *
 * FIVE RULES THAT NO FUNCTION BREAKS
 *  1. A returned `thunder_status *` is always owned by the caller; NULL is success.
 *  2. `out` parameters are write-only, never read, written only on success, and what they get is owned.
 *  3. What a function that takes a scope returns belongs to that scope: valid until the scope is reset or ends;
 *     thunder_tensor_retain() keeps a concrete result longer. Other returned pointers are borrowed from the first
 *     argument. Pushing, setting and binding retain; nothing is ever stolen, except the status given to
 *     thunder_scope_fail() and the structure given to thunder_tensor_from_dlpack().
 *  4. A failure inside a scope, a values or an options sticks to it: the first one wins, later calls on it do
 *     nothing, and the call that consumes it returns it. A failed tensor is a real handle (never NULL, rank 0) that
 *     carries its status, so it poisons any other scope it wanders into. As an argument, NULL means only "this
 *     optional argument is absent"; where none is optional it is THUNDER_INVALID_ARGUMENT, never a crash.
 *  5. In a traced function what is read through the scope, a proxy or the given values is guarded: when it differs
 *     at a later call, the function is traced again. What is reached another way (fields behind `user`, globals) is
 *     a constant for ever.
 *
 * CONVENTIONS
 *  Threads: [S] any thread at any time; [X] one thread at a time; [O] only the thread that owns the scope, and that
 *  is checked. A section's label holds for every function below it that has none of its own. A thread that runs
 *  compiled functions, or a part of one, needs 512 KiB of stack.
 *  A handle is released once for each time it was given out or retained; releasing NULL does nothing. A handle knows
 *  its kind and whether it lives: one of another kind, one that was released, whose scope was reset, or that is
 *  released more often than it was given out is THUNDER_INVALID_ARGUMENT, whose message names both kinds, or, where a
 *  function has no place for an error, does nothing, and thunder_handle_status() has the error. Objects keep
 *  what they need alive: a context may be released while things made from it are in use. A callback may release, on
 *  the thread that it runs on, the last handle of anything that the call works on, which goes when the call is over.
 *  A `destroy(user)` that is passed in runs exactly once, also when the call that took it fails, on any thread.
 *  Booleans are int32_t, sizes are size_t, shapes and strides are int64_t in elements (never bytes), text is UTF-8
 *  and ends in NUL. A structure whose first field is `size` grows at its end: set it to sizeof the structure.
 *  Everything here is available since 0.1 unless its comment says a later version.
 */
#ifndef THUNDER_H
#define THUNDER_H
#include <stddef.h>
#include <stdint.h>

#define THUNDER_VERSION_MAJOR 0
#define THUNDER_VERSION_MINOR 1
#define THUNDER_VERSION_PATCH 0
#define THUNDER_VERSION_NUMBER (THUNDER_VERSION_MAJOR * 10000 + THUNDER_VERSION_MINOR * 100 + THUNDER_VERSION_PATCH)

#if defined(__GNUC__)
#define THUNDER_CHECK __attribute__((warn_unused_result)) /* a dropped status is a leak and a lost error */
#else
#define THUNDER_CHECK
#endif
#ifdef __cplusplus
#define THUNDER_NOEXCEPT noexcept
extern "C" {
#else
#define THUNDER_NOEXCEPT
#endif

/* Where a growable structure ends that was compiled when `field` was its last one. */
#define THUNDER_SIZE_UPTO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* ==== types ==== */

typedef struct thunder_status thunder_status;       /* what went wrong; NULL: nothing */
typedef struct thunder_context thunder_context;     /* ops, executors, allocator, log; there are no globals beside it */
typedef struct thunder_tensor thunder_tensor;       /* concrete, a proxy of a traced value, a plain number, or failed */
typedef struct thunder_values thunder_values;       /* a tree of leaves: arguments, results, parameters */
typedef struct thunder_scope thunder_scope;         /* where ops are recorded (tracing) or run (eager) */
typedef struct thunder_function thunder_function;   /* something that can be traced */
typedef struct thunder_compiled thunder_compiled;   /* a function with its cache of compiled programs */
typedef struct thunder_options thunder_options;     /* settings by name */
typedef struct thunder_executor thunder_executor;   /* something that runs ops */
typedef struct thunder_node thunder_node;           /* one line of a trace, lent to a callback */
typedef struct thunder_module thunder_module;       /* parameters, buffers, children and a forward function */
typedef struct thunder_optimizer thunder_optimizer; /* an update rule and its state, which is a module */
typedef struct thunder_schedule thunder_schedule;   /* moves the learning rate of an optimiser */
typedef struct thunder_batches thunder_batches;     /* a data set cut into batches, shuffled or not */
typedef struct thunder_stream thunder_stream;       /* an order of work on a device */
typedef struct thunder_event thunder_event;         /* a point in it */
typedef struct thunder_trace thunder_trace;         /* one stage of a program: immutable, printable */
struct thunder_pass;                                /* rewrites traces: thunder/extend.h */
struct DLManagedTensorVersioned;                    /* DLPack 1.x, from dlpack.h */
struct DLManagedTensor;                             /* DLPack 0.x, from dlpack.h */

typedef int32_t thunder_code; /* an open set: treat one you do not know as a failure */
enum {
    THUNDER_OK = 0,
    THUNDER_CANCELLED = 1,           /* thunder_context_interrupt() stopped it */
    THUNDER_INVALID_ARGUMENT = 3,    /* the caller's mistake */
    THUNDER_DEADLINE_EXCEEDED = 4,   /* another rank did not come in time */
    THUNDER_NOT_FOUND = 5,           /* no op, kind, option, file or tensor has this name */
    THUNDER_OUT_OF_MEMORY = 8,
    THUNDER_FAILED_PRECONDITION = 9, /* right call, wrong moment */
    THUNDER_OUT_OF_RANGE = 11,       /* the caller's mistake, too: there is no such index, or no such dim */
    THUNDER_UNIMPLEMENTED = 12,
    THUNDER_INTERNAL = 13,           /* our mistake: please report it */
    THUNDER_UNAVAILABLE = 14,        /* another rank left */
    THUNDER_DATA_LOST = 15,          /* a file or a tensor holds less than it should */
    THUNDER_DECLINED = 1000,         /* an executor leaves this one to the next */
    THUNDER_PROXY_HAS_NO_DATA = 1001,
    THUNDER_EXPIRED = 1002,          /* a proxy outlived the function it belonged to */
    THUNDER_CALLBACK = 1003,         /* a callback of the caller failed */
    THUNDER_BACKEND = 1004           /* a library or device below us failed */
};

typedef int32_t thunder_dtype; /* DLPack's code << 8 | bits; 0 lets the rule of the op decide */
enum {
    THUNDER_BOOL = 0x0608,
    THUNDER_U8 = 0x0108,
    THUNDER_I8 = 0x0008,
    THUNDER_U16 = 0x0110,
    THUNDER_I16 = 0x0010,
    THUNDER_U32 = 0x0120,
    THUNDER_I32 = 0x0020,
    THUNDER_U64 = 0x0140,
    THUNDER_I64 = 0x0040,
    THUNDER_BF16 = 0x0410,
    THUNDER_F16 = 0x0210,
    THUNDER_F32 = 0x0220,
    THUNDER_F64 = 0x0240
};

typedef int32_t thunder_device; /* DLPack's kind << 16 | index; 0 is the context's default */
#define THUNDER_CPU ((thunder_device)(1 << 16))
#define THUNDER_CUDA(index) ((thunder_device)(2 << 16 | (index)))

typedef int64_t thunder_dim; /* an element of an op's list of integers: sizes, axes */

typedef int32_t thunder_kind;
enum {
    THUNDER_NONE = 0,
    THUNDER_TENSOR = 1,
    THUNDER_INT = 2,
    THUNDER_FLOAT = 3,
    THUNDER_BOOLEAN = 4,
    THUNDER_STRING = 5,
    THUNDER_DIMS = 6,
    THUNDER_FLOATS = 7,
    THUNDER_TENSORS = 8,
    THUNDER_DTYPE = 9,
    THUNDER_DEVICE = 10,
    THUNDER_UINT = 12 /* what ops are given: an integer of 64 bits without a sign, in `i` */
};

/* One leaf: 16 bytes, frozen for ever, may cross in arrays. What it points to is borrowed for the call. */
typedef struct thunder_any {
    thunder_kind kind;
    uint32_t count; /* bytes of a string without its NUL, elements of a list, else 0 */
    union {
        int64_t i; /* INT, UINT (its bits), BOOLEAN (0 or 1), DTYPE, DEVICE */
        double f;
        const char *s;
        const thunder_dim *d;
        const double *fs;
        thunder_tensor *t;
        thunder_tensor *const *ts;
    } u;
} thunder_any;

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* ==== version [S] ==== */

/* THUNDER_VERSION_NUMBER of the library that is running: major * 10000 + minor * 100 + patch. */
uint32_t thunder_version(void) THUNDER_NOEXCEPT;

/* ==== status [S] ==== */

thunder_code thunder_status_code(const thunder_status *status) THUNDER_NOEXCEPT;    /* NULL gives THUNDER_OK */
const char *thunder_status_message(const thunder_status *status) THUNDER_NOEXCEPT;  /* NULL gives "" */
/* For callbacks. `text` is copied, `bytes` long; never NULL: without memory it is a status that says so. */
thunder_status *thunder_status_create(thunder_code code, const char *text, size_t bytes) THUNDER_NOEXCEPT;
/* Lets a binding carry its own exception object through the library: `destroy(object)` runs with the status.
 * [X], before the status is returned. `tag` is copied and tells bindings apart. */
void thunder_status_set_foreign(thunder_status *status, const char *tag, void *object,
    void (*destroy)(void *object)) THUNDER_NOEXCEPT;
/* The object that was set under `tag`, borrowed; NULL if there is none. */
void *thunder_status_foreign(const thunder_status *status, const char *tag) THUNDER_NOEXCEPT;
thunder_status *thunder_status_retain(thunder_status *status) THUNDER_NOEXCEPT;
void thunder_status_release(thunder_status *status) THUNDER_NOEXCEPT;
/* The first mistake with a handle that a function which returns no status met on this thread since this was last
 * asked; NULL: none. With THUNDER_DEBUG_HANDLES=1 in the environment its message, and that
 * of every such error, says where the handle was made and where it was released. [S] */
thunder_status *thunder_handle_status(void) THUNDER_NOEXCEPT;

/* ==== context [S] ==== */

/* The host's own allocator and log, each optional (NULL: ours, and silence), called from any thread. Levels:
 * 0 debug, 1 information, 2 warning, 3 error. */
typedef struct thunder_hooks {
    size_t size;
    void *user;
    void *(*allocate)(size_t bytes, size_t align, void *user); /* NULL when out of memory; give both or neither */
    void (*deallocate)(void *memory, size_t bytes, size_t align, void *user);
    void (*log)(int32_t level, const char *component, const char *text, size_t bytes, void *user);
    void (*destroy)(void *user); /* after the last use, tensors that the hooks allocated included */
    /* Whether the host has reason to stop the call that it waits for, such as a signal that it noted: asked on the thread
     * of the call, some milliseconds apart, while a function is compiled and between the steps of its program. NULL: go on;
     * a status ends the call, which returns it. May call the library. */
    thunder_status *(*check_interrupts)(void *user);
} thunder_hooks;
THUNDER_CHECK thunder_status *thunder_context_create(const thunder_hooks *hooks_or_null,
    thunder_context **out) THUNDER_NOEXCEPT;
thunder_context *thunder_context_retain(thunder_context *context) THUNDER_NOEXCEPT;
void thunder_context_release(thunder_context *context) THUNDER_NOEXCEPT;
/* Stops the calls of compiled functions, and the compilations, that have begun in this context: as soon as the step ends
 * that is running, they return THUNDER_CANCELLED, and no tensor of the caller has changed. A call that has begun to write
 * tensors in place (a training step that updates its parameters), or into results that were bound, ends as if nothing had
 * been asked. Calls that begin later are not concerned. Also for signal handlers. */
void thunder_context_interrupt(thunder_context *context) THUNDER_NOEXCEPT;
/* The random state: an i64[2] host tensor {seed, draws}, borrowed. A program that draws reads and advances it like
 * any captured tensor: write {seed, 0} to seed it, save it to resume. It begins with a seed drawn by the operating system,
 * from 0 to 2^53 - 1, so that contexts which are not seeded draw different numbers. */
thunder_tensor *thunder_context_random(thunder_context *context) THUNDER_NOEXCEPT;
/* Pushes a JSON text onto `out`. `what`: "ops", "modules", "optimizers", "schedules", "options", "printoptions" (with their
 * values now), "executors", "unavailable_executors" (and why they are), "machine" (what schedules are made for),
 * "installation" (libraries, folders and a kernel that is run: what works, what is missing and why), "passes", "memory",
 * "logs" (names for thunder_context_set_logs()), "reports" (those for thunder_compiled_explain()). */
THUNDER_CHECK thunder_status *thunder_context_describe(thunder_context *context, const char *what,
    thunder_values *out) THUNDER_NOEXCEPT;
/* Pushes how an error about an unknown name may end: " (did you mean 'softmax'?)" when one of the names is near, what is
 * to be used instead when PyTorch has the name, all of the names when they are few, else "". */
THUNDER_CHECK thunder_status *thunder_suggest(const char *name, const char *const *names, size_t n_names,
    thunder_values *out) THUNDER_NOEXCEPT;
/* What calls of compiled functions do, by PyTorch's names: "default"; "force_eager": run op by op; "eager_on_recompile": the
 * same where no program fits; "fail_on_recompile": fail there (THUNDER_FAILED_PRECONDITION); "eager_then_compile": only the first
 * such call of a function runs op by op. */
THUNDER_CHECK thunder_status *thunder_context_set_stance(thunder_context *context, const char *stance) THUNDER_NOEXCEPT;
const char *thunder_context_stance(const thunder_context *context) THUNDER_NOEXCEPT;
/* Which executors a compile asks that names none, from now on: "mine,products", the first before the others; host always ends
 * the list. NULL or "": the built-in ones. Rows of "executors" say which are among them. */
THUNDER_CHECK thunder_status *thunder_context_set_default_executors(thunder_context *context,
    const char *names_or_null) THUNDER_NOEXCEPT;
/* Loads a shared library written against thunder/plugin.h, and keeps it for ever. Code of the plugin runs. */
THUNDER_CHECK thunder_status *thunder_context_load_plugin(thunder_context *context, const char *path) THUNDER_NOEXCEPT;
/* Runs a Lua file whose `require "thunder"` is this context: it may load plugins, seed, read files. Executors, ops and
 * passes that it registers live as long as the context. Needs libthunder_lua and Lua 5.4. A script that fails is
 * THUNDER_CALLBACK, with its line, the message and a traceback; one that is not there THUNDER_NOT_FOUND. */
THUNDER_CHECK thunder_status *thunder_context_load_script(thunder_context *context, const char *path) THUNDER_NOEXCEPT;
/* What a script may use, and then the functions that it registered. Guards against mistakes, not against attackers: a
 * script runs in the process. */
typedef struct thunder_script_limits { /* copied; 0: no limit */
    size_t size;
    size_t memory_bytes;    /* of Lua's own memory; tensors are the context's */
    uint64_t instructions;  /* of the file, and of each call of a function that it registered */
    int32_t restricted;     /* 1: nothing that reaches files, processes, plugins or C libraries */
} thunder_script_limits;
THUNDER_CHECK thunder_status *thunder_context_load_script_limited(thunder_context *context, const char *path,
    const thunder_script_limits *limits_or_null) THUNDER_NOEXCEPT;

/* ==== threads and memory of a context [X: while none of its functions run] ==== */

/* How many threads a call may use, its caller among them; at most 1024. 0, as at the start: what THUNDER_NUM_THREADS
 * says, else the processors that the affinity mask and the control group leave the process. They start when they are
 * first needed. */
THUNDER_CHECK thunder_status *thunder_context_set_num_threads(thunder_context *context, size_t threads) THUNDER_NOEXCEPT;
/* The host's own threads in place of the library's; NULL: the library's again. */
typedef struct thunder_thread_pool { /* copied */
    size_t size;
    size_t threads; /* into how many parts a loop is divided at most */
    /* Calls part(0, arg) ... part(parts - 1, arg), each once, on any threads, and returns when all have returned. Called
     * from any thread, by several at a time, and inside a part. */
    void (*run)(size_t parts, void (*part)(size_t index, void *arg), void *arg, void *user);
    void *user;
    void (*destroy)(void *user);
} thunder_thread_pool;
THUNDER_CHECK thunder_status *thunder_context_set_thread_pool(thunder_context *context,
    const thunder_thread_pool *pool_or_null) THUNDER_NOEXCEPT;
/* How many bytes of released tensors are kept for new ones (1 GiB at the start); 0: none. A host that brought an
 * allocator keeps what it likes itself. "memory" of thunder_context_describe() says what it does. */
THUNDER_CHECK thunder_status *thunder_context_set_memory_cache(thunder_context *context, size_t bytes) THUNDER_NOEXCEPT;

/* ==== tensors: a part of this file ==== */

#include "thunder/tensor.h"

/* ==== values [X]: leaves in order, and a structure such as [*,{"mask":*,"x":*}] (map keys in byte order) ==== */

THUNDER_CHECK thunder_status *thunder_values_create(thunder_context *context, thunder_values **out) THUNDER_NOEXCEPT;
thunder_values *thunder_values_retain(thunder_values *values) THUNDER_NOEXCEPT;
void thunder_values_release(thunder_values *values) THUNDER_NOEXCEPT;
void thunder_values_reset(thunder_values *values) THUNDER_NOEXCEPT; /* no leaves, no error */
/* Adds a leaf at the end; a list of tensors becomes a group. Strings and lists are copied. */
void thunder_values_push(thunder_values *values, const thunder_any *leaf) THUNDER_NOEXCEPT;
void thunder_values_push_tensor(thunder_values *values, thunder_tensor *tensor_or_null) THUNDER_NOEXCEPT;
void thunder_values_key(thunder_values *values, const char *name) THUNDER_NOEXCEPT; /* names the next leaf or group */
/* Between open and close, leaves form a list or a map. The tag lets a binding rebuild a type of its own. */
void thunder_values_open(thunder_values *values, int32_t is_map, const char *type_tag_or_null) THUNDER_NOEXCEPT;
void thunder_values_close(thunder_values *values) THUNDER_NOEXCEPT;
void thunder_values_set_tensor(thunder_values *values, size_t leaf, thunder_tensor *tensor) THUNDER_NOEXCEPT;
/* For results: the next calls write this leaf into `tensor` instead of making a new one. NULL unbinds. */
void thunder_values_bind(thunder_values *values, size_t leaf, thunder_tensor *tensor_or_null) THUNDER_NOEXCEPT;

size_t thunder_values_count(const thunder_values *values) THUNDER_NOEXCEPT; /* leaves */
/* The leaf at a path: keys, and positions from 0, such as "1.mask", or of one map or list alone the path in it, "0.weight"; SIZE_MAX if
 * there is none. Without memory to look for it that is an error, which sticks to the values. */
size_t thunder_values_find(const thunder_values *values, const char *path) THUNDER_NOEXCEPT;
const char *thunder_values_structure(const thunder_values *values) THUNDER_NOEXCEPT;
/* The path of a leaf, valid until the next call of this on the values; NULL if there is no such leaf. */
const char *thunder_values_path(thunder_values *values, size_t leaf) THUNDER_NOEXCEPT;
thunder_kind thunder_values_kind(const thunder_values *values, size_t leaf) THUNDER_NOEXCEPT;
/* Never NULL. Of a number leaf: the number as a tensor, which a traced function keeps live, without a guard. No such
 * leaf, or another kind: a failed tensor. */
thunder_tensor *thunder_values_tensor(const thunder_values *values, size_t leaf) THUNDER_NOEXCEPT;
/* A leaf as a plain number or text; in a traced function that is a constant with a guard. No such leaf, or a kind
 * that does not convert exactly: 0 or NULL, and the error sticks to the values. `bytes_or_null` gets the length. */
int64_t thunder_values_i64(const thunder_values *values, size_t leaf) THUNDER_NOEXCEPT;
double thunder_values_f64(const thunder_values *values, size_t leaf) THUNDER_NOEXCEPT;
const char *thunder_values_str(const thunder_values *values, size_t leaf, size_t *bytes_or_null) THUNDER_NOEXCEPT;
/* Any leaf; what it points to is borrowed from the values until the next change. */
THUNDER_CHECK thunder_status *thunder_values_get(const thunder_values *values, size_t leaf,
    thunder_any *out) THUNDER_NOEXCEPT;
/* The first mistake in how it was built or read, or NULL. */
THUNDER_CHECK thunder_status *thunder_values_status(const thunder_values *values) THUNDER_NOEXCEPT;

/* ==== scope [O]: a traced function is given one, an eager program creates one; there is no NULL scope ==== */

enum { THUNDER_SCOPE_TAPED = 1 }; /* eager, and keeps what thunder_scope_grad() needs */
/* An eager scope, owned by the calling thread. flags: 0 or THUNDER_SCOPE_TAPED. [S] */
THUNDER_CHECK thunder_status *thunder_scope_create(thunder_context *context, uint32_t flags,
    thunder_scope **out) THUNDER_NOEXCEPT;
/* Frees the scope's tensors and its error; once an iteration. Not for the scope that a traced function is given. */
void thunder_scope_reset(thunder_scope *scope) THUNDER_NOEXCEPT;
/* [X] Of one that thunder_scope_create() made. */
void thunder_scope_release(thunder_scope *scope) THUNDER_NOEXCEPT;
thunder_context *thunder_scope_context(thunder_scope *scope) THUNDER_NOEXCEPT; /* borrowed */
int32_t thunder_scope_is_tracing(thunder_scope *scope) THUNDER_NOEXCEPT;
/* The first error, or NULL. */
THUNDER_CHECK thunder_status *thunder_scope_status(thunder_scope *scope) THUNDER_NOEXCEPT;
/* Makes an error of the caller the scope's first one; takes `stolen` over in any case. */
void thunder_scope_fail(thunder_scope *scope, thunder_status *stolen) THUNDER_NOEXCEPT;
/* A plain number (INT, UINT, FLOAT, BOOLEAN) as a tensor that promotes by category only: f32 + 2.0 stays f32. A UINT
 * that no INT holds is a tensor of rank 0 and U64. */
thunder_tensor *thunder_scope_number(thunder_scope *scope, const thunder_any *number) THUNDER_NOEXCEPT;
/* Flat values of these tensors. As of all functions that return values: NULL only without a usable scope. */
thunder_values *thunder_scope_list(thunder_scope *scope, thunder_tensor *const *tensors, size_t count) THUNDER_NOEXCEPT;
/* d(loss)/d(wrt) in the structure of wrt, each shaped like its tensor; loss is 0-d. wrt: inputs, captured tensors or
 * intermediates; one that the loss does not reach gives zeros; one that was written in place after the loss used it
 * is an error. Eager scopes must be taped. */
thunder_values *thunder_scope_grad(thunder_scope *scope, thunder_tensor *loss, thunder_values *wrt) THUNDER_NOEXCEPT;
/* Of a traced function: from now on what is recorded on this thread reads and writes `other` where it, or a module that it calls, names
 * this concrete tensor; NULL ends the last one. So a module runs with other parameters, as by torch.func.functional_call. */
void thunder_scope_stand_in(thunder_scope *scope, const thunder_tensor *tensor,
    thunder_tensor *other_or_null) THUNDER_NOEXCEPT;
/* A BOOLEAN for each of these concrete tensors: whether the loss depends on it, as far as the scope recorded. Of others
 * thunder_scope_grad() gives zeros; a training loop leaves them alone. */
thunder_values *thunder_scope_reached(thunder_scope *scope, thunder_tensor *loss,
    const thunder_values *tensors) THUNDER_NOEXCEPT;

/* Mixed precision, as torch.autocast: from now on ops of the scope cast operands that are f32, bf16 or f16. Products,
 * convolutions and attention compute in `dtype` (THUNDER_BF16 or THUNDER_F16); exponentials, norms, losses and sums of many in
 * f32; other ops in the types that they get. Weights stay as they are, and get gradients of their own type. Layers of modules
 * are made of such ops; optimisers and gradients are not affected. 0 ends it. docs/from-pytorch.md says more. */
void thunder_scope_set_autocast(thunder_scope *scope, thunder_dtype dtype) THUNDER_NOEXCEPT;
thunder_dtype thunder_scope_autocast(thunder_scope *scope) THUNDER_NOEXCEPT; /* 0: none */

/* ==== ops [O]: thunder/ops.h is generated over this one function ==== */

/* Runs or records the op `name`, or NAME_ to write the result into the first argument. `args` follow the schema's order
 * or are named one by one (NULL among `names`: positional); missing ones take its defaults, so that it may grow at its
 * end. Returns the first of the results, which belong to the scope, and writes n_out of them to `results`. `where` is
 * "file:line" in static storage, or NULL. */
thunder_tensor *thunder_op_invoke(thunder_scope *scope, const char *name, const thunder_any *args, size_t n_args,
    const char *const *names_or_null, thunder_tensor **results, size_t n_out, const char *where) THUNDER_NOEXCEPT;
/* All results as flat values, for ops whose arguments say how many there are, such as split. */
thunder_values *thunder_op_invoke_all(thunder_scope *scope, const char *name, const thunder_any *args, size_t n_args,
    const char *const *names_or_null, const char *where) THUNDER_NOEXCEPT;

/* ==== functions and compiled functions [S] ==== */

/* Reads `in` through thunder_values_*, computes in the scope, pushes results onto `out`. It runs on the calling
 * thread with no lock held. A returned status is added to the scope's; returning NULL hides no error of the scope.
 * A C++ exception becomes a status; longjmp out of it is forbidden.
 * A compiled function runs it once for inputs of a kind, on tensors without data. What it reads of its own (what `user`
 * points to, globals, files, the clock) is a constant of the program, of which the library knows nothing: after a change
 * thunder_function_touch() has it traced again. What it writes there is written once, not once a call. */
typedef thunder_status *(*thunder_fn)(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user);
THUNDER_CHECK thunder_status *thunder_function_create(thunder_context *context, const char *name, thunder_fn callback,
    void *user, void (*destroy)(void *user), thunder_function **out) THUNDER_NOEXCEPT;
thunder_function *thunder_function_retain(thunder_function *function) THUNDER_NOEXCEPT;
void thunder_function_release(thunder_function *function) THUNDER_NOEXCEPT;
/* Says that something changed which the callback reads beside its arguments: programs in which it was traced are traced again
 * before their next call, or, where facts were given for them, if one of these no longer holds. Of functions that
 * thunder_function_create() made. From any thread. */
THUNDER_CHECK thunder_status *thunder_function_touch(thunder_function *function) THUNDER_NOEXCEPT;
/* NULL: what was read is what it was. Else which it is, and what it was, in words that stay valid until the next call. */
typedef const char *(*thunder_fact)(void *user);
/* In a traced function: what is traced depends on a fact of the host's, which is asked after a touch of `function`, on any
 * thread; `destroy` runs once, also when nothing is traced. */
void thunder_scope_guard(thunder_scope *scope, thunder_function *function, thunder_fact fact, void *user,
    void (*destroy)(void *user)) THUNDER_NOEXCEPT;
/* In a traced function: whether the option `sharp_edges` asks what its trace keeps that no call checks. With `text`, which
 * says what it is, such as "the clock is read once, while it is traced", it is noted, for `where`, "file:line" or NULL. */
int32_t thunder_scope_sharp_edge(thunder_scope *scope, const char *text_or_null, const char *where_or_null) THUNDER_NOEXCEPT;
/* [O] Calls it inside a scope: inlined while tracing, run when eager. */
thunder_values *thunder_function_apply(thunder_scope *scope, thunder_function *function,
    const thunder_values *in) THUNDER_NOEXCEPT;
/* A function of the same arguments that returns [results, gradients]: of its first result, which is 0-d, with respect
 * to the arguments at `wrt_paths` ("0,1.mask"; NULL: every float argument, unless tensors are captured) and then to
 * the tensors of `captured`. */
THUNDER_CHECK thunder_status *thunder_function_value_and_grad(thunder_function *function,
    const char *wrt_paths_or_null, const thunder_values *captured_or_null, thunder_function **out) THUNDER_NOEXCEPT;

/* Compiles nothing yet: each call traces and compiles for what it is given, unless the cache has it. */
THUNDER_CHECK thunder_status *thunder_compile(thunder_function *function, const thunder_options *options_or_null,
    thunder_compiled **out) THUNDER_NOEXCEPT;
thunder_compiled *thunder_compiled_retain(thunder_compiled *compiled) THUNDER_NOEXCEPT;
void thunder_compiled_release(thunder_compiled *compiled) THUNDER_NOEXCEPT;
/* `out` is filled anew; its bound leaves are written into. Calls that write the same captured tensor queue. stream
 * NULL: the context's stream of the device. It does not wait. A proxy among `in` is an error. */
THUNDER_CHECK thunder_status *thunder_compiled_call(thunder_compiled *compiled, thunder_stream *stream_or_null,
    const thunder_values *in, thunder_values *out) THUNDER_NOEXCEPT;
/* The same for flat tensors: the first `n_out` results that are tensors, each owned. */
THUNDER_CHECK thunder_status *thunder_compiled_call_tensors(thunder_compiled *compiled, thunder_tensor *const *in,
    size_t n_in, thunder_tensor **out, size_t n_out) THUNDER_NOEXCEPT;
/* Compiles for these inputs what a call would compile, and runs nothing: to read the traces, and how much memory a call
 * will need, before the first one. */
THUNDER_CHECK thunder_status *thunder_compiled_prepare(thunder_compiled *compiled,
    const thunder_values *in) THUNDER_NOEXCEPT;
/* What thunder_function_create() called what it compiles; "" of NULL. */
const char *thunder_compiled_function_name(const thunder_compiled *compiled) THUNDER_NOEXCEPT;

/* ==== transforms of functions, traces, programs in files, reports: parts of this file ==== */

#include "thunder/transforms.h"
#include "thunder/programs.h"
#include "thunder/reports.h"

/* ==== options [X]: setters stick; who takes the options reports the first unknown name, with the nearest one ==== */

THUNDER_CHECK thunder_status *thunder_options_create(thunder_context *context, thunder_options **out) THUNDER_NOEXCEPT;
void thunder_options_release(thunder_options *options) THUNDER_NOEXCEPT;
void thunder_options_set(thunder_options *options, const char *name, const thunder_any *value) THUNDER_NOEXCEPT;
void thunder_options_set_bool(thunder_options *options, const char *name, int32_t value) THUNDER_NOEXCEPT;
void thunder_options_set_i64(thunder_options *options, const char *name, int64_t value) THUNDER_NOEXCEPT;
void thunder_options_set_f64(thunder_options *options, const char *name, double value) THUNDER_NOEXCEPT;
/* Lists are written "mine,fusion,onednn". */
void thunder_options_set_str(thunder_options *options, const char *name, const char *value) THUNDER_NOEXCEPT;
/* "progress" and "guard_filter_fn", as thunder_context_describe(context, "options") explains them: functions that a
 * compile calls, on its thread and in an eager scope of its own. Calling the function that is compiled is an error there. */
void thunder_options_set_function(thunder_options *options, const char *name,
    thunder_function *function) THUNDER_NOEXCEPT;
/* For this compile only, asked before all others; several are asked in the order added. */
void thunder_options_add_executor(thunder_options *options, thunder_executor *executor) THUNDER_NOEXCEPT;
/* For this compile only, after those of the context. */
void thunder_options_add_pass(thunder_options *options, struct thunder_pass *pass) THUNDER_NOEXCEPT;

/* ==== modules and optimisers, data: parts of this file ==== */

#include "thunder/modules.h"
#include "thunder/data.h"
#include "thunder/scale.h"

/* ==== streams, events and memory of devices: a part of this file ==== */

#include "thunder/devices.h"

/* ==== executors, ops and passes of your own: parts of this file ==== */

#include "thunder/executor.h"
#include "thunder/extend.h"

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#define THUNDER_STATIC_ASSERT static_assert
#else
#define THUNDER_STATIC_ASSERT _Static_assert
#endif
THUNDER_STATIC_ASSERT(sizeof(thunder_any) == 16 && offsetof(thunder_any, u) == 8, "thunder_any is frozen");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || (sizeof(thunder_buffer) == 40 && offsetof(thunder_buffer, rank) == 24),
    "thunder_buffer is frozen");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || THUNDER_SIZE_UPTO(thunder_launch, threads) == 72,
    "thunder_launch grows only at its end");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || THUNDER_SIZE_UPTO(thunder_executor_desc, destroy) == 96,
    "thunder_executor_desc grows only at its end");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || THUNDER_SIZE_UPTO(thunder_op_desc, destroy) == 72,
    "thunder_op_desc grows only at its end");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || THUNDER_SIZE_UPTO(thunder_kernel_desc, destroy) == 56,
    "thunder_kernel_desc grows only at its end");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || THUNDER_SIZE_UPTO(thunder_pass_desc, destroy) == 72,
    "thunder_pass_desc grows only at its end");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || THUNDER_SIZE_UPTO(thunder_script_limits, instructions) == 24,
    "thunder_script_limits grows only at its end");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || THUNDER_SIZE_UPTO(thunder_hooks, destroy) == 48,
    "thunder_hooks grows only at its end");
THUNDER_STATIC_ASSERT(sizeof(void *) != 8 || THUNDER_SIZE_UPTO(thunder_statistics, peak_arena_bytes) == 72,
    "thunder_statistics grows only at its end");
#endif
