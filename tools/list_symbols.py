#!/usr/bin/env python3
"""list_symbols.py: what capi/abi.symbols is: the functions that include/thunder.h and its parts declare, in their order."""
import pathlib
import re

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
TOKEN = re.compile(r'^#include "(thunder/\w+\.h)"|^(?:THUNDER_CHECK )?[\w ]+?[ *]+(thunder_\w+)\([^;]*?\) THUNDER_NOEXCEPT;', re.M)


def names(header):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
    for part, name in TOKEN.findall(text):
        if part:
            yield from names(INCLUDE / part)
        else:
            yield name


print("# The exported names, as include/thunder.h declares them; tools/check --write refreshes the list. A name that was released stays")
print("# for ever: tools/check-abi holds it by the baseline, capi/abi.xml.")
print("\n".join(names(INCLUDE / "thunder.h")))
