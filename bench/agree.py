"""Whether two that are compared compute the same."""


def agree(what, found, wanted, tolerance=1e-4):
    """Requires that two arrays, or two lists of them, differ by no more than `tolerance` of the largest number of `wanted`."""
    pairs = list(zip(found, wanted, strict=True)) if isinstance(wanted, (list, tuple)) else [(found, wanted)]
    for got, want in pairs:
        if tuple(got.shape) != tuple(want.shape):
            raise SystemExit(f"{what}: a result of shape {tuple(got.shape)}, not {tuple(want.shape)}")
        off, most = float(abs(got - want).max()), max(float(abs(want).max()), 1e-6)
        if not off <= tolerance * most:
            raise SystemExit(f"{what}: off by {off:g} where numbers are up to {most:g}")
