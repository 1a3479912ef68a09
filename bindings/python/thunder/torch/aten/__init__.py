"""Rows of the table, a family of ops a file."""
from . import activations, attention, convolutions, creation, elementwise, indexing, losses, norms, pools, products, random, reductions, shapes, views  # noqa: F401
