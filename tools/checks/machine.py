"""What a processor and its caches are like is read once, into base/machine.h; whoever plans is handed that value."""
import re

READERS = {"core/base/machine.cpp", "core/base/cpu_count.cpp", "core/base/cpu_count.h", "core/jit/context/context.cpp"}
SIZES = re.compile(r"\bconstexpr\b.*\bk\w*(?:L[123]|LastLevel|CacheSize|CacheBytes|PageSize)\w*\s*=|\bconstexpr\b.*\bkPage\s*=")
KNOWN = {"core/loops/cpu/target.cpp", "core/loops/object_file.cpp"}  # what is usual where the system does not say; a format's own
ASKS = re.compile(r"\bsysconf\s*\(|\b_SC_\w+|\bthread_count\s*\(|\b_?_?get_?cpuid\w*\s*\(")


def check(tree):
    for path in tree.files:
        if not path.startswith(("core/", "capi/")) or not path.endswith((".cpp", ".h")) or path in READERS:
            continue
        for number, line in enumerate(tree.lines(path), 1):
            if ASKS.search(line):
                tree.fail(path, "asks the system what the machine is like: take it from a Machine (base/machine.h)", number)
            if SIZES.search(line) and path not in KNOWN:
                tree.fail(path, "is a cache or page size of its own: take it from a Machine (base/machine.h)", number)
