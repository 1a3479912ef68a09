#!/usr/bin/env python3
"""GPT-2 124M through torch.compile, for these shapes alone."""
import gpt2
import ways

gpt2.main(ways.COMPILED)
