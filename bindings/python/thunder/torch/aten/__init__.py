"""Rows of the table, a family of ops a file."""
from . import (activations, attention, convolutions, creation, elementwise, foreach, images, indexing, linalg, losses, norms, pools, products,  # noqa: F401
               random, reductions, shapes, views)
