/* thunder/plugin.h: for shared libraries that bring executors, ops, passes and engines of collectives. A plugin includes this
 * file and links nothing: the functions below then go through a table of the host's, so that plugin code and application code read
 * the same and there is never a second copy of the library in a process.
 *
 *     static thunder_status *start(thunder_context *context, const thunder_host_api *host) { ... }
 *     static const thunder_plugin_desc desc = {
 *         sizeof desc, THUNDER_PLUGIN_ABI, THUNDER_PLUGIN_ABI, "mine", "1.0", start };
 *     THUNDER_PLUGIN_MAIN(&desc)
 *
 * cc -shared -fPIC mine.c -o mine.so, and thunder_context_load_plugin(context, "./mine.so"). Compiled into a program with
 * -DTHUNDER_PLUGIN_STATIC=start_mine instead, the same file defines thunder_status *start_mine(thunder_context *), which
 * does what loading it does; `host` is then NULL.
 *
 * Ops are th_NAME(scope, ...) here too: include thunder/ops.h after this file.
 */
#ifndef THUNDER_PLUGIN_H
#define THUNDER_PLUGIN_H
#include "thunder/any.h"
#ifdef __cplusplus
extern "C" {
#endif

#define THUNDER_PLUGIN_ABI 1u

/* What the host offers; grows at its end. A plugin that needs a later field compares `size` with THUNDER_SIZE_UPTO. */
typedef struct thunder_host_api {
    size_t size;
    uint32_t version; /* as thunder_version() */
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
    uint32_t (*node_input_value)(const thunder_node *node, size_t index);
    uint32_t (*node_output_value)(const thunder_node *node, size_t index);
    size_t (*node_line_count)(const thunder_node *node);
    const thunder_node *(*node_line)(const thunder_node *node, size_t index);
    size_t (*node_input_count)(const thunder_node *node);
    size_t (*node_output_count)(const thunder_node *node);
    size_t (*node_arg_count)(const thunder_node *node);
    const char *(*node_arg_name)(const thunder_node *node, size_t index);
    const char *(*node_where)(const thunder_node *node);
    const char *(*node_executor)(const thunder_node *node);
    thunder_status *(*context_add_op)(thunder_context *context, const thunder_op_desc *desc);
    thunder_status *(*context_add_kernel)(thunder_context *context, const char *op, const thunder_kernel_desc *desc);
    void (*types_push)(thunder_types *types, thunder_dtype dtype, thunder_device device, size_t rank,
        const int64_t *shape);
    void (*types_push_like)(thunder_types *types, const thunder_tensor *tensor);
    thunder_status *(*pass_create)(thunder_context *context, const thunder_pass_desc *desc, thunder_pass **out);
    thunder_status *(*context_add_pass)(thunder_context *context, thunder_pass *pass);
    void (*pass_release)(thunder_pass *pass);
    size_t (*editor_line_count)(const thunder_editor *editor);
    const thunder_node *(*editor_line)(thunder_editor *editor, size_t line);
    thunder_scope *(*editor_before)(thunder_editor *editor, size_t line);
    thunder_tensor *(*editor_value)(thunder_editor *editor, uint32_t value);
    thunder_values *(*editor_arguments)(thunder_editor *editor, size_t line);
    void (*editor_replace)(thunder_editor *editor, size_t line, const thunder_values *results);
    void (*editor_delete)(thunder_editor *editor, size_t line);
    thunder_tensor *(*op_invoke)(thunder_scope *scope, const char *name, const thunder_any *args, size_t n_args,
        const char *const *names_or_null, thunder_tensor **results, size_t n_out, const char *where);
    thunder_values *(*op_invoke_all)(thunder_scope *scope, const char *name, const thunder_any *args,
        size_t n_args, const char *const *names_or_null, const char *where);
    thunder_tensor *(*scope_number)(thunder_scope *scope, const thunder_any *number);
    thunder_values *(*scope_list)(thunder_scope *scope, thunder_tensor *const *tensors, size_t count);
    thunder_status *(*scope_status)(thunder_scope *scope);
    void (*scope_fail)(thunder_scope *scope, thunder_status *stolen);
    size_t (*values_count)(const thunder_values *values);
    size_t (*values_find)(const thunder_values *values, const char *path);
    thunder_kind (*values_kind)(const thunder_values *values, size_t leaf);
    thunder_tensor *(*values_tensor)(const thunder_values *values, size_t leaf);
    int64_t (*values_i64)(const thunder_values *values, size_t leaf);
    double (*values_f64)(const thunder_values *values, size_t leaf);
    const char *(*values_str)(const thunder_values *values, size_t leaf, size_t *bytes_or_null);
    thunder_status *(*values_get)(const thunder_values *values, size_t leaf, thunder_any *out);
    void (*values_push)(thunder_values *values, const thunder_any *leaf);
    void (*values_push_tensor)(thunder_values *values, thunder_tensor *tensor_or_null);
    thunder_status *(*context_add_engine)(thunder_context *context, const thunder_engine_desc *desc);
} thunder_host_api;

/* What the plugin is; static storage. The host's THUNDER_PLUGIN_ABI must lie between abi_min and abi_max. */
typedef struct thunder_plugin_desc {
    size_t size;
    uint32_t abi_min, abi_max;
    const char *name, *version;
    /* Registers what the plugin brings, once for each context that loads it. */
    thunder_status *(*start)(thunder_context *context, const thunder_host_api *host);
} thunder_plugin_desc;

/* The one function that a plugin exports, as thunder_plugin_query_v1. */
typedef thunder_status *(*thunder_plugin_query)(const thunder_host_api *host, uint32_t abi,
    const thunder_plugin_desc **out);

#ifdef __cplusplus
#define THUNDER_PLUGIN_FUNCTION extern "C"
#else
#define THUNDER_PLUGIN_FUNCTION extern
#endif
#if defined(THUNDER_PLUGIN_STATIC)
#define THUNDER_PLUGIN_MAIN(desc)                                                                              \
    THUNDER_PLUGIN_FUNCTION thunder_status *THUNDER_PLUGIN_STATIC(thunder_context *context);                   \
    thunder_status *THUNDER_PLUGIN_STATIC(thunder_context *context) { return (desc)->start(context, NULL); }
#elif !defined(THUNDER_PLUGIN_HOST) /* the library itself includes this file for the structures only */
extern __attribute__((visibility("hidden"))) const thunder_host_api *thunder_host;
#define THUNDER_PLUGIN_MAIN(desc)                                                                              \
    const thunder_host_api *thunder_host;                                                                      \
    THUNDER_PLUGIN_FUNCTION __attribute__((visibility("default"))) thunder_status *thunder_plugin_query_v1(    \
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
#define thunder_node_input_value thunder_host->node_input_value
#define thunder_node_output_value thunder_host->node_output_value
#define thunder_node_line_count thunder_host->node_line_count
#define thunder_node_line thunder_host->node_line
#define thunder_tensor_dtype thunder_host->tensor_dtype
#define thunder_tensor_device thunder_host->tensor_device
#define thunder_tensor_rank thunder_host->tensor_rank
#define thunder_tensor_size thunder_host->tensor_size
#define thunder_executor_create thunder_host->executor_create
#define thunder_context_add_executor thunder_host->context_add_executor
#define thunder_context_add_engine thunder_host->context_add_engine
#define thunder_executor_release thunder_host->executor_release
#define thunder_node_input_count thunder_host->node_input_count
#define thunder_node_output_count thunder_host->node_output_count
#define thunder_node_arg_count thunder_host->node_arg_count
#define thunder_node_arg_name thunder_host->node_arg_name
#define thunder_node_where thunder_host->node_where
#define thunder_node_executor thunder_host->node_executor
#define thunder_context_add_op thunder_host->context_add_op
#define thunder_context_add_kernel thunder_host->context_add_kernel
#define thunder_types_push thunder_host->types_push
#define thunder_types_push_like thunder_host->types_push_like
#define thunder_pass_create thunder_host->pass_create
#define thunder_context_add_pass thunder_host->context_add_pass
#define thunder_pass_release thunder_host->pass_release
#define thunder_editor_line_count thunder_host->editor_line_count
#define thunder_editor_line thunder_host->editor_line
#define thunder_editor_before thunder_host->editor_before
#define thunder_editor_value thunder_host->editor_value
#define thunder_editor_arguments thunder_host->editor_arguments
#define thunder_editor_replace thunder_host->editor_replace
#define thunder_editor_delete thunder_host->editor_delete
#define thunder_op_invoke thunder_host->op_invoke
#define thunder_op_invoke_all thunder_host->op_invoke_all
#define thunder_scope_number thunder_host->scope_number
#define thunder_scope_list thunder_host->scope_list
#define thunder_scope_status thunder_host->scope_status
#define thunder_scope_fail thunder_host->scope_fail
#define thunder_values_count thunder_host->values_count
#define thunder_values_find thunder_host->values_find
#define thunder_values_kind thunder_host->values_kind
#define thunder_values_tensor thunder_host->values_tensor
#define thunder_values_i64 thunder_host->values_i64
#define thunder_values_f64 thunder_host->values_f64
#define thunder_values_str thunder_host->values_str
#define thunder_values_get thunder_host->values_get
#define thunder_values_push thunder_host->values_push
#define thunder_values_push_tensor thunder_host->values_push_tensor
#endif

#ifdef __cplusplus
}
#endif
#endif
