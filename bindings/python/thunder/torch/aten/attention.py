"""Scaled dot product attention. torch saves the logarithm of each row's sum of exponentials, ours the row's maximum and its sum:
a maximum of that logarithm with the sum 1 is the same."""
from ... import _thunder
from .._rows import hidden, op, row, type_of, vjp
from . import random


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
    return _forward(query, key, value, attn_mask, is_causal, scale)


@row("_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_for_cpu_backward(grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask=None, scale=None):
    return _backward(grad_out, query, key, value, out, logsumexp, attn_mask, is_causal, scale)


# ---- dropout of the probabilities: drawn again in the backward, from the state that is saved where torch saves its own ----

def _dropped(query, key, state, dropout_p, mask, causal, scale):
    """The attention of query, key and value that drops what the state says; drawn outside of what is differentiated, which would
    draw anew."""
    shape = [*query.shape[:-1], key.shape[-2]]
    kept = op["to"](op["ge"](random.uniform_of(state, shape, query.device), dropout_p), query.dtype)

    def attention(query, key, value):
        return hidden("scaled_dot_product_attention_forward")(query, key, value, mask, causal, scale, _grouped(query, key), kept,
                                                              1 / (1 - dropout_p))[0]
    return attention


def _drop_forward(like, query, key, value, mask, causal, scale, dropout_p):
    """The result, nothing for the logarithms, which its backward does not read, and the state."""
    state = random.state_of_op(query.device)
    shape = list(like[1].shape)
    out = _dropped(query, key, state, dropout_p, mask, causal, scale)(query, key, value)
    return out, op["zeros"](shape, *type_of(like, 1)), state


def _drop_backward(grad, query, key, value, mask, causal, scale, dropout_p, state):
    return vjp(_dropped(query, key, state, dropout_p, mask, causal, scale), (query, key, value), grad)


# ---- those of CUDA devices ----

def _device_forward(like, query, key, value, mask, causal, scale, dropout_p, rows):
    """(result, logarithms, state): `rows` of them are saved."""
    if dropout_p:
        return _drop_forward(like, query, key, value, mask, causal, scale, dropout_p)
    out, logsumexp = _forward(query, key, value, mask, causal, scale)
    if rows > logsumexp.shape[2]:
        logsumexp = op["pad"](logsumexp, [0, rows - logsumexp.shape[2]], "constant", float("inf"))
    saved = op["reshape"](logsumexp, [*logsumexp.shape, *[1] * (like[1].ndim - 3)])
    return out, saved, op["zeros"]([2], _thunder.int64, query.device)


def _device_backward(grad, query, key, value, out, logsumexp, mask, causal, scale, dropout_p, state):
    if dropout_p:
        return _drop_backward(grad, query, key, value, mask, causal, scale, dropout_p, state)
    if logsumexp.ndim == 4:
        logsumexp = op["squeeze"](logsumexp, [-1])
    return _backward(grad, query, key, value, out, logsumexp, mask, causal, scale)


def _halves(state, like, at):
    """The state where torch saves two numbers."""
    return [op["to"](op["reshape"](state[i], list(like[at + i].shape)), type_of(like, at + i)[0]) for i in range(2)]


def _joined(seed, offset):
    return op["to"](op["stack"]([op["reshape"](seed, []), op["reshape"](offset, [])]), _thunder.int64)


def _absent(like, at):
    """A result that is asked for in other cases only."""
    return None if like[at] is None else op["zeros"]([0], *type_of(like, at))


@row("_scaled_dot_product_flash_attention", results=True, draws="dropout_p")
def flash(like, query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, scale=None):
    out, logsumexp, state = _device_forward(like, query, key, value, None, is_causal, scale, dropout_p, 0)
    saved = op["to"](state, type_of(like, 6)[0])
    return out, logsumexp, None, None, query.shape[-2], key.shape[-2], saved, op["zeros"]([], *type_of(like, 7)), _absent(like, 8)


@row("_scaled_dot_product_flash_attention_backward")
def flash_backward(grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, philox_seed,
                   philox_offset, scale=None):
    state = op["to"](philox_seed, _thunder.int64)
    return _device_backward(grad_out, query, key, value, out, logsumexp, None, is_causal, scale, dropout_p, state)


@row("_scaled_dot_product_efficient_attention", results=True, draws="dropout_p")
def efficient(like, query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, scale=None):
    rows = -(-query.shape[-2] // 32) * 32 if compute_log_sumexp else 0
    out, logsumexp, state = _device_forward(like, query, key, value, attn_bias, is_causal, scale, dropout_p, rows)
    if not compute_log_sumexp:
        logsumexp = op["zeros"](list(like[1].shape), *type_of(like, 1))
    return out, logsumexp, *_halves(state, like, 2)


@row("_scaled_dot_product_efficient_attention_backward")
def efficient_backward(grad_out_, query, key, value, attn_bias, out, logsumexp, philox_seed, philox_offset, dropout_p, grad_input_mask,
                       is_causal=False, scale=None):
    if grad_input_mask[3]:
        raise NotImplementedError("the gradient of attention's mask: call it in torch.nn.attention.sdpa_kernel(SDPBackend.MATH)")
    return *_device_backward(grad_out_, query, key, value, out, logsumexp, attn_bias, is_causal, scale, dropout_p,
                             _joined(philox_seed, philox_offset)), None


@row("_scaled_dot_product_cudnn_attention", results=True, draws="dropout_p")
def cudnn(like, query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, return_debug_mask=False, scale=None):
    out, logsumexp, state = _device_forward(like, query, key, value, attn_bias, is_causal, scale, dropout_p, 0)
    if not compute_log_sumexp:
        logsumexp = op["zeros"](list(like[1].shape), *type_of(like, 1))
    return out, logsumexp, None, None, query.shape[-2], key.shape[-2], *_halves(state, like, 6), _absent(like, 8)


@row("_scaled_dot_product_cudnn_attention_backward")
def cudnn_backward(grad_out, query, key, value, out, logsumexp, philox_seed, philox_offset, attn_bias, cum_seq_q, cum_seq_k, max_q,
                   max_k, dropout_p, is_causal, scale=None):
    return _device_backward(grad_out, query, key, value, out, logsumexp, attn_bias, is_causal, scale, dropout_p,
                            _joined(philox_seed, philox_offset))
