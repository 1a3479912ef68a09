"""The order of dims in memory, of which new tensors have one here: as they are written."""
import enum


class memory_format(enum.Enum):
    """contiguous_format and preserve_format, which ask for nothing else here, so that `memory_format=` may be given."""
    contiguous_format = "contiguous_format"
    preserve_format = "preserve_format"

    def __repr__(self):
        return f"thunder.{self.name}"


def check(who, value):
    """Raises unless the value asks for what there is."""
    if value is not None and not isinstance(value, memory_format):
        raise TypeError(f"{who}: argument 'memory_format' must be thunder.contiguous_format or thunder.preserve_format: dims lie in memory in "
                        f"their order, got {value!r}; permute() gives another")
