#!/usr/bin/env python3
"""Prints core/loops/polynomials.h: minimax polynomials of the elementary functions, by Remez' exchange.

Needs mpmath (PyPI), and only whoever refits needs this script. Each fit minimises the largest error relative to the
function that is computed from it; coefficients are rounded to float from the most significant one on, and those that
are not rounded yet are fitted again where that is possible, so that they make up for the roundings.
"""
import mpmath as mp

mp.mp.prec = 400
GRID = 1500


def to_float(value):
    """The float nearest to a number, exactly."""
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, 24)), exponent - 24)


def hexfloat(value):
    head, exponent = float(value).hex().split("p")
    head = head.rstrip("0").rstrip(".") if "." in head else head
    return f"{head}p{exponent}f"


def remez(target, weight, low, high, powers):
    """Coefficients c that make the maximum of |weight * (target - sum(c[i] * x**powers[i]))| least, and it."""
    count = len(powers)
    points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * i / (GRID - 1)) for i in range(GRID)]
    table = [(target(x), weight(x), [x**p for p in powers]) for x in points]
    chosen = [round(i * (GRID - 1) / count) for i in range(count + 1)]
    for _ in range(30):
        rows = [[*table[k][2], (-1) ** i / table[k][1]] for i, k in enumerate(chosen)]
        solved = mp.lu_solve(mp.matrix(rows), mp.matrix([table[k][0] for k in chosen]))
        c, level = list(solved[:count]), abs(solved[count])
        errors = [w * (f - mp.fdot(c, x)) for f, w, x in table]
        worst = max(abs(e) for e in errors)
        if worst <= level * (1 + mp.mpf(10) ** -6):
            break
        chosen = _exchange(errors, count + 1)
    return c, worst


def _exchange(errors, count):
    """The largest error of each run of one sign; the `count` neighbouring ones whose least is largest."""
    peaks = []
    for i, e in enumerate(errors):
        if peaks and (errors[peaks[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > count:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    if len(peaks) < count:
        raise ValueError("the error has too few extremes; widen the interval")
    return peaks


def fit(target, weight, low, high, degree):
    """Float coefficients of degree 0 to `degree`, and the largest weighted error with them."""
    low, high = mp.mpf(low), mp.mpf(high)
    points = [low + (high - low) * i / GRID for i in range(GRID + 1)]

    def error(coefficients):
        return max(abs(weight(x) * (target(x) - mp.polyval(coefficients[::-1], x))) for x in points)

    rest, _ = remez(target, weight, low, high, range(degree + 1))
    fixed = [to_float(rest.pop(0))]
    for power in range(1, degree + 1):
        # On an interval around 0 higher powers alone do not always have a fit that the exchange finds.
        try:
            again, _ = remez(lambda x: target(x) - mp.polyval(fixed[::-1], x), weight, low, high,
                             range(power, degree + 1))
            rest = min(rest, again, key=lambda c: error(fixed + c))
        except (ValueError, ZeroDivisionError):
            pass
        fixed.append(to_float(rest.pop(0)))
    return fixed, error(fixed)


def no_zero(f, at_zero):
    """f with its removable singularity at 0 filled."""
    return lambda x: mp.mpf(at_zero) if abs(x) < mp.mpf(10) ** -12 else f(x)


def polynomials():
    half = mp.log(2) / 2 * mp.mpf("1.001")
    exp_rest = no_zero(lambda r: (mp.exp(r) - 1 - r) / r**2, 0.5)
    exp_weight = lambda r: max(r**2, mp.mpf("1e-9")) / mp.exp(r)
    yield ("kExp", "(exp(r) - 1 - r) / r^2 on |r| <= ln(2)/2", fit(exp_rest, exp_weight, -half, half, 4))
    yield ("kExpRemainder", "(exp(r) - 1 - r) / r^2 on |r| <= ln(2)/16", fit(exp_rest, exp_weight, -half / EXP_PIECES, half / EXP_PIECES, 1))
    yield ("kLog", "(log(1 + f) - f) / f^2 on -1/4 <= f <= 1/2",
           fit(no_zero(lambda f: (mp.log1p(f) - f) / f**2, -0.5),
               lambda f: max(f**2 / abs(mp.log1p(f)), mp.mpf("1e-7")) if f else mp.mpf("1e-7"), "-0.25", "0.5", 8))
    yield ("kTanh", "(tanh(x)/x - 1) / x^2 by x^2 on x <= 0.625",
           fit(no_zero(lambda s: (mp.tanh(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, mp.mpf(-1) / 3),
               lambda s: max(s, mp.mpf("1e-6")) * no_zero(lambda t: mp.sqrt(t) / mp.tanh(mp.sqrt(t)), 1)(s),
               0, "0.390625", 4))
    sin = no_zero(lambda s: (mp.sin(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, mp.mpf(-1) / 6)
    cos = no_zero(lambda s: (mp.cos(mp.sqrt(s)) - 1) / s, mp.mpf(-1) / 2)
    sin_weight = lambda s: max(s, mp.mpf("1e-6")) * no_zero(lambda t: mp.sqrt(t) / mp.sin(mp.sqrt(t)), 1)(s)
    cos_weight = lambda s: max(s, mp.mpf("1e-6")) / mp.cos(mp.sqrt(s))
    quarter, one = (mp.pi / 4 * mp.mpf("1.006")) ** 2, mp.mpf("1.001")
    yield "kSin", "(sin(r)/r - 1) / r^2 by r^2 on |r| <= pi/4", fit(sin, sin_weight, 0, quarter, 2)
    yield "kCos", "(cos(r) - 1) / r^2 by r^2 on |r| <= pi/4", fit(cos, cos_weight, 0, quarter, 3)
    yield "kSinOfOne", "(sin(x)/x - 1) / x^2 by x^2 on |x| <= 1", fit(sin, sin_weight, 0, one, 3)
    yield "kCosOfOne", "(cos(x) - 1) / x^2 by x^2 on |x| <= 1", fit(cos, cos_weight, 0, one, 3)


# Powers of two between which e^x is fitted: as many as choosing by a permutation takes.
EXP_PIECES = 8

# erf(x) is fitted about each multiple of this; the last of them reach to where it is 1. Of this one erf is a float but for a
# hundredth of its last place: a rounding there would count twice in the smaller half of the second piece.
ERF_STEP = mp.mpf(17) / 32
ERF_PIECES = 8
ERF_DEGREE = 7


def erf_pieces():
    """A list of coefficients for each piece, and the largest error of any. In the first, erf(x) - x instead: so near 0 it is
    small, and x is exact."""
    half = ERF_STEP / 2 * mp.mpf("1.001")
    near = no_zero(lambda x: mp.erf(x) / x, 2 / mp.sqrt(mp.pi))
    first, worst = fit(lambda x: near(x) - 1, lambda x: 1 / near(x), 0, half, ERF_DEGREE - 1)
    found = [[mp.mpf(0), *first]]
    for middle in (i * ERF_STEP for i in range(1, ERF_PIECES)):
        c, error = fit(lambda t, m=middle: mp.erf(m + t), lambda t, m=middle: 1 / mp.erf(m + t), -half, half, ERF_DEGREE)
        found.append(c)
        worst = max(worst, error)
    return found, worst


def pieces(value, count, bits=24):
    """The first `count` floats of `bits` bits, each cut off, whose sum tends to a positive number."""
    for _ in range(count):
        _, exponent = mp.frexp(value)
        piece = mp.ldexp(mp.floor(mp.ldexp(value, bits - exponent)), exponent - bits)
        yield piece
        value -= piece


def array(name, values):
    return f"inline constexpr std::array<float, {len(values)}> {name} = {{{', '.join(map(hexfloat, values))}}};"


def wrapped(line):
    """A list's line, cut to 120 characters at its commas."""
    lines = [line]
    while len(lines[-1]) > 120:
        cut = lines[-1].rfind(", ", 0, 120) + 1
        lines[-1:] = [lines[-1][:cut], "    " + lines[-1][cut + 1:]]
    return "\n".join(lines)


def main():
    print("// Constants of the elementary functions: @generated by tools/fit_polynomials.py, which says how.")
    print("// Coefficients go from the constant one upwards; errors are those of the rounded coefficients.")
    print("#pragma once\n\n#include <array>\n#include <cstdint>\n\nnamespace thunder::codegen {\n")
    for name, what, (coefficients, error) in polynomials():
        print(f"// {what}; relative error {mp.nstr(error, 2)}.")
        print(wrapped(array(name, coefficients)) + "\n")
    print("// 2^(i / 8).")
    print(wrapped(array("kPowers", [to_float(mp.mpf(2) ** (mp.mpf(i) / EXP_PIECES)) for i in range(EXP_PIECES)])) + "\n")
    coefficients, error = erf_pieces()
    print("// erf(x), less x where i is 0, by t = x - i * kErfStep on |t| <= kErfStep / 2: [power of t][i]; relative error "
          f"{mp.nstr(error, 2)}.")
    print(f"inline constexpr float kErfStep = {hexfloat(ERF_STEP)};")
    print(f"inline constexpr std::array<std::array<float, {ERF_PIECES}>, {len(coefficients[0])}> kErf = {{{{")
    for row in zip(*coefficients):
        print(wrapped("    {" + ", ".join(map(hexfloat, row)) + "},"))
    print("}};\n")
    print(f"inline constexpr float kLog2E = {hexfloat(to_float(1 / mp.log(2)))};")
    print(f"inline constexpr float kTwoByPi = {hexfloat(to_float(2 / mp.pi))};")
    print("// Sums of floats, largest first, each cut off.")
    print(array("kLn2", list(pieces(mp.log(2), 2))))
    print(array("kHalfPi", list(pieces(mp.pi / 2, 3))) + "\n")
    print("// The bits of 1/pi after the binary point, 32 a word, behind one word of zeros.")
    words = [0] + [int(mp.floor(mp.ldexp(1 / mp.pi, 32 * i))) & 0xffffffff for i in range(1, 7 + 1)]
    print(wrapped(f"inline constexpr std::array<uint32_t, {len(words)}> kInvPiBits = "
                  f"{{{', '.join(f'{w:#010x}' for w in words)}}};"))
    print("\n}  // namespace thunder::codegen")


if __name__ == "__main__":
    main()
