"""Memory of a CUDA device on its way between Python libraries that work on streams of their own. The other library is one that is written
here over the driver; with the stand-in for it, which does work as late as it may, what is ordered too little is wrong at each run."""
import ctypes
import gc
import os
import sys
import types
import unittest
import weakref

import thunder as th

N = 1024
DRIVER = ctypes.CDLL(os.environ.get("THUNDER_CUDA_DRIVER", "libcuda.so.1")) if th.cuda.is_available() else None
VOID, SIZE, WORD = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
NON_BLOCKING, CUDA = 1, 2
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [VOID, ctypes.c_char_p, VOID]
NAME = ctypes.create_string_buffer(b"dltensor")


class DLTensor(ctypes.Structure):
    _fields_ = [("data", VOID), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", VOID), ("offset", WORD)]


class DLManagedTensor(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("tensor", DLTensor), ("context", VOID), ("deleter", DELETER)]


def ask(name, *args):
    failed = getattr(DRIVER, name)(*args)
    assert failed == 0, (name, failed)


class Their:
    """An array of another library, which works on a stream of its own."""

    def __init__(self, stream):
        self.stream, self.block, self.asked, self.freed = stream, WORD(), [], False
        ask("cuMemAlloc_v2", ctypes.byref(self.block), SIZE(4 * N))
        self.shape = (ctypes.c_int64 * 1)(N)
        self.deleter = DELETER(self.free)

    def fill(self, value):
        ask("cuMemsetD32Async", self.block, ctypes.c_uint(value), SIZE(N), self.stream)

    def free(self, managed):
        """The memory is somebody else's at once."""
        self.freed = True
        self.fill(99)
        ask("cuStreamSynchronize", self.stream)

    def __dlpack_device__(self):
        return CUDA, 0

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        event = VOID()
        ask("cuEventCreate", ctypes.byref(event), 2)
        ask("cuEventRecord", event, self.stream)
        ask("cuStreamWaitEvent", VOID(stream), event, 0)
        self.managed = DLManagedTensor(DLTensor(self.block.value, CUDA, 0, 1, 0, 32, 1, self.shape, None, 0), None, self.deleter)
        return new_capsule(ctypes.addressof(self.managed), NAME, None)


class Complex:
    """As PyTorch's tensors of complex numbers are, but for their memory."""
    dtype = "torch.complex64"

    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **named):
        raise BufferError("whatever it says")


@unittest.skipUnless(th.cuda.is_available(), "no CUDA device: tests of the build with the stand-ins run it")
class Streams(unittest.TestCase):
    def setUp(self):
        self.twice = th.compile(lambda x: x * 2)
        self.twice(th.ones(N, dtype=th.int32, device="cuda")).tolist()
        self.stream = VOID()
        ask("cuStreamCreate", ctypes.byref(self.stream), NON_BLOCKING)
        self.lazy(1)

    def tearDown(self):
        th.cuda.synchronize()
        self.lazy(0)

    @staticmethod
    def lazy(on):
        if "THUNDER_CUDA_DRIVER" in os.environ:
            DRIVER.fake_cuda_lazy(on)

    def read(self, capsule):
        """What another library that took the capsule reads on its stream."""
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = VOID, [ctypes.py_object, ctypes.c_char_p]
        managed = ctypes.cast(pointer(capsule, b"dltensor"), ctypes.POINTER(DLManagedTensor))
        host = (ctypes.c_int32 * N)()
        ask("cuMemcpyDtoHAsync_v2", host, WORD(managed[0].tensor.data), SIZE(4 * N), self.stream)
        ask("cuStreamSynchronize", self.stream)
        return set(host)

    def test_a_tensor_of_theirs_is_made_to_wait_for_on_our_stream(self):
        for way in (th.from_dlpack, th.asarray, lambda x: x):
            x = Their(self.stream)
            x.fill(3)
            y = self.twice(way(x))
            self.assertEqual(set(y.tolist()), {6})
            self.assertEqual(x.asked, [th.cuda.current_stream().cuda_stream])

    def test_a_tensor_of_theirs_is_freed_when_we_have_read_it(self):
        for way in (th.from_dlpack, th.asarray, lambda x: x):
            x = Their(self.stream)
            x.fill(3)
            y = self.twice(way(x))
            self.assertEqual(set(y.tolist()), {6})
            th.cuda.synchronize()
            self.assertTrue(x.freed)

    def test_a_library_that_says_where_it_works_waits_there_for_a_call(self):
        class Stream:
            ptr = self.stream.value

        class Array(Their):
            __module__ = "cupy"

        stream = Stream()
        alive = weakref.ref(stream)
        module = types.ModuleType("cupy.cuda")
        module.get_current_stream = lambda device, stream=stream: stream
        self.addCleanup(sys.modules.update, {name: sys.modules[name] for name in ("cupy", "cupy.cuda") if name in sys.modules})
        sys.modules.update({"cupy": types.ModuleType("cupy"), "cupy.cuda": module})
        for use in (self.twice, lambda x: th.mul(x, 2)):
            x = Array(self.stream)
            x.fill(3)
            y = use(x)
            x.fill(5)
            ask("cuStreamSynchronize", self.stream)
            self.assertEqual(set(y.tolist()), {6})
        del sys.modules["cupy"], sys.modules["cupy.cuda"]
        del module, stream
        gc.collect()
        self.assertIsNotNone(alive(), "a stream that memory was given back to must not end")

    def test_what_they_read_on_a_stream_that_they_name_is_there(self):
        x = th.full((N,), 3, dtype=th.int32, device="cuda")
        capsule = self.twice(x).__dlpack__(stream=self.stream.value)
        self.assertEqual(self.read(capsule), {6})

    def test_numbers_of_streams_are_those_of_the_array_api(self):
        x = th.ones(4, device="cuda")
        for stream in (None, 1, 2, -1, self.stream.value):
            x.__dlpack__(stream=stream)
            x.__dlpack__(stream=stream, max_version=(1, 0))
        for stream in (0, -2):
            with self.assertRaisesRegex(BufferError, f"stream {stream} is none of CUDA"):
                x.__dlpack__(stream=stream)
        th.ones(4).__dlpack__(stream=None)
        with self.assertRaisesRegex(BufferError, "stream must be None for a tensor on the CPU"):
            th.ones(4).__dlpack__(stream=1)

    def test_elements_without_a_dtype_are_named(self):
        for use in (th.from_dlpack, th.asarray, lambda x: th.add(x, 1), self.twice):
            with self.assertRaisesRegex(TypeError, "torch.complex64 have no dtype here.*float64"):
                use(Complex((CUDA, 0)))
        with self.assertRaisesRegex(TypeError, "a tensor on cuda:77 cannot be used here.*copy it to the CPU first"):
            th.from_dlpack(Complex((CUDA, 77)))


if __name__ == "__main__":
    unittest.main()
