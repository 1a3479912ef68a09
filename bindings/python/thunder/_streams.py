"""th.cuda's streams and events, by torch.cuda's names. All work of the library on a device is on one stream of its own; so streams are
here for the order between that one and those of other libraries."""
import contextlib

from . import _thunder


def device_name(given):
    """An index, a device or its name; None: the first GPU."""
    return f"cuda:{given or 0}" if given is None or isinstance(given, int) else given


def _number(stream):
    """Of a stream of any library, or a number: its CUstream."""
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return getattr(stream, name)
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    raise TypeError(f"a stream was expected, or the number of a CUstream, not {type(stream).__name__}")


class Stream(_thunder.StreamBase):
    """An order of work on a device. cuda_stream is its number, which other libraries take: torch.cuda.ExternalStream(s.cuda_stream)."""
    __module__ = "thunder.cuda"

    def __new__(cls, device=None, priority=0):
        raise TypeError("Stream: all work of the library on a device is on one stream, which current_stream() gives: there is no other to "
                        "work on. ExternalStream(number) stands for one of another library")

    @classmethod
    def _of(cls, device, number=None):
        return _thunder.StreamBase.__new__(cls, device_name(device), number)

    def wait_stream(self, stream):
        """What it is asked for from now on waits for what another stream, also of PyTorch or cupy, holds by now."""
        event = Event(device=self.device)
        event._record(stream if isinstance(stream, Stream) else Stream._of(self.device, _number(stream)))
        self.wait_event(event)

    def record_event(self, event=None):
        """An event behind what it was asked for by now."""
        event = Event(device=self.device) if event is None else event
        event.record(self)
        return event

    def __eq__(self, other):
        return isinstance(other, Stream) and (self.device, self.cuda_stream) == (other.device, other.cuda_stream)

    def __hash__(self):
        return hash(self.cuda_stream)

    def __repr__(self):
        return f"<thunder.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """The stream of another library, by its number, for wait_stream() and Event.record(): the library itself does not work on it."""
    __module__ = "thunder.cuda"

    def __new__(cls, stream_ptr, device=None):
        return cls._of(device, _number(stream_ptr))


class Event(_thunder.EventBase):
    """A point in a stream's work: record() sets it, wait() lets a stream wait for it, elapsed_time() gives the milliseconds between two
    that were made with enable_timing."""
    __module__ = "thunder.cuda"

    def __new__(cls, enable_timing=False, blocking=False, interprocess=False, device=None):
        if blocking or interprocess:
            raise TypeError("Event: events that block the thread which waits, or that other processes see, are not here")
        made = super().__new__(cls, device_name(device), enable_timing)
        made._device = device_name(device)
        return made

    def record(self, stream=None):
        """Behind what the stream, the library's own if none is named, was asked for by now."""
        self._record(_stream(stream, self._device))

    def wait(self, stream=None):
        """What the stream, the library's own if none is named, is asked for from now on waits for the event."""
        _stream(stream, self._device).wait_event(self)


def _stream(given, device):
    if given is None or isinstance(given, Stream):
        return current_stream(device) if given is None else given
    return Stream._of(device, _number(given))


def current_stream(device=None):
    """The stream on which all work of the library on the device is done."""
    return Stream._of(device)


def default_stream(device=None):
    """The same: there is one."""
    return current_stream(device)


@contextlib.contextmanager
def _unchanged():
    yield


def stream(stream):
    """A context in which the library works on that stream, which can only be its own."""
    if stream is not None and not (isinstance(stream, Stream) and stream == current_stream(stream.device)):
        raise ValueError("stream: all work of the library on a device is on one stream, so it cannot be done on another: "
                         "current_stream().wait_stream(other) lets it wait for what that holds, and other.wait_stream(...), in its own "
                         "library, the other way round")
    return _unchanged()
