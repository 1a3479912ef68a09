#!/usr/bin/env python3
"""The chain of small lines of bench/groups/call.cpp through torch.compile."""
import call
import ways

call.time_chain(ways.COMPILED)
