#!/usr/bin/env python3
"""Linear with bias and GELU of bench/groups/matmul.cpp through torch.compile, which joins them; a product alone is eager's."""
import matmul
import ways

matmul.main(ways.COMPILED)
