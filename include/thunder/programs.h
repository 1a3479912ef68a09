/* thunder/programs.h: compiled programs as text that reads back, and as files. A part of thunder.h, which includes it. */
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

/* ==== programs in files [S] ==== */

/* Writes the programs that `compiled` keeps, which calls or preparations made: traces, options, the structure of arguments and
 * results, and the tensors that were captured. The layout is that of safetensors: docs/programs.md. */
THUNDER_CHECK thunder_status *thunder_program_save(thunder_compiled *compiled, const char *path) THUNDER_NOEXCEPT;
/* Needs nothing but the library and the ops that were used; runs no code of the file's. A call must be like one of those that
 * were made before saving. Options that are given come before those in the file. THUNDER_DATA_LOST: the file is damaged, or no
 * program; THUNDER_UNIMPLEMENTED: it is of a later version. */
THUNDER_CHECK thunder_status *thunder_program_load(thunder_context *context, const char *path,
    const thunder_options *options_or_null, thunder_compiled **out) THUNDER_NOEXCEPT;
/* What it compiles: to be applied in a scope, or differentiated. */
THUNDER_CHECK thunder_status *thunder_compiled_function(const thunder_compiled *compiled,
    thunder_function **out) THUNDER_NOEXCEPT;

#endif
