/* layer.h: what the C files of the Python package share.
 *
 * Threads: the interpreter's lock is held everywhere but while the library runs a program or an eager op. A thread has
 * one current scope (`here`), which is NULL between traced functions and tapes: then each op has its result at once. */
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <structmember.h>

#include "thunder.h"

/* One for the process, as there is one interpreter. */
extern thunder_context *context;

/* ---- errors: functions give NULL or -1 with an exception set ---- */
extern PyObject *error_type; /* thunder.Error */
/* Raises an Error of that code. */
void raise_message(thunder_code code, PyObject *message);
/* Takes the status over. NULL: 0. Else raises the exception that it carries, or an Error, and returns -1. */
int check_status(thunder_status *status);
/* The same for what gives nothing: None, or NULL. */
PyObject *none_of(thunder_status *status);
/* The exception that is set becomes what a callback returns; `status_or_null` is the library's own, taken over. */
thunder_status *status_of_exception(thunder_status *status_or_null);
/* Of the context's hooks: keeps a warning of the library until the call of this thread shows it, by warnings.warn. -1: it was made
 * an exception. */
void keep_log_line(int32_t level, const char *component, const char *text, size_t bytes, void *user);
int show_warning(void);
/* Of the context's hooks: between the steps of what the main thread runs, Python's signal handlers run there; what they raise
 * ends the call. */
thunder_status *check_signals(void *unused);
/* After an integer could not be converted: -1, and an OverflowError says what did not fit ("zeros: argument 'size'"). */
int integer_failed(PyObject *number, const char *what, ...);
/* "WHAT: " in front of the TypeError or the ValueError that is set, if it is one. */
void error_prefix(const char *what, ...);
/* How an error about an unknown name ends: what is near, or instead of it, or all there are when they are few; a str. */
PyObject *suggestion(const char *name, const char *const *names, size_t count);
/* Any integer object as a count; -1 and an exception, which is an Error that names the value where it is no count. */
int count_from(PyObject *object, const char *what, size_t *out);

/* ---- entering Python from any thread, and its end ---- */
/* Takes the interpreter's lock; false: Python is ending, or has ended. python_leave() follows where it was entered. */
bool python_enter(PyGILState_STATE *state);
void python_leave(PyGILState_STATE state);
/* With the lock, outside of the library: does not return where a callback was refused because Python ends, so that no exception
 * is made of that. */
void block_if_python_ends(void);

/* ---- dtypes and devices: one object for each value, so that `is` compares them ---- */
typedef struct Constant {
    PyObject_HEAD
    thunder_kind kind;
    int32_t value;
} Constant;
extern PyTypeObject *dtype_type, *device_type;
PyObject *constant_of(thunder_kind kind, int32_t value); /* new reference */
const Constant *constant_test(PyObject *object);         /* NULL: it is none */
/* From a Constant, a name or what numpy and Python call types; 0 with an exception. None is 0 without one. */
bool dtype_from(PyObject *object, thunder_dtype *out);
bool device_from(PyObject *object, thunder_device *out);
/* A row of the dtypes that there are. The buffer protocol has no format for bfloat16. */
typedef struct dtype_row {
    const char *name;
    thunder_dtype dtype;
    const char *format;
    Py_ssize_t bytes;
} dtype_row;
PyObject *dtype_names(void);
const dtype_row *dtype_find(thunder_dtype dtype);
const dtype_row *dtype_of_name(const char *name);
const dtype_row *dtype_of_format(const char *format, Py_ssize_t bytes);

/* ---- tensors ---- */
typedef struct Tensor {
    PyObject_HEAD
    thunder_tensor *handle;
    PyObject *weak, *dict;
    bool live;      /* stands for a float that a traced function was given */
    bool parameter; /* nn.Parameter marked it */
    bool known;     /* tensor_of() gives this object for its handle */
} Tensor;
extern PyTypeObject *tensor_type;
static inline bool tensor_test(PyObject *object) { return Py_TYPE(object) == tensor_type; }
static inline thunder_tensor *tensor_handle(PyObject *object) { return ((Tensor *)object)->handle; }
/* 1: it has elements; where its function may break they are computed now. 0: it has none. -1 and an exception. */
int tensor_materialize(thunder_tensor *tensor);
bool shape_test(PyObject *object);            /* whether it is what .shape gives, a tuple */
PyObject *tensor_wrap(thunder_tensor *owned); /* takes it over, also when it fails */
PyObject *tensor_of(thunder_tensor *lent);    /* retains; the known object of it, if there is one */
int tensor_register(PyObject *object);        /* from now on, as long as it is there; -1 and an exception */
/* Memory of an object with the buffer protocol, without a copy where its layout allows; NULL and an exception. */
thunder_tensor *tensor_from_buffer(PyObject *object);
thunder_tensor *tensor_of_elements(PyObject *object); /* the same by a copy */
/* From now on this thread asks a function, of each array that it is to share, whether to copy it instead; None: no more. What it asked before. */
PyObject *swap_array_reader(PyObject *function);
int tensor_note_read(PyObject *tensor, bool shown); /* before its elements are read; -1 and an exception */
int trace_copies_array(PyObject *array); /* what that says; -1 and an exception */
/* Whether it is another library's array or tensor; and that as one of ours, without a copy where its layout allows. NULL and
 * an exception that does not name the argument: see error_prefix(). */
bool foreign_test(PyObject *object);
thunder_tensor *tensor_from_foreign(PyObject *object);
/* numpy's scalars: as Python's bool, int or float, by its kind. NULL without an exception: it is another object. */
bool scalar_test(PyObject *object);
PyObject *scalar_number(PyObject *object);
/* The same for one call, after whose work comes what its library then does on its current stream. */
thunder_tensor *tensor_of_call(PyObject *object);
int tensor_getbuffer(PyObject *self, Py_buffer *view, int flags);
void tensor_releasebuffer(PyObject *self, Py_buffer *view);
PyObject *tensor_data_ptr(PyObject *self, PyObject *unused);
PyObject *tensor_dlpack(PyObject *self, PyObject *args, PyObject *named);
PyObject *tensor_dlpack_device(PyObject *self, PyObject *unused);

/* ---- ops, executors and passes of the user's own ---- */
/* (op, inputs, outputs, args, where, executor, input_values, output_values, lines): what _extend.Node is made of. */
PyObject *node_fields(const thunder_node *node);
PyObject *nodes_fields(const thunder_node *const *nodes, size_t count); /* a tuple of them */
/* A kernel is (name of the op, function): the function gets a list of the inputs, None for what is absent, and where the
 * launch has them a list of the arguments that are no tensors; it gives a tuple of tensors. -1 and an exception. */
int kernel_call(PyObject *kernel, const thunder_launch *launch, const thunder_any *args, size_t n_args);
/* The executor or pass of an option's value; NULL: it is none. */
/* A kernel for CUDA devices, of the fields of th.cuda.Kernel. */
typedef struct cuda_kernel {
    thunder_kernel_desc desc;
    const char **options;
} cuda_kernel;
int cuda_kernel_read(PyObject *fields, cuda_kernel *out); /* -1: the error is set */
void cuda_kernel_free(cuda_kernel *kernel);

thunder_executor *executor_test(PyObject *object);
thunder_pass *pass_test(PyObject *object);

/* ---- scopes ---- */
extern _Thread_local thunder_scope *here;  /* of a traced function, a tape or a module that runs eagerly; or NULL */
extern _Thread_local thunder_scope *eager; /* this thread's own */
static inline bool is_recording(void) { return here && here != eager; }
thunder_scope *scope_now(void); /* NULL and an exception */
/* After each use: -1 if the scope has failed. It must be the last use when the scope is the eager one: call
 * scope_done() once the results are wrapped. */
int scope_check(thunder_scope *scope);
void scope_done(thunder_scope *scope);
/* "file:line" of the innermost frame outside of this package, or what set_place() says, kept for ever; NULL: there is none. */
const char *caller_place(void);
bool frame_is_ours(PyFrameObject *frame);

/* Regions without gradients, of a thread: grad_mode.c. A tape and a traced function take the mode of what is around them, and begin
 * with none; what was taken is put back as they end. */
typedef struct grad_mode {
    bool off;
    thunder_scope *traced; /* the function in which ops get detached tensors; or NULL */
    thunder_scope *tape;   /* that waits until the region ends; or NULL, and so the next two */
    thunder_scope *own, *outer_eager;
} grad_mode;
grad_mode grad_mode_reset(void);
void grad_mode_restore(const grad_mode *taken);

/* ---- trees of leaves ---- */
/* Adds the object as one entry; -1 and an exception. */
int values_add(thunder_values *values, PyObject *object);
/* The results of a function: each member of a tuple, or the single one. */
int values_add_each(thunder_values *values, PyObject *results);
/* All arguments of a call: positional ones, then a group of those with names; `in_order`: whose order is told from another. */
int values_add_call(thunder_values *values, PyObject *const *args, Py_ssize_t count, PyObject *names, bool in_order);
/* The top-level entries as a new list; `named` (may be NULL) gets a dict if the last is a group of named arguments. */
PyObject *values_list(const thunder_values *values, bool traced, PyObject **named);
/* The only entry; a tuple of several; None of none. */
PyObject *values_result(const thunder_values *values, bool traced);
thunder_values *values_new(void); /* NULL and an exception */
PyObject *values_leaf(const thunder_any *leaf);
/* Whether the function that is traced now was given a float, which is a tensor inside. */
extern _Thread_local bool live_numbers;

/* ---- functions that the library calls ---- */
/* What the library knows of a Python callable: a way back to its owner, which may be gone. It holds no reference, so that
 * Python's collector sees every cycle. */
typedef struct callback callback;
callback *callback_new(PyObject *owner, PyObject *(*target)(PyObject *owner));
void callback_spread_results(callback *self); /* a tuple that the function gives becomes a result for each of its members */
/* Where the function is traced, `run` calls it, and `finish` adds to its results; -1 and an exception. */
typedef PyObject *callback_run_fn(PyObject *function, const thunder_values *in, PyObject *args, PyObject *named);
typedef int callback_finish_fn(thunder_values *out);
void callback_set_hooks(callback *self, callback_run_fn *run, callback_finish_fn *finish);
PyObject *callback_owner(const callback *self); /* borrowed; NULL: it is gone */
PyObject *callback_owner_itself(PyObject *owner); /* the target of one that owns itself */
void callback_forget_owner(callback *self); /* the owner goes */
void callback_destroy(void *user);
callback *callback_retain(callback *self);  /* a share more, which callback_destroy() gives back */
thunder_status *callback_run(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user);
/* The owner's function is given to `body`, with the interpreter's lock; -1 and an exception becomes the status. Ops go to the
 * scope; without one they run at once. From any thread. */
thunder_status *callback_enter(const callback *self, thunder_scope *scope_or_null, int (*body)(PyObject *function, void *frame),
                               void *frame);

/* ---- sizes that stand for any: sizes.c ---- */
/* Whether the function that is traced now has seen one: what it raises may then be no error with plain sizes. */
extern _Thread_local bool sizes_given;
extern _Thread_local bool plain_sizes; /* sizes are numbers, for which alone the trace then is */
bool size_test(PyObject *object);
int size_word(PyObject *object, int64_t *out);  /* as ops take it in a list; -1 and an exception */
PyObject *size_object(thunder_dim dim);         /* an int, or a SymInt */

/* ---- compiled functions ---- */
/* Of what is no Python callable; takes both handles over, also when it fails. */
PyObject *compiled_wrap(PyObject *name, thunder_function *function, thunder_compiled *compiled);
thunder_compiled *compiled_test(PyObject *object); /* NULL: it is none */
#define TRACE_CAPSULE "thunder.trace" /* of a trace of a compiled function, with the tensors that it captured */
void compiled_share_host(PyObject *object, PyObject *of); /* both are of one function: what it reads of the host is known to both */
thunder_function *compiled_function(PyObject *object); /* what it compiles. Requires: it is one */

/* ---- options and arguments ---- */
thunder_options *options_from(PyObject *dict_or_none); /* NULL without an exception: none were given */

/* ---- what each file adds to the module: open_FILE, those of the list in its order, once there is a context ---- */
int open_alive(PyObject *module);
int open_errors(PyObject *module);
#define LAYER_FILES(OPEN) \
    OPEN(constants) OPEN(dtypes) OPEN(device) OPEN(streams) OPEN(tensor_objects) OPEN(tensor) OPEN(foreign) OPEN(elements) OPEN(names) \
    OPEN(exchange) OPEN(exchange_function) OPEN(op) OPEN(scope) OPEN(tape) OPEN(grad_mode) OPEN(values) OPEN(compile) OPEN(program) \
    OPEN(jit) OPEN(sizes) OPEN(host) OPEN(writes) OPEN(frames) OPEN(transform) OPEN(module) OPEN(module_list) OPEN(optimizer) OPEN(data) \
    OPEN(mesh) OPEN(extend) OPEN(executor) OPEN(pass) OPEN(traceback) OPEN(openmp) OPEN(described) OPEN(calls)
#define DECLARED(file) int open_##file(PyObject *module);
LAYER_FILES(DECLARED)
#undef DECLARED
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base_or_null);
/* The last line of such a type's dealloc. */
void free_object(PyObject *object);
/* The descr_get of what is called as a method, too: the object that it is taken from comes first. */
PyObject *bind_method(PyObject *object, PyObject *instance, PyObject *type);
/* Puts an object, which it takes over, into a new list or tuple; NULL: that is dropped, and becomes NULL. */
void put_item(PyObject **list, size_t at, PyObject *one_or_null);
