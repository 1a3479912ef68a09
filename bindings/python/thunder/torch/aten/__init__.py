"""Rows of the table, a family of ops a file."""
from . import (activations, attention, captured, convolutions, creation, elementwise, foreach, images, indexing, linalg,  # noqa: F401
               losses, norms, pools, products, random, ranks, reductions, shapes, views)
