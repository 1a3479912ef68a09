/* thunder/transforms.h: functions made of functions. A part of thunder.h, which includes it. Each is called, inlined, compiled,
 * differentiated and transformed again like any other; it traces its function anew inside each scope in which it is called. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_TRANSFORMS_H)
#define THUNDER_TRANSFORMS_H

/* The function over a batch of examples. in_dims: for each leaf of the arguments the dim that counts the examples, or
 * THUNDER_NO_DIM where it is the same for all; NULL: 0 for each tensor. out_dims: for each tensor of the results where the dim
 * goes; NULL: 0. randomness: what ops do that draw: "error" (NULL), "different", "same". */
#define THUNDER_NO_DIM INT64_MIN
THUNDER_CHECK thunder_status *thunder_function_vmap(thunder_function *function, const int64_t *in_dims_or_null, size_t n_in,
    const int64_t *out_dims_or_null, size_t n_out, const char *randomness_or_null, thunder_function **out) THUNDER_NOEXCEPT;

/* What the next four differentiate: all results, or with this flag the leaves of the first alone; by the tensors of floats at
 * `wrt_paths` ("0,1.mask": leaves or groups; NULL: all). */
#define THUNDER_DIFFERENTIATE_FIRST 1u
/* Of [arguments.., [a tangent for each tensor]], which gives [results.., [their tangents]]. */
THUNDER_CHECK thunder_status *thunder_function_jvp(thunder_function *function, const char *wrt_paths_or_null, uint32_t flags,
    thunder_function **out) THUNDER_NOEXCEPT;
/* Of [arguments.., [a cotangent for each result]], which gives [results.., [a gradient for each tensor]]. */
THUNDER_CHECK thunder_status *thunder_function_vjp(thunder_function *function, const char *wrt_paths_or_null, uint32_t flags,
    thunder_function **out) THUNDER_NOEXCEPT;
/* Of the arguments: for each result a list with its Jacobian by each tensor, of shape result + tensor; then the other results.
 * jacrev costs a backward for each element of the results, jacfwd a forward for each of the tensors, all as one batch. */
THUNDER_CHECK thunder_status *thunder_function_jacrev(thunder_function *function, const char *wrt_paths_or_null, uint32_t flags,
    thunder_function **out) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_function_jacfwd(thunder_function *function, const char *wrt_paths_or_null, uint32_t flags,
    thunder_function **out) THUNDER_NOEXCEPT;
/* jacfwd of jacrev: for each result and tensor a list with the derivative of that Jacobian by each tensor. */
THUNDER_CHECK thunder_status *thunder_function_hessian(thunder_function *function, const char *wrt_paths_or_null,
    thunder_function **out) THUNDER_NOEXCEPT;

/* The same function, of which a backward in a compiled function keeps the arguments only, and computes the rest again. */
THUNDER_CHECK thunder_status *thunder_function_checkpoint(thunder_function *function, thunder_function **out) THUNDER_NOEXCEPT;

#endif
