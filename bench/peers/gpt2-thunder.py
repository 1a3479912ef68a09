#!/usr/bin/env python3
"""GPT-2 124M through lightning-thunder."""
import gpt2
import ways

gpt2.main(ways.lightning_thunder())
