#!/usr/bin/env python3
"""What the first step of the functions of compile.py costs lightning-thunder, which keeps nothing on disk."""
import compile as functions
import ways

functions.main(ways.lightning_thunder())
