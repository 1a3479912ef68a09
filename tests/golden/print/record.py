#!/usr/bin/env python3
"""record.py > pytorch.txt: how PyTorch prints the tensors below. It needs PyTorch; what is there is of version 1.13.1.
A case is: "==", and options behind it; the dtype and the sizes; the elements; the text.

The elements are numbers in row-major order, or "range STEP": 0, STEP, 2 * STEP, ...
"""
import math

import torch

NAN, INF = math.nan, math.inf
DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "i64": "int64", "i32": "int32", "u8": "uint8",
          "bool": "bool"}
CASES = [
    # what the elements of a dtype look like
    ("f32", [3], [1.12345, -2, 3.5]), ("f32", [3], [1, -2, 300]), ("f32", [2, 3], [0] * 6), ("f32", [2], [-0.0, 1.5]),
    ("f32", [2], [-0.0, 1]), ("f32", [2, 2], [1, -22.5, 333.25, 4]), ("f64", [2], [0.1, 1]), ("bf16", [2], [0.1, 1]),
    ("i64", [3], [1, -20, 300]), ("i64", [2], [-2**63, 2**63 - 1]), ("i32", [2, 2], [1, 2, 30, 4]),
    ("u8", [2], [1, 255]),
    ("bool", [2, 2], [1, 0, 0, 0]),
    # numbers that are none
    ("f32", [4], [NAN, INF, -INF, 1.5]), ("f32", [1], [NAN]), ("f32", [2], [INF, -INF]), ("f32", [3], [1, INF, NAN]),
    ("f32", [3], [1e-5, INF, NAN]),
    # scientific notation
    ("f32", [3], [1e-3, 2, 5000]), ("f32", [2], [1, 2e8]), ("f32", [2], [1, 1000]), ("f32", [2], [1, 1001]),
    ("f32", [2], [1e-5, 2e-5]),
    ("f32", [2], [1e-4, 2e-4]), ("f64", [2], [1e-200, 1e200]), ("f64", [2], [1.5, 1e8]), ("f64", [2], [1.5, 1500.25]),
    # no dims, no elements
    ("f32", [], [3.14159]), ("f32", [], [3]), ("f64", [], [2.5]), ("i64", [], [7]), ("i32", [], [7]),
    ("bool", [], [1]), ("f32", [], [NAN]),
    ("f32", [0], []), ("f32", [2, 0], []), ("i64", [0], []), ("bool", [0, 3], []), ("f64", [0], []),
    # lines, and tensors of many dims
    ("f32", [30], 1 / 8), ("i64", [40], 1), ("f32", [2, 3, 4], 1 / 4), ("i64", [2, 2, 2, 2], 1),
    ("f32", [1, 1, 1, 1, 2], 1), ("i64", [3, 25], 7),
    ("f64", [7], 12.5), ("f64", [8], 12.5), ("f64", [9], 12.5), ("i32", [18], 1), ("i32", [16], 1), ("i32", [17], 1),
    # summaries
    ("i64", [1000], 1), ("i64", [1001], 1), ("f32", [40, 50], 1), ("f32", [40, 50], 1 / 4), ("i64", [10, 20, 20], 1),
    ("i64", [600, 2], 1),
    ("i64", [3, 402], 1), ("f64", [6, 7, 30], 1 / 2), ("bool", [1200], 0), ("i64", [2000, 0], []),
    # options
    ("f32", [2], [1.12345, 2], {"precision": 2}), ("f32", [2], [1.5, 2.5], {"precision": 0}),
    ("f32", [2], [1.5, 2.25], {"precision": 12}),
    ("f32", [2], [1.5, 22.25], {"sci_mode": True}), ("f32", [2], [1, 200], {"sci_mode": True}),
    ("f32", [2], [0, 0], {"sci_mode": True}),
    ("i64", [2], [1, 2], {"sci_mode": True}), ("f32", [2], [1e-5, 2e5], {"sci_mode": False}),
    ("f32", [2], [1, 2e9], {"sci_mode": False}),
    ("i64", [4, 5], 1, {"threshold": 5, "edgeitems": 1}), ("i64", [4, 5], 1, {"threshold": 0, "edgeitems": 2}),
    ("i64", [40], 1, {"threshold": 0}),
    ("i64", [12], 1, {"linewidth": 20}), ("i64", [3], 1, {"linewidth": 5}), ("i64", [3], 1, {"linewidth": 0}),
    ("f64", [3], 1.5, {"linewidth": 30}),
    ("f32", [2], [1.23456, 2.5], {"profile": "short"}), ("f32", [20, 60], 1 / 8, {"profile": "short"}),
    ("i64", [1001], 1, {"profile": "full"}),
    ("f32", [2], [1.23456, 2.5], {"profile": "short", "precision": 3}), ("i64", [20], 1, {"threshold": INF}),
]


def made(dtype, sizes, elements):
    count = math.prod(sizes)
    values = elements if isinstance(elements, list) else [i * elements for i in range(count)]
    return torch.tensor(values, dtype=getattr(torch, DTYPES[dtype])).reshape(sizes)


for dtype, sizes, elements, *options in CASES:
    options = options[0] if options else {}
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**options)
    print("==" + "".join(f" {name}={str(value).lower()}" for name, value in options.items()))
    print(" ".join([dtype, *map(str, sizes)]))
    print(f"range {elements}" if not isinstance(elements, list) else " ".join(map(str, elements)))
    print(str(made(dtype, sizes, elements)).replace("torch.", "thunder."))
