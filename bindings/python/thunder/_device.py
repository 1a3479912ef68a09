"""th.cuda: the members of torch.cuda that ask about a device as a whole."""
import collections

from . import _names, _thunder
from ._cuda_kernel import Kernel
from ._streams import Event, ExternalStream, Stream, current_stream, default_stream, device_name, stream


def is_available():
    """Whether there is a GPU that the library can use."""
    return _thunder.has_device("cuda:0")


def device_count():
    """How many GPUs the library can use."""
    count = 0
    while _thunder.has_device(f"cuda:{count}"):
        count += 1
    return count


def synchronize(device=None):
    """Waits for all work on the device, and reports what went wrong in it."""
    _thunder.synchronize(device_name(device))


def empty_cache(device=None):
    """Gives back blocks of memory that are kept for reuse."""
    _thunder.empty_cache(device_name(device))


def memory_stats(device=None):
    """A dict of allocated_bytes, max_allocated_bytes, reserved_bytes, max_reserved_bytes (in use or kept for reuse), and of hits,
    misses and retries: blocks that were kept, that the driver gave, and how often kept ones went back to make room. Of "cpu" too,
    where blocks of fewer than 1,024 bytes are not counted."""
    return _thunder.memory_stats(device_name(device))


def reset_peak_memory_stats(device=None):
    """Begins the peaks again at what is in use now."""
    _thunder.reset_peak_memory_stats(device_name(device))


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


def current_device():
    """The index of the GPU that "cuda" stands for: the first."""
    return 0


def set_device(device):
    """"cuda" stands for the first GPU, and for no other: name another where it is used."""
    if _thunder.device(device_name(device)) != _thunder.device("cuda:0"):
        raise ValueError(f"set_device: 'cuda' stands for cuda:0 here; name {device_name(device)} where it is wanted, as in "
                         f"x.to({str(device_name(device))!r})")


DeviceProperties = collections.namedtuple("DeviceProperties", "name major minor multi_processor_count total_memory L2_cache_size "
                                          "shared_memory_per_block_optin")
DeviceProperties.__doc__ = "What the hardware of a GPU is like; memory in bytes."


def get_device_properties(device=None):
    """What the GPU's hardware is like."""
    return DeviceProperties(*_thunder.device_info(device_name(device))[:-1])


def get_device_name(device=None):
    """Of the hardware: "NVIDIA H100 80GB HBM3"."""
    return get_device_properties(device).name


def get_device_capability(device=None):
    """(major, minor) of its compute capability."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def mem_get_info(device=None):
    """(free, total) bytes of the GPU's memory, of all programs; blocks that are kept for reuse are not free."""
    info = _thunder.device_info(device_name(device))
    return info[-1], info[4]


def memory_summary(device=None, abbreviated=False):
    """memory_stats() as a table to print."""
    stats = memory_stats(device)
    rows = [("in use", stats["allocated_bytes"], stats["max_allocated_bytes"]), ("in use or kept", stats["reserved_bytes"], stats["max_reserved_bytes"])]
    lines = [f"memory of {device_name(device)}  {'now':>12}  {'at most':>12}"]
    lines += [f"{name:<16}  {now / 2**20:8.1f} MiB  {most / 2**20:8.1f} MiB" for name, now, most in rows]
    if not abbreviated:
        lines.append("blocks: {hits} were reused, {misses} the driver gave, {retries} times kept ones went back to make room".format(**stats))
    return "\n".join(lines)


def manual_seed(seed):
    """thunder.seed(seed): random numbers of all devices follow one state."""
    _thunder.seed(seed)


manual_seed_all = manual_seed


cuda = _names.namespace(f"{__name__.partition('.')[0]}.cuda", "GPUs: whether there are any, their memory, their streams, and kernels for them.", {
    "manual_seed_all": manual_seed, "OutOfMemoryError": _thunder.OutOfMemoryError, **{
        f.__name__: f for f in (
            is_available, device_count, current_device, set_device, get_device_properties, get_device_name, get_device_capability, synchronize,
            empty_cache, mem_get_info, memory_stats, memory_summary, reset_peak_memory_stats, memory_allocated, max_memory_allocated,
            memory_reserved, max_memory_reserved, manual_seed, Kernel, Stream, ExternalStream, Event, current_stream, default_stream, stream)}})
