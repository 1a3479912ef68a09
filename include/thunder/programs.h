/* thunder/programs.h: compiled programs as text that reads back, with a backward, and as files. A part of thunder.h, which includes it. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_PROGRAMS_H)
#define THUNDER_PROGRAMS_H

/* ==== traces [S] ==== */

const char *thunder_trace_name(const thunder_trace *trace) THUNDER_NOEXCEPT;       /* the pass that made it */
double thunder_trace_milliseconds(const thunder_trace *trace) THUNDER_NOEXCEPT;    /* how long that took */
const char *thunder_trace_text(const thunder_trace *trace) THUNDER_NOEXCEPT;       /* a program that reads like Lua */
/* Reads the text form back; runs no code. The error names line and column. */
THUNDER_CHECK thunder_status *thunder_trace_parse(thunder_context *context, const char *text, size_t bytes,
    thunder_trace **out) THUNDER_NOEXCEPT;
/* A function like any other: of one leaf for each i[k] of the trace, which returns its results one after the other, to be
 * called, compiled and differentiated. `captured`: a tensor for each p[k] and c[k], in the order of the text; NULL: those of
 * the function that was compiled. The random state is the context's. Inputs must have the types of the trace, where a
 * symbol stands for any size. */
THUNDER_CHECK thunder_status *thunder_function_from_trace(thunder_trace *trace, const thunder_values *captured_or_null,
    thunder_function **out) THUNDER_NOEXCEPT;
void thunder_trace_release(thunder_trace *trace) THUNDER_NOEXCEPT;

/* The program of one call as a compiled function of its own, which never runs `function` again: torch.jit.trace. What the caller's
 * language decided stays as it was decided for `example_inputs`; where the function allows that, any size of 2 and more fits.
 * Options: those of compile, check_trace (true), check_tolerance (1e-5, relative) and strict (true: no lists and maps as results).
 * The check traces again and compares graphs and captured tensors, runs trace and function on copies of the inputs and compares
 * all results: on `check_inputs`, or else on the example. What it finds is THUNDER_FAILED_PRECONDITION, whose message shows the
 * first op that differs with both source lines, the constant, or the result with its largest error. */
THUNDER_CHECK thunder_status *thunder_function_trace(thunder_function *function, const thunder_values *example_inputs,
    const thunder_options *options_or_null, const thunder_values *const *check_inputs_or_null, size_t check_count,
    thunder_compiled **out) THUNDER_NOEXCEPT;

/* ==== forward and backward programs [S]: docs/programs.md ==== */

/* [O] Calls it inside a scope: inlined while tracing, else as one program. In a taped scope that program also gives what its
 * gradient needs, and thunder_scope_grad() runs a second one, which is compiled for the results that the loss depends on and the
 * arguments and captured tensors whose gradients are asked for. Op by op instead, as thunder_function_apply(): where the options
 * `disable`, `fullgraph` = false or `cache` = "no caching" or the context's stance ask for it, where the function reads values,
 * which the log says (level 2), and where the results depend on a tensor that the function writes in place. */
thunder_values *thunder_compiled_apply(thunder_scope *scope, thunder_compiled *compiled,
    const thunder_values *in) THUNDER_NOEXCEPT;
/* The stages of the backward program that ran last in a taped scope; 0 before there is one. The forward is then the program
 * compiled last. */
size_t thunder_compiled_backward_trace_count(const thunder_compiled *compiled) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_compiled_backward_trace(const thunder_compiled *compiled, size_t stage,
    thunder_trace **out) THUNDER_NOEXCEPT;

/* ==== sizes that vary [S] ==== */

/* Says of one dim of a tensor that compiled functions given it will see other sizes, of `min` to `max`: they are traced with a
 * symbol in its place, from the next compile on. Where that cannot be, the call is THUNDER_FAILED_PRECONDITION; with `maybe` the
 * size is then a plain one. A negative dim counts from the back. The context holds a reference to the tensor until a later mark
 * or compile finds that nobody else does. docs/dynamic.md. */
THUNDER_CHECK thunder_status *thunder_mark_dynamic(thunder_context *context, thunder_tensor *tensor, int32_t dim,
    int64_t min, int64_t max) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_maybe_mark_dynamic(thunder_context *context, thunder_tensor *tensor,
    int32_t dim) THUNDER_NOEXCEPT;
/* The size of this dim stands for no other. */
THUNDER_CHECK thunder_status *thunder_mark_static(thunder_context *context, thunder_tensor *tensor,
    int32_t dim) THUNDER_NOEXCEPT;
/* A size of a tensor that is not read as a number, [O]: where the traced function has a symbol for it a word, good in this scope alone,
 * for its formula; else the size itself. Wherever an op takes integers, or a list of them, it takes words. -1: there is no such axis. */
thunder_dim thunder_tensor_dim(thunder_scope *scope, const thunder_tensor *tensor, int32_t axis) THUNDER_NOEXCEPT;
/* An integer among the arguments that is not read as a number: in a function that is traced with a symbol for it a word, as above; else
 * the integer itself. Where an op takes an integer or a number it takes the word. thunder_values_i64() reads it. */
thunder_dim thunder_values_dim(const thunder_values *values, size_t leaf) THUNDER_NOEXCEPT;
int32_t thunder_dim_is_symbolic(thunder_dim dim) THUNDER_NOEXCEPT;
/* Of words and numbers, [O]: '+', '-', '*', '/' (floor division) and '%', by a positive divisor. 0 after an error. */
thunder_dim thunder_dim_make(thunder_scope *scope, char operation, thunder_dim a, thunder_dim b) THUNDER_NOEXCEPT;
/* "==", "!=", "<", "<=", ">" or ">=", [O]: as it is for the sizes of this call. A program is used where it is the same. */
int32_t thunder_dim_compare(thunder_scope *scope, thunder_dim a, const char *comparison, thunder_dim b) THUNDER_NOEXCEPT;
/* The number, [O]: from here on the trace is for this size alone. */
int64_t thunder_dim_value(thunder_scope *scope, thunder_dim dim) THUNDER_NOEXCEPT;
/* What the program compiled last is guarded by, a formula each line; "" before there is one. [X] */
const char *thunder_compiled_guards_report(thunder_compiled *compiled) THUNDER_NOEXCEPT;

/* ==== functions that read values [S]: docs/segments.md ==== */

/* Gives a proxy its data where its function need be no one program (option `fullgraph` = false): what was recorded so far is
 * compiled and run, the tensor is concrete from here on, and *concrete is 1; so it is at once of a concrete tensor. 0, and nothing
 * happens: a proxy of a function that is traced whole. `where`, copied, is "file:line" for reports, or NULL: the line that made it.
 * thunder_tensor_read() and whatever else needs data do the same without a place. Errors are those of compiling and running, which
 * stick in the function's scope, and THUNDER_PROXY_HAS_NO_DATA inside of a transform or an op. */
THUNDER_CHECK thunder_status *thunder_tensor_materialize(thunder_tensor *tensor, const char *where_or_null,
    int32_t *concrete) THUNDER_NOEXCEPT;
/* Where and why the function was no one program, a place each line: "file:line: the value of sum, f32[], was read, after 3 lines;
 * 7 times". "" while it always was. [X] */
const char *thunder_compiled_breaks_report(thunder_compiled *compiled) THUNDER_NOEXCEPT;
/* The same as JSON: a list of {"where", "reason", "lines", "times"}. [X] */
const char *thunder_compiled_graph_breaks(thunder_compiled *compiled) THUNDER_NOEXCEPT;

/* ==== programs in files [S] ==== */

/* Writes the programs that `compiled` keeps, which calls or preparations made: traces, options, the structure of arguments and
 * results, and the tensors that were captured. The layout is that of safetensors: docs/programs.md. */
THUNDER_CHECK thunder_status *thunder_program_save(thunder_compiled *compiled, const char *path) THUNDER_NOEXCEPT;
/* The same with the machine code of their kernels for the CPU, which this build of the library runs without LLVM on a machine of
 * the same kind. THUNDER_FAILED_PRECONDITION: there is no LLVM here. */
THUNDER_CHECK thunder_status *thunder_program_compile_ahead(thunder_compiled *compiled, const char *path) THUNDER_NOEXCEPT;
/* Needs nothing but the library and the ops that were used. A call must be like one of those that were made before saving. Options
 * that are given come before those in the file. No code of the file's runs, unless the option `run_saved_kernels` (boolean) is
 * true: then the machine code that thunder_program_compile_ahead() wrote runs in place of compiling, with all that the process may
 * do, so it must come from where programs may come from. Where it is for another machine or build the log says so (level 2), and
 * kernels are compiled; without LLVM that is THUNDER_FAILED_PRECONDITION. The option `program` (integer, from 1) loads that one of
 * several alone. THUNDER_DATA_LOST: the file is damaged, or no program; THUNDER_UNIMPLEMENTED: it is of a later version.
 * An ONNX model is told by its content, and is a function of its inputs, in their order or as a map of their names: docs/onnx.md. The
 * option `outputs` ("a,b") names the values that it gives in place of its outputs. What of it cannot be imported is refused by a call
 * that needs it, with the node's number and name. */
THUNDER_CHECK thunder_status *thunder_program_load(thunder_context *context, const char *path,
    const thunder_options *options_or_null, thunder_compiled **out) THUNDER_NOEXCEPT;
/* The same of a file that lies in memory, which is copied. An ONNX model has no files beside it then. */
THUNDER_CHECK thunder_status *thunder_program_load_bytes(thunder_context *context, const void *data, size_t bytes,
    const thunder_options *options_or_null, thunder_compiled **out) THUNDER_NOEXCEPT;
/* The weights of a program that an ONNX model is, under their names there: to be trained, saved, moved to a device or shared. Calls
 * follow what changes. THUNDER_NOT_FOUND: the function was not loaded from such a file. */
THUNDER_CHECK thunder_status *thunder_compiled_module(const thunder_compiled *compiled,
    thunder_module **out) THUNDER_NOEXCEPT;
/* What it takes and gives, as JSON: {"inputs": [{"name", "dtype", "dims"}], "outputs": ...}, where a dim is a size, or the name of one
 * that varies ("": it has none). Of an ONNX model also its "optional_inputs", in whose place weights stand, its "opsets", its "operators" and how often it has each, its "nodes", and those that are
 * "unsupported", each with the reason. Of a file of saved programs these are the first one's, and "programs" has each, also with its
 * "constants" (inputs that are no tensors), "weights", "weight_bytes" and "operators". "" before a function that is none of a file has been compiled. [X] */
const char *thunder_compiled_signature(thunder_compiled *compiled) THUNDER_NOEXCEPT;
/* Writes a saved program as C into a folder, which is made: NAME.h and NAME.c with one function int NAME(inputs..., outputs...,
 * workspace) over arrays, NAME_kernel_K.o, and NAME_data.S with the tensors that it captured. What they are linked into needs neither
 * this library nor LLVM: docs/programs.md. Options: `name` (the file's), `cpu` as LLVM names it ("x86-64-v3"; "native": this one) and
 * `program` (1), where the file holds several. For the CPU; THUNDER_UNIMPLEMENTED names the op and the line of a step that C is not
 * written for. */
THUNDER_CHECK thunder_status *thunder_program_export_c(thunder_context *context, const char *path, const char *folder,
    const thunder_options *options_or_null) THUNDER_NOEXCEPT;
/* Writes the program that `compiled` keeps as an ONNX model: weights under the names of their modules, sizes that vary as named
 * dims, gradients as nodes. What a call writes is one more output, NAME.new, and an input whose value is what it is now. Options:
 * `opset` (18; 17 to 25), `external_data` (false: weights lie in the model up to 1 GiB together; true: in PATH.data beside it) and
 * `program` (1), where there are several. THUNDER_UNIMPLEMENTED names an op that ONNX has nothing for, why, and the line. */
THUNDER_CHECK thunder_status *thunder_program_export_onnx(thunder_compiled *compiled, const char *path,
    const thunder_options *options_or_null) THUNDER_NOEXCEPT;
/* What it compiles: to be applied in a scope, or differentiated. */
THUNDER_CHECK thunder_status *thunder_compiled_function(const thunder_compiled *compiled,
    thunder_function **out) THUNDER_NOEXCEPT;

/* ==== compiled kernels for other processes [S] ==== */

typedef struct thunder_cache_info { /* filled up to `size`, which the caller sets */
    size_t size;
    uint64_t cpu_kernels, cuda_kernels;
    uint64_t product_choices; /* products that max_autotune timed, and the way that was the fastest */
} thunder_cache_info;
/* torch.compiler's save_cache_artifacts: all kernels that the process has compiled or found on disk since it began, and what
 * max_autotune measured, as one u8[n] tensor, owned. They are of use to this very build of the library on a machine of the
 * same kind. THUNDER_NOT_FOUND: a kernel has been removed from the disk (THUNDER_CACHE_DIR) since. */
THUNDER_CHECK thunder_status *thunder_context_save_cache_artifacts(thunder_context *context, thunder_tensor **out,
    thunder_cache_info *filled_or_null) THUNDER_NOEXCEPT;
/* Later compiles of the process take those kernels in place of compiling the same ones, also without LLVM. `data` is checked,
 * but what it holds is machine code that will run: it must come from where programs may come from. THUNDER_DATA_LOST: it is
 * damaged, or something else; THUNDER_UNIMPLEMENTED: it is of another version; THUNDER_FAILED_PRECONDITION: of another machine
 * or build, and the message says which. Nothing is taken then. */
THUNDER_CHECK thunder_status *thunder_context_load_cache_artifacts(thunder_context *context, const void *data, size_t bytes,
    thunder_cache_info *filled_or_null) THUNDER_NOEXCEPT;

#endif
