"""Products on one thread, with a row for each in bench/groups/matmul.cpp; (m, k, n): an input [m, k] and a weight [n, k]."""
SQUARES = (16, 64, 256, 1024)
LINEARS = ((256, 768, 2304), (256, 768, 3072), (256, 3072, 768), (256, 768, 50257), (1, 768, 3072), (1, 768, 50257))
HALVES = ((256, 768, 3072), (1, 768, 3072))  # bf16
FOLLOWED = ((256, 768, 3072), (64, 256, 1024))  # by a bias and GELU


def square(n, dtype="f32"):
    return f"matmul: {n} cubed {dtype}"


def linear(m, k, n, followed=False, dtype="f32"):
    return f"matmul: linear {m}x{k}x{n} {dtype}" + (", bias and GELU" if followed else "")


def calls(flops):
    """Of a repeat of the timing."""
    return int(min(max(2e7 / flops * 40, 1), 20000))
