"""Ops of which the loop nest is not the whole story, each once for both packages, under PyTorch's names: F has the functions of torch and
torch.nn.functional, linalg_NAME those of torch.linalg, and im2col torch.nn.functional.unfold."""
import dataclasses
import typing
import zlib

import numpy as np


def normal(*shape):
    return lambda draw: draw.standard_normal(shape, dtype=np.float32)


def half(make):
    return lambda draw: make(draw).astype(np.float16)


def uniform(*shape, low=0.0, high=1.0):
    return lambda draw: (low + (high - low) * draw.random(shape, dtype=np.float32)).astype(np.float32)


def below(bound, *shape):
    return lambda draw: draw.integers(0, bound, shape)


def mask(*shape, share=0.5):
    return lambda draw: draw.random(shape, dtype=np.float32) < share


def edges(count):
    """In order."""
    return lambda draw: np.sort(draw.standard_normal(count, dtype=np.float32))


def every(step, count):
    return lambda draw: np.arange(count) * step


def filled(value, count):
    return lambda draw: np.full(count, value)


def definite(*shape):
    """Symmetric matrices whose eigenvalues are positive and apart."""
    def make(draw):
        x = draw.standard_normal(shape, dtype=np.float32)
        return (x @ x.swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1], dtype=np.float32)).astype(np.float32)
    return make


def lower(size):
    return lambda draw: (np.tril(draw.standard_normal((size, size), dtype=np.float32)) / size + np.eye(size)).astype(np.float32)


@dataclasses.dataclass
class Row:
    name: str
    run: typing.Callable             # (F, *tensors): a tensor or several
    inputs: tuple = ()               # what makes an array of draws
    cotangent: typing.Callable = None  # then the gradients by the first `wrt` inputs are what is computed
    wrt: int = 1
    eager: bool = False              # the result's shape depends on values
    compared: int = None             # so many of the results are the same in both packages; the others are a choice between equals

    @property
    def label(self):
        return f"ops: {self.name}"

    def arrays(self):
        """The inputs, and behind them the cotangent. The same for each package."""
        draw = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [make(draw) for make in (*self.inputs, *([self.cotangent] if self.cotangent else []))]


def checksum(results, compared):
    """A number that says whether two packages computed the same: of sizes, since some results are unique but for their signs."""
    total = 0.0
    for array in results[:compared]:
        sizes = np.abs(np.asarray(array).astype(np.float64)).ravel()
        total += float(sizes @ (1 + np.arange(sizes.size) % 13)) / max(1, sizes.size)
    return total


def gates(F, kind, x, *state):
    """A layer of lstm, gru or rnn_tanh; an lstm has two states."""
    states, params = (state[:2], state[2:]) if kind == "lstm" else (state[0], state[1:])
    return getattr(F, kind)(x, states, list(params), True, 1, 0.0, False, False, True)


def recurrent(kind, factor):
    """32 sequences of 64 steps, 256 wide."""
    states = 2 if kind == "lstm" else 1
    weights = [uniform(factor * 256, 256, low=-0.06, high=0.06)] * 2 + [uniform(factor * 256, low=-0.06, high=0.06)] * 2
    return (normal(32, 64, 256), *[normal(1, 32, 256)] * states, *weights)


SORTED = (
    Row("sort 1M", lambda F, x: F.sort(x), (normal(1_000_000),), compared=1),
    Row("sort 1024x4096", lambda F, x: F.sort(x, -1), (normal(1024, 4096),), compared=1),
    Row("sort columns 4096x1024", lambda F, x: F.sort(x, 0), (normal(4096, 1024),), compared=1),
    Row("argsort 1M i64", lambda F, x: F.argsort(x, stable=True), (below(1 << 40, 1_000_000),)),
    Row("topk 50 of 64x50257", lambda F, x: F.topk(x, 50), (normal(64, 50257),), compared=1),
    Row("kthvalue 1024x4096", lambda F, x: F.kthvalue(x, 1000), (normal(1024, 4096),), compared=1),
    Row("median 1024x4096", lambda F, x: F.median(x, -1), (normal(1024, 4096),), compared=1),
    Row("mode 1024x1024 i64", lambda F, x: F.mode(x, -1), (below(100, 1024, 1024),), compared=1),
    Row("unique 1M i64", lambda F, x: F.unique(x, return_inverse=True, return_counts=True), (below(100_000, 1_000_000),), eager=True),
    Row("searchsorted 1M in 10k", lambda F, edges, x: F.searchsorted(edges, x), (edges(10_000), normal(1_000_000))),
    Row("bucketize 4M in 64", lambda F, x, edges: F.bucketize(x, edges), (normal(4_000_000), edges(64))),
    Row("histc 4M", lambda F, x: F.histc(x, 100, -4.0, 4.0), (normal(4_000_000),)),
    Row("bincount 4M", lambda F, x: F.bincount(x), (below(1000, 4_000_000),), eager=True),
)
SCANNED = (
    Row("cumsum 10M", lambda F, x: F.cumsum(x, 0), (normal(10_000_000),)),
    Row("cumsum columns 4096x1024", lambda F, x: F.cumsum(x, 0), (normal(4096, 1024),)),
    Row("cumprod 4096x1024", lambda F, x: F.cumprod(x, 1), (uniform(4096, 1024, low=0.98, high=1.02),)),
    Row("cummax 4096x1024", lambda F, x: F.cummax(x, 1), (normal(4096, 1024),)),
    Row("logcumsumexp 4096x1024", lambda F, x: F.logcumsumexp(x, 1), (normal(4096, 1024),)),
)
INDEXED = (
    Row("nonzero 4M", lambda F, x: F.nonzero(x), (mask(2048, 2048),), eager=True),
    Row("masked_select 4M", lambda F, x, m: F.masked_select(x, m), (normal(4_000_000), mask(4_000_000)), eager=True),
    Row("masked_fill 4M", lambda F, x, m: F.masked_fill(x, m, -1.0), (normal(2048, 2048), mask(2048, 2048))),
    Row("gather 4096x1024", lambda F, x, i: F.gather(x, 1, i), (normal(4096, 1024), below(1024, 4096, 1024))),
    Row("gather f+b 4096x1024", lambda F, x, i: F.gather(x, 1, i), (normal(4096, 1024), below(1024, 4096, 1024)), normal(4096, 1024)),
    Row("take_along_dim columns 4096x1024", lambda F, x, i: F.take_along_dim(x, i, 0), (normal(4096, 1024), below(4096, 4096, 1024))),
    Row("scatter 4096x512", lambda F, x, i, y: F.scatter(x, 1, i, y), (normal(4096, 1024), lambda draw: draw.permuted(
        np.broadcast_to(np.arange(1024), (4096, 1024)), axis=1)[:, :512].copy(), normal(4096, 512))),
    Row("scatter_reduce amax 4096x1024", lambda F, x, i, y: F.scatter_reduce(x, 1, i, y, "amax"),
        (normal(4096, 1024), below(1024, 4096, 1024), normal(4096, 1024))),
    Row("scatter_add 1M in 10k", lambda F, x, i, y: F.scatter_add(x, 0, i, y), (normal(10_000), below(10_000, 1_000_000), normal(1_000_000))),
    Row("index_add 100k rows of 64", lambda F, x, i, y: F.index_add(x, 0, i, y), (normal(10_000, 64), below(10_000, 100_000), normal(100_000, 64))),
    Row("index_select 100k rows of 64", lambda F, x, i: F.index_select(x, 0, i), (normal(10_000, 64), below(10_000, 100_000))),
    Row("index_put 100k", lambda F, x, i, j, y: F.index_put(x, [i, j], y, True),
        (normal(1000, 1000), below(1000, 100_000), below(1000, 100_000), normal(100_000))),
    Row("embedding 16x512 of 256", lambda F, i, w: F.embedding(i, w), (below(50257, 16, 512), normal(50257, 256))),
    Row("embedding f+b 16x512 of 256", lambda F, w, i: F.embedding(i, w), (normal(50257, 256), below(50257, 16, 512)), normal(16, 512, 256)),
    Row("embedding_bag 4096x20 of 128", lambda F, i, w: F.embedding_bag(i, w), (below(100_000, 4096, 20), normal(100_000, 128))),
    Row("one_hot 64k of 128", lambda F, i: F.one_hot(i, 128), (below(128, 1 << 16),)),
)
MOVED = (
    Row("roll 4M", lambda F, x: F.roll(x, [100, 7], [0, 1]), (normal(2048, 2048),)),
    Row("flip 4M", lambda F, x: F.flip(x, [0, 1]), (normal(2048, 2048),)),
    Row("tril 4M", lambda F, x: F.tril(x), (normal(2048, 2048),)),
    Row("cat 4 of 1M", lambda F, *x: F.cat(list(x), 1), (normal(1024, 1024),) * 4),
    Row("stack 4 of 1M, last dim", lambda F, *x: F.stack(list(x), -1), (normal(1024, 1024),) * 4),
    Row("repeat_interleave 1M by 4", lambda F, x: F.repeat_interleave(x, 4, 0), (normal(1024, 1024),)),
    Row("unfold 16x64x56x56, 3x3", lambda F, x: F.im2col(x, [3, 3], [1, 1], [1, 1], [1, 1]), (normal(16, 64, 56, 56),)),
    Row("fold 16x64x56x56, 3x3", lambda F, x: F.fold(x, [56, 56], [3, 3], [1, 1], [1, 1], [1, 1]), (normal(16, 576, 3136),)),
)
POOLED = (
    Row("max_pool1d 64x256x1024", lambda F, x: F.max_pool1d(x, 3, 2), (normal(64, 256, 1024),)),
    Row("max_pool2d 32x64x112x112", lambda F, x: F.max_pool2d(x, 3, 2, 1), (normal(32, 64, 112, 112),)),
    Row("max_pool2d f+b 32x64x112x112", lambda F, x: F.max_pool2d(x, 3, 2, 1), (normal(32, 64, 112, 112),), normal(32, 64, 56, 56)),
    Row("max_pool3d 4x32x16x56x56", lambda F, x: F.max_pool3d(x, 2), (normal(4, 32, 16, 56, 56),)),
    Row("avg_pool2d 32x64x112x112", lambda F, x: F.avg_pool2d(x, 3, 2, 1), (normal(32, 64, 112, 112),)),
    Row("avg_pool2d f+b 32x64x112x112", lambda F, x: F.avg_pool2d(x, 3, 2, 1), (normal(32, 64, 112, 112),), normal(32, 64, 56, 56)),
    Row("avg_pool3d 4x32x16x56x56", lambda F, x: F.avg_pool3d(x, 2), (normal(4, 32, 16, 56, 56),)),
    Row("adaptive_avg_pool2d 32x512x14x14", lambda F, x: F.adaptive_avg_pool2d(x, [7, 7]), (normal(32, 512, 14, 14),)),
    Row("adaptive_max_pool2d 32x64x50x50", lambda F, x: F.adaptive_max_pool2d(x, [7, 7]), (normal(32, 64, 50, 50),)),
    Row("lp_pool2d 16x64x56x56", lambda F, x: F.lp_pool2d(x, 2.0, 2), (normal(16, 64, 56, 56),)),
    Row("interpolate nearest 8x64x64x64 by 2", lambda F, x: F.interpolate(x, scale_factor=[2.0, 2.0], mode="nearest"), (normal(8, 64, 64, 64),)),
    Row("interpolate bilinear 8x64x64x64 by 2", lambda F, x: F.interpolate(x, scale_factor=[2.0, 2.0], mode="bilinear"), (normal(8, 64, 64, 64),)),
    Row("interpolate bicubic 8x16x64x64 by 2", lambda F, x: F.interpolate(x, scale_factor=[2.0, 2.0], mode="bicubic"), (normal(8, 16, 64, 64),)),
    Row("interpolate bilinear f+b 8x64x64x64 by 2", lambda F, x: F.interpolate(x, scale_factor=[2.0, 2.0], mode="bilinear"),
        (normal(8, 64, 64, 64),), normal(8, 64, 128, 128)),
    Row("grid_sample 8x32x128x128", lambda F, x, grid: F.grid_sample(x, grid, align_corners=False),
        (normal(8, 32, 128, 128), uniform(8, 128, 128, 2, low=-1, high=1))),
)
CONVOLVED = (
    Row("conv1d 32x128x1024, 128 k5", lambda F, x, w: F.conv1d(x, w, padding=2), (normal(32, 128, 1024), normal(128, 128, 5))),
    Row("conv1d f+b 32x128x1024, 128 k5", lambda F, x, w: F.conv1d(x, w, padding=2), (normal(32, 128, 1024), normal(128, 128, 5)),
        normal(32, 128, 1024), wrt=2),
    Row("conv3d 2x16x16x56x56, 32 k3", lambda F, x, w: F.conv3d(x, w, padding=1), (normal(2, 16, 16, 56, 56), normal(32, 16, 3, 3, 3))),
    Row("conv2d depthwise 16x128x56x56, k3", lambda F, x, w: F.conv2d(x, w, padding=1, groups=128), (normal(16, 128, 56, 56), normal(128, 1, 3, 3))),
    Row("conv_transpose2d 8x128x28x28, 64 k4", lambda F, x, w: F.conv_transpose2d(x, w, stride=2, padding=1),
        (normal(8, 128, 28, 28), normal(128, 64, 4, 4))),
    Row("group_norm 16x128x56x56", lambda F, x, w, b: F.group_norm(x, 32, w, b), (normal(16, 128, 56, 56), normal(128), normal(128))),
    Row("instance_norm 16x128x56x56", lambda F, x: F.instance_norm(x), (normal(16, 128, 56, 56),)),
    Row("batch_norm f+b 16x128x56x56", lambda F, x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        (normal(16, 128, 56, 56), normal(128), normal(128)), normal(16, 128, 56, 56), wrt=3),
    Row("cross_entropy f+b 16x21x128x128", lambda F, x, y: F.cross_entropy(x, y, reduction="none"),
        (normal(16, 21, 128, 128), below(21, 16, 128, 128)), normal(16, 128, 128)),
    Row("ctc_loss 200x32x80", lambda F, x, y, times, lengths: F.ctc_loss(F.log_softmax(x, -1), y, times, lengths),
        (normal(200, 32, 80), lambda draw: draw.integers(1, 80, (32, 40)), filled(200, 32), filled(40, 32))),
    Row("ctc_loss f+b 200x32x80", lambda F, x, y, times, lengths: F.ctc_loss(F.log_softmax(x, -1), y, times, lengths, reduction="none"),
        (normal(200, 32, 80), lambda draw: draw.integers(1, 80, (32, 40)), filled(200, 32), filled(40, 32)), normal(32)),
    Row("lstm 32x64x256", lambda F, *x: gates(F, "lstm", *x), recurrent("lstm", 4)),
    Row("lstm f+b 32x64x256", lambda F, *x: gates(F, "lstm", *x)[0], recurrent("lstm", 4), normal(32, 64, 256), wrt=7),
    Row("gru 32x64x256", lambda F, *x: gates(F, "gru", *x), recurrent("gru", 3)),
    Row("rnn_tanh 32x64x256", lambda F, *x: gates(F, "rnn_tanh", *x), recurrent("rnn_tanh", 1)),
)
MATRICES = (
    Row("cdist 2048x2048 of 64", lambda F, x, y: F.cdist(x, y), (normal(2048, 64), normal(2048, 64))),
    Row("cdist p=1 1024x1024 of 64", lambda F, x, y: F.cdist(x, y, 1.0), (normal(1024, 64), normal(1024, 64))),
    Row("cholesky 512", lambda F, a: F.linalg_cholesky(a), (definite(512, 512),)),
    Row("cholesky 64 of 64", lambda F, a: F.linalg_cholesky(a), (definite(64, 64, 64),)),
    Row("qr 512", lambda F, a: F.linalg_qr(a), (normal(512, 512),)),
    Row("svd 256", lambda F, a: F.linalg_svd(a), (normal(256, 256),)),
    Row("eigh 256", lambda F, a: F.linalg_eigh(a), (definite(256, 256),)),
    Row("solve 512, 64 columns", lambda F, a, b: F.linalg_solve(a, b), (definite(512, 512), normal(512, 64))),
    Row("inv 512", lambda F, a: F.linalg_inv(a), (definite(512, 512),)),
    Row("det 256 of 64", lambda F, a: F.linalg_det(a), (definite(256, 64, 64),)),
    Row("lstsq 512x256, 16 columns", lambda F, a, b: F.linalg_lstsq(a, b)[0], (normal(512, 256), normal(512, 16))),
    Row("matrix_exp 256", lambda F, a: F.linalg_matrix_exp(a * 0.01), (normal(256, 256),)),
    Row("solve_triangular 512", lambda F, a, b: F.linalg_solve_triangular(a, b, upper=False), (lower(512), normal(512, 512))),
    Row("inv f+b 256", lambda F, a: F.linalg_inv(a), (definite(256, 256),), normal(256, 256)),
    Row("bmm 64x128x128", lambda F, a, b: F.bmm(a, b), (normal(64, 128, 128), normal(64, 128, 128))),
    Row("baddbmm 64x128x128", lambda F, x, a, b: F.baddbmm(x, a, b, beta=0.5), (normal(64, 128, 128),) * 3),
    Row("einsum bhid,bhjd->bhij", lambda F, a, b: einsum(F, "bhid,bhjd->bhij", a, b), (normal(4, 8, 256, 64), normal(4, 8, 256, 64))),
)
DRAWN = (
    Row("randn 4M", lambda F: F.randn([4_000_000]), compared=0),
    Row("bernoulli 4M", lambda F, p: F.bernoulli(p), (uniform(4_000_000),), compared=0),
    Row("multinomial 1000 of 64x10k", lambda F, p: F.multinomial(p, 1000, True), (uniform(64, 10_000),), compared=0),
    Row("randperm 1M", lambda F: F.randperm(1_000_000), compared=0),
)
COMPUTED = (
    Row("erfinv 4M", lambda F, x: F.erfinv(x), (uniform(4_000_000, low=-0.99, high=0.99),)),
    Row("lgamma 4M", lambda F, x: F.lgamma(x), (uniform(4_000_000, low=0.1, high=10),)),
    Row("digamma 4M", lambda F, x: F.digamma(x), (uniform(4_000_000, low=0.1, high=10),)),
    Row("i0 4M", lambda F, x: F.i0(x), (uniform(4_000_000, low=-10, high=10),)),
    Row("std 4096x1024", lambda F, x: F.std(x, 1), (normal(4096, 1024),)),
    Row("var columns 4096x1024", lambda F, x: F.var(x, 0), (normal(4096, 1024),)),
    Row("norm 4M", lambda F, x: F.norm(x), (normal(4_000_000),)),
    Row("logsumexp 4096x1024", lambda F, x: F.logsumexp(x, 1), (normal(4096, 1024),)),
    Row("argmax 4096x1024", lambda F, x: F.argmax(x, 1), (normal(4096, 1024),)),
    Row("argmax 4M", lambda F, x: F.argmax(x), (normal(4_000_000),)),
)
HALVES = (
    Row("matmul 1024 f16", lambda F, a, b: F.matmul(a, b), (half(normal(1024, 1024)), half(normal(1024, 1024)))),
    Row("linear 1x768x3072 f16", lambda F, x, w: F.linear(x, w), (half(normal(1, 768)), half(normal(3072, 768)))),
    Row("conv2d 8x64x28x28, 64 k3 f16", lambda F, x, w: F.conv2d(x, w, padding=1), (half(normal(8, 64, 28, 28)), half(normal(64, 64, 3, 3)))),
    Row("max_pool2d 8x64x56x56 f16", lambda F, x: F.max_pool2d(x, 2), (half(normal(8, 64, 56, 56)),)),
    Row("attention H12 T256 D64 f16", lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v), (half(normal(1, 12, 256, 64)),) * 3),
)
ROWS = SORTED + SCANNED + INDEXED + MOVED + POOLED + CONVOLVED + MATRICES + DRAWN + COMPUTED + HALVES
SECONDS = 0.3  # for which each row is timed


def chosen(arguments):
    """The rows whose names hold one of the words of the first argument, "sort,cum"; all, where there is none."""
    words = arguments[0].split(",") if arguments else [""]
    return [row for row in ROWS if any(word in row.name for word in words)]


def einsum(F, equation, *operands):
    """PyTorch takes the operands one by one, or as a list; so do we."""
    return F.einsum(equation, list(operands))
