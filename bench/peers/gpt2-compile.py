#!/usr/bin/env python3
"""GPT-2 124M through torch.compile, with its defaults."""
import gpt2

gpt2.main(compiled=True)
