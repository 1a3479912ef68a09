"""Scaled dot product attention. torch saves the logarithm of each row's sum of exponentials, ours the row's maximum and its sum:
a maximum of that logarithm with the sum 1 is the same."""
from .._rows import hidden, meta, op, row, type_of


def _refuse_dropout(dropout_p):
    if dropout_p:
        raise NotImplementedError(f"attention with dropout_p={dropout_p}: write it with torch.nn.attention.sdpa_kernel(SDPBackend.MATH)")


def _grouped(query, key):
    return query.ndim > 2 and query.shape[-3] != key.shape[-3]


def _forward(query, key, value, mask, causal, scale):
    """The result and the logarithms, of shape [batch, heads, rows]."""
    out, top, total = hidden("scaled_dot_product_attention_forward")(query, key, value, mask, causal, scale, _grouped(query, key))
    return out, op["squeeze"](top + op["log"](total), [-1])


def _backward(grad, query, key, value, out, logsumexp, mask, causal, scale):
    rows = query.shape[-2]
    top = op["unsqueeze"](op["slice"](logsumexp, 2, 0, rows), -1)
    return hidden("scaled_dot_product_attention_backward")(grad, query, key, value, out, top, op["ones_like"](top), mask, causal, scale,
                                                           _grouped(query, key))


@row("_scaled_dot_product_flash_attention_for_cpu")
def flash_for_cpu(query, key, value, dropout_p=0.0, is_causal=False, attn_mask=None, scale=None):
    _refuse_dropout(dropout_p)
    return _forward(query, key, value, attn_mask, is_causal, scale)


@row("_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_for_cpu_backward(grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask=None, scale=None):
    return _backward(grad_out, query, key, value, out, logsumexp, attn_mask, is_causal, scale)


# ---- those of CUDA devices ----

def _nothing(node, first):
    """What is left of the results, states of random generators that nothing drew from, and sizes."""
    return tuple(op["zeros"](list(fake.shape), *type_of(node, at)) if hasattr(fake, "shape") else fake
                 for at, fake in enumerate(meta(node)) if at >= first)


def _as_saved(node, logsumexp):
    """Some kernels save more rows than there are."""
    more = meta(node, 1).shape[2] - logsumexp.shape[2]
    return op["pad"](logsumexp, [0, more], "constant", float("inf")) if more else logsumexp


@row("_scaled_dot_product_flash_attention", node=True)
def flash(node, query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, scale=None):
    _refuse_dropout(dropout_p)
    out, logsumexp = _forward(query, key, value, None, is_causal, scale)
    return out, _as_saved(node, logsumexp), *_nothing(node, 2)


@row("_scaled_dot_product_flash_attention_backward")
def flash_backward(grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, philox_seed,
                   philox_offset, scale=None):
    return _backward(grad_out, query, key, value, out, logsumexp, None, is_causal, scale)


@row("_scaled_dot_product_efficient_attention", node=True)
def efficient(node, query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, scale=None):
    _refuse_dropout(dropout_p)
    out, logsumexp = _forward(query, key, value, attn_bias, is_causal, scale)
    if not compute_log_sumexp:
        return out, *_nothing(node, 1)
    return out, _as_saved(node, logsumexp), *_nothing(node, 2)


@row("_scaled_dot_product_efficient_attention_backward")
def efficient_backward(grad_out_, query, key, value, attn_bias, out, logsumexp, philox_seed, philox_offset, dropout_p, grad_input_mask,
                       is_causal=False, scale=None):
    if grad_input_mask[3]:
        raise NotImplementedError("the gradient of attention's mask: write it with torch.nn.attention.sdpa_kernel(SDPBackend.MATH)")
    return *_backward(grad_out_, query, key, value, out, logsumexp, attn_bias, is_causal, scale), None


@row("_scaled_dot_product_cudnn_attention", node=True)
def cudnn(node, query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, return_debug_mask=False, scale=None):
    _refuse_dropout(dropout_p)
    out, logsumexp = _forward(query, key, value, attn_bias, is_causal, scale)
    if not compute_log_sumexp:
        return out, *_nothing(node, 1)
    shape = list(meta(node, 1).shape)
    return out, op["reshape"](logsumexp, shape), *_nothing(node, 2)


@row("_scaled_dot_product_cudnn_attention_backward")
def cudnn_backward(grad_out, query, key, value, out, logsumexp, philox_seed, philox_offset, attn_bias, cum_seq_q, cum_seq_k, max_q,
                   max_k, dropout_p, is_causal, scale=None):
    if logsumexp.ndim == 4:
        logsumexp = op["squeeze"](logsumexp, [-1])
    return _backward(grad_out, query, key, value, out, logsumexp, attn_bias, is_causal, scale)
