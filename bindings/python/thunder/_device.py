"""th.cuda: the members of torch.cuda that ask about a device as a whole."""
from . import _names, _thunder
from ._cuda_kernel import Kernel


def is_available():
    """Whether there is a GPU that the library can use."""
    return _thunder.has_device("cuda:0")


def device_count():
    """How many GPUs the library can use."""
    count = 0
    while _thunder.has_device(f"cuda:{count}"):
        count += 1
    return count


def _device(given):
    """An index, a device or its name; None: the first GPU."""
    return f"cuda:{given or 0}" if given is None or isinstance(given, int) else given


def synchronize(device=None):
    """Waits for all work on the device, and reports what went wrong in it."""
    _thunder.synchronize(_device(device))


def empty_cache(device=None):
    """Gives back blocks of memory that are kept for reuse."""
    _thunder.empty_cache(_device(device))


def memory_stats(device=None):
    """A dict of allocated_bytes, max_allocated_bytes, reserved_bytes, max_reserved_bytes (in use or kept for reuse), and of hits,
    misses and retries: blocks that were kept, that the driver gave, and how often kept ones went back to make room. Of "cpu" too,
    where blocks of fewer than 1,024 bytes are not counted."""
    return _thunder.memory_stats(_device(device))


def reset_peak_memory_stats(device=None):
    """Begins the peaks again at what is in use now."""
    _thunder.reset_peak_memory_stats(_device(device))


def memory_allocated(device=None):
    """Bytes of the blocks that tensors and programs are in."""
    return memory_stats(device)["allocated_bytes"]


def max_memory_allocated(device=None):
    """The most of memory_allocated since the last reset_peak_memory_stats."""
    return memory_stats(device)["max_allocated_bytes"]


def memory_reserved(device=None):
    """Bytes of the blocks that are in use or kept for reuse."""
    return memory_stats(device)["reserved_bytes"]


def max_memory_reserved(device=None):
    """The most of memory_reserved since the last reset_peak_memory_stats."""
    return memory_stats(device)["max_reserved_bytes"]


cuda = _names.namespace(f"{__name__.partition('.')[0]}.cuda", "GPUs: whether there are any, their memory, and kernels for them.", {
    f.__name__: f for f in (is_available, device_count, synchronize, empty_cache, memory_stats, reset_peak_memory_stats,
                            memory_allocated, max_memory_allocated, memory_reserved, max_memory_reserved, Kernel)})
