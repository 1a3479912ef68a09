/* layer.h: what the files of the Lua layer share.
 *
 * The layer is C, and every resource belongs to a userdata (a box) from the moment it exists: lua_error may then jump
 * from anywhere, because there is no destructor to run and nothing of ours that throws. The one place where a jump
 * would cross C++ is a callback from the library, and callback.c runs it inside lua_pcall. */
#pragma once
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "thunder.h"

/* The limits of a script; 0: none. Made before its Lua state, and freed after it. */
typedef struct limits {
    size_t memory_bytes, used_bytes; /* of Lua's own */
    uint64_t instructions, left;     /* for each entry from the host, and of the one that is running */
    int depth;                       /* entries inside each other */
    bool restricted;
    bool at_limit;                   /* memory was refused that is beyond the limit */
} limits;

/* One for each Lua state. Callbacks that the library keeps hold it too, so that it outlives the state. */
typedef struct layer {
    atomic_int uses;
    pthread_mutex_t lock;     /* held, by one thread any number of times, while Lua runs for the library */
    limits *limits;           /* NULL: none */
    atomic_int registered;    /* executors, ops and passes that the library has of this state */
    bool kept;                /* a script's state that lives for those: it owns no context, and ends with the last one */
    lua_State *running;       /* the coroutine that is calling us; NULL once the state is closed */
    thunder_context *context;
    thunder_scope *eager;     /* made at the first eager op */
    thunder_scope *scope;     /* where ops go now: a traced function's, a tape's, or NULL for the eager one */
    bool symbols;             /* sizes that stand for any are objects now */
    bool made_traced;         /* a tensor or a module was made while a function was traced: see run() of callback.c */
    bool sizes_given;         /* such an object was made since the function that is traced began */
    thunder_status *failed;   /* the error on its way into Lua; here, so that a jump cannot lose it */
    struct place *places;     /* "file:line" texts that traces point to */
    _Atomic(struct kept *) forgotten;
    _Atomic(struct kept *) dropped; /* errors whose status is gone; see errors.c */
    lua_Integer last_error;
    size_t unseen_bytes;      /* memory of tensors on the CPU that Lua's collector has not been told about */
    size_t device_bytes, device_bytes_kept; /* of boxed tensors on devices; after the last collection that was for their sake */
    double next_collection;   /* seconds: from then on one may be made for little garbage */
    lua_Integer last_callback, last_kept;
} layer;

/* Of a value in a table of a Lua state that the library or a status refers to, on any thread. */
typedef struct kept {
    layer *layer;
    lua_Integer id;
    struct kept *next; /* among the layer's forgotten or dropped ones */
} kept;
void kept_free(kept *forgotten);

extern const char layer_key, layer_table_keys[]; /* of the registry */
layer *layer_of(lua_State *L);
void layer_note_made(layer *self); /* a tensor with data, a module or an optimiser */
layer *layer_open(lua_State *L, thunder_context *context_or_null);  /* makes it; raises */
layer *layer_retain(layer *self);
void layer_release(layer *self);
thunder_hooks layer_hooks(layer *self); /* of the context that it makes; they hold the layer */
/* Around every call of the library that may call Lua back: it must do so on the coroutine that is running. */
static inline lua_State *layer_enter(layer *self, lua_State *L)
{
    lua_State *outer = self->running;
    self->running = L;
    return outer;
}
static inline void layer_leave(layer *self, lua_State *outer) { self->running = outer; }
/* Tables of the layer in the registry. */
enum layer_table { TABLE_CONSTANTS, TABLE_CALLBACKS, TABLE_PLACES, TABLE_ERRORS, TABLE_KEPT, TABLE_COUNT };
void layer_push_table(lua_State *L, enum layer_table which);

/* ---- errors: each has the script's line in front ---- */
int refuse(lua_State *L, const char *format, ...);
/* Raises a status, which it takes over, as the Lua error that it carries or as its message; returns if it is NULL. */
void check_status(lua_State *L, thunder_status *status);
/* Raises that there is no memory. */
int refuse_memory(lua_State *L);
/* Whether the error object at `index` says so; Lua's errors carry no code. note_no_memory() makes it of the one on top. */
bool is_no_memory(lua_State *L, int index);
void note_no_memory(lua_State *L);
/* The code of a failed lua_pcall, whose error object is on top. */
thunder_code error_code(lua_State *L, int failed, const limits *limits_or_null);
/* Pops the error object on top; the status carries it from now on. */
void error_attach(lua_State *L, thunder_status *status);
/* Pushes the message at `index` with a traceback of the script's lines, unless it has one or there are none. */
void traceback_add(lua_State *L, int index);
/* "file:line" of the innermost function of the script, kept for the life of the layer; NULL: not called by one. */
const char *script_place(lua_State *L);

/* ---- boxes: userdata that own one handle ---- */
typedef struct box {
    void *handle;
    size_t device_bytes; /* of a tensor on a device */
} box;
enum box_type { BOX_TENSOR, BOX_VALUES, BOX_SCOPE, BOX_OPTIONS, BOX_TRACE, BOX_MODULE, BOX_OPTIMIZER, BOX_SCHEDULE,
                BOX_BATCHES, BOX_COMPILED, BOX_CONSTANT, BOX_EXECUTOR, BOX_PASS, BOX_EDITOR, BOX_MESH, BOX_SIZE, BOX_COUNT };
const char *box_name(enum box_type type);                       /* "thunder.tensor" ... */
void box_define(lua_State *L);                                  /* makes all metatables */
box *box_push(lua_State *L, enum box_type type);                /* an empty one */
void *box_test(lua_State *L, int index, enum box_type type);    /* the handle, or NULL */
void *box_check(lua_State *L, int index, enum box_type type);   /* raises */
/* The userdata itself, for types that are more than one handle. */
void *userdata_check(lua_State *L, int index, enum box_type type);
const char *type_text(lua_State *L, int index);                 /* "a tensor", "a string" ... */

/* ---- memory of tensors: Lua sees a few bytes where a tensor may hold gigabytes ---- */
/* On the CPU: the collector goes on in proportion to them. */
void memory_allocated(lua_State *L, size_t bytes);
/* On a device, as long as the box holds them. */
void memory_allocated_device(lua_State *L, box *tensor, size_t bytes);
void memory_forget_device(lua_State *L, const box *tensor);
/* Before what makes tensors: frees those on devices that the script has dropped, once they are many. */
void memory_collect_garbage(lua_State *L, layer *self);
/* After a failure: whether it was for want of memory, and garbage on devices was freed just now. */
bool memory_can_retry(lua_State *L, layer *self, const thunder_status *failed);

/* ---- constants: dtypes and devices, one userdata for each ---- */
typedef struct constant {
    thunder_kind kind;
    int32_t value;
} constant;
void constant_push(lua_State *L, thunder_kind kind, int32_t value);
const constant *constant_test(lua_State *L, int index);
thunder_device device_check(lua_State *L, int index); /* refuses what is no device */
const char *dtype_name(thunder_dtype dtype);

/* ---- scopes ---- */
/* Whether ops are traced or taped now. The forward of a module that runs eagerly is neither. */
static inline bool layer_recording(const layer *self) { return self->scope && self->scope != self->eager; }
thunder_scope *scope_now(lua_State *L, layer *self);
/* After each use of it: raises the scope's error. */
void scope_check(lua_State *L, layer *self, thunder_scope *scope);
/* Last: frees what the eager scope made, once the results are boxed, unless a module is running in it. */
void scope_done(layer *self, thunder_scope *scope);

/* ---- tensors and trees ---- */
void tensor_push(lua_State *L, thunder_tensor *tensor);          /* retains */
thunder_tensor *tensor_check(lua_State *L, int index);
/* The same for its text; the error is a status. */
thunder_status *tensor_materialized(lua_State *L, thunder_tensor *tensor, int32_t *concrete);
/* Whether it has elements; where its function may break they are computed now. Raises what that raises. */
bool tensor_materialize(lua_State *L, thunder_tensor *tensor);
/* Adds the Lua value as a leaf or a group. NULL, or what cannot be done; raises only without memory. */
const char *values_add(lua_State *L, int index, thunder_values *values);
/* Adds the Lua values from `first` to the top, or raises. */
void values_add_all(lua_State *L, int first, thunder_values *values);
/* Pushes the top-level entries; returns how many. */
int values_push(lua_State *L, const thunder_values *values, bool traced);
thunder_values *values_box(lua_State *L);                       /* pushes a box of new values */
/* Pushes the values that a function of the library put into `out`, or raises its error. */
int values_answer(lua_State *L, const thunder_values *out, thunder_status *status);

/* A box with a table of its own; retains. */
void module_push(lua_State *L, thunder_module *module);

/* ---- integers that stand for any ---- */
/* An integer, or an object for a word; and such an object as its word. */
void size_push(lua_State *L, thunder_dim dim);
bool size_test(lua_State *L, int index, thunder_dim *out);
bool size_or_integer(lua_State *L, int index, thunder_dim *out); /* false: it is neither */

/* ---- functions that the library calls ---- */
/* The callback's `user` for the compiled function or module at `index`, whose Lua function it finds there. */
struct callback *callback_create(lua_State *L, int index);
/* It is given objects for what stands for any. */
void callback_give_symbols(struct callback *self);
/* The option `sharp_edges` was not given for it: warns, with warn(), of the first sharp edge. */
void callback_warn_of_edges(struct callback *self);

/* ---- sharp edges: what a trace keeps that no call checks ---- */

/* The hook of a coroutine, to be put back. */
typedef struct hook_state {
    lua_Hook hook;
    int mask, count;
} hook_state;
hook_state current_hook(lua_State *L);
/* Tells the scope of calls that give something else each time, until edges_end(). With `warns` the user is told instead, of the first. */
void edges_watch(lua_State *L, bool *warns);
void edges_end(lua_State *L, const hook_state *before);
void callback_destroy(void *user);
/* What the function of the compiled one at `compiled` reads beside its arguments: found before it is traced, settled behind that. */
void captured_find(lua_State *L, int compiled);
void captured_drop_changed(lua_State *L, int compiled);
bool captured_changed(lua_State *L, int compiled); /* before a call: whether any of it is another */
thunder_status *callback_run(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user);
/* Runs body(frame) with Lua's lock, in `scope`, or in an eager scope of its own if that is NULL. The status carries
 * what it raised. */
thunder_status *layer_run(layer *self, lua_CFunction body, void *frame, thunder_scope *scope);

/* ---- Lua values that the library keeps: tables that describe executors, ops and passes, and what kernels need ---- */
/* Keeps the value on top, which it pops. Raises. */
kept *kept_create(lua_State *L);
void kept_push(lua_State *L, const kept *self);
/* On any thread. The value goes when the state next keeps one. */
void kept_destroy(void *self);
/* A kept value that is registered in the context: the state of a script lives as long as its last one. */
kept *registered_create(lua_State *L);
void registered_destroy(void *self);
/* The end of a script: closes its state, or leaves it to what it registered. */
void layer_finish(lua_State *L);

/* ---- limits of scripts: `self` may be NULL ---- */
void *limits_allocate(void *self, void *memory, size_t old_bytes, size_t bytes); /* a lua_Alloc */
/* Around each entry from the host. */
void limits_begin(lua_State *L, limits *self);
int core_without_limit(lua_State *L); /* core.without_limit(f): f, whose instructions no limit counts */
void limits_end(lua_State *L, limits *self);
/* The libraries that the script gets. */
void limits_open_libraries(lua_State *L, const limits *self);

/* ---- what executors, kernels and passes see ---- */
void any_push(lua_State *L, const thunder_any *any);
/* A table of what a line is: op, inputs, outputs, args ... */
void node_push(lua_State *L, const thunder_node *node);
/* A function of Lua as a kernel: calls fn of the table on top, { fn, name, SLOT ... }, and stores what it returns, which
 * must be what the outputs are. A slot is 1: the next input; -1 - k: a list of k; { value }: that value. With `args` the
 * values are those, by position. */
void kernel_call(lua_State *L, const thunder_launch *launch, const thunder_any *args);
/* A kernel for CUDA devices of the table at `index`; what the descriptor points to is on the stack. */
void cuda_kernel_read(lua_State *L, int index, thunder_kernel_desc *d);

/* ---- what each file adds to the table `core` that the Lua part builds on: open_FILE, in this order ---- */
#define LAYER_FILES(OPEN) \
    OPEN(errors) OPEN(traceback) OPEN(constant) OPEN(dtypes) OPEN(device) OPEN(tensor) OPEN(sizes) \
    OPEN(elements) OPEN(op) OPEN(scope) OPEN(compile) OPEN(transform) OPEN(trace) OPEN(module) OPEN(optimizer) \
    OPEN(data) OPEN(host) OPEN(edges) OPEN(extend) OPEN(executor) OPEN(pass) OPEN(mesh) OPEN(described) OPEN(calls)
#define DECLARED(file) void open_##file(lua_State *L);
LAYER_FILES(DECLARED)
#undef DECLARED
/* From a table or nil; pushes the box that owns them. */
thunder_options *options_check(lua_State *L, int index);
