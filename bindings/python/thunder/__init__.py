"""thunder: tensors, and a compiler for functions of them.

    import thunder as th

    @th.compile
    def f(x, y):
        return th.softmax(x @ y, -1)

Every op is a function here and, if its first argument is a tensor, a method of Tensor: th.ops() lists them.
"""
import enum
import os
import sys

# Its files beside ours, some in the place of ours, would be an error of no use to anybody.
if os.path.exists(os.path.join(os.path.dirname(__file__), "core", "__init__.py")):
    raise ImportError(f"files of lightning-thunder, whose package is called thunder, too, lie among those of libthunder in {os.path.dirname(__file__)}: "
                      "both were installed into one environment. `pip uninstall libthunder lightning-thunder`, then install one of them")

from . import _thunder  # noqa: E402

_thunder.skip_frames_of(os.path.dirname(__file__) + os.sep)

from . import _backends, _backward, _create, _extend, _functions, _jit, _names, _ops, _printing, _pytorch, _schema, _show, _sizes, _tensor, _traceback, _tree  # noqa: E402
from ._autocast import autocast, get_autocast_dtype, is_autocast_enabled  # noqa: E402
from ._backends import (backends, list_backends, list_mode_options, list_options, register_backend,  # noqa: E402
                        unavailable_backends)
from ._backward import grad_of  # noqa: E402
from ._dtypes import finfo, iinfo  # noqa: E402
from ._extend import Executor, Node, Pass, add_pass, add_rules, executor, op, passes  # noqa: E402
from ._forms import return_types  # noqa: E402
from ._functions import (Trace, compile, compile_ahead, compile_options, executors, explain, export_c, export_onnx, function_from_trace,  # noqa: E402
                         get_float32_matmul_precision, grad, set_float32_matmul_precision,
                         get_all_executors, get_always_executors, get_default_executors, get_executor, set_default_executors,
                         graph_breaks, last_backward_traces, last_miss, last_traces, load_program, program_module, save_program, set_stance,
                         signature, stats, trace, unavailable_executors, value_and_grad)
from ._grad_mode import enable_grad, inference_mode, is_inference_mode_enabled, no_grad, set_grad_enabled  # noqa: E402
from ._printing import get_printoptions, printoptions, set_printoptions  # noqa: E402
from ._compile_progress import show_compiles  # noqa: E402
from ._logs import log_names, set_logs  # noqa: E402
from ._reports import (cache_hits, cache_misses, compile_stats, last_compile_options, last_miss_reason, last_prologue_traces, list_transforms, plot_history, profile,  # noqa: E402
                       report, reports)
from ._summary import summary  # noqa: E402
from ._memory_format import memory_format  # noqa: E402
from ._jit import jit, mark_dynamic, mark_static, mark_unbacked, maybe_mark_dynamic  # noqa: E402
from ._sizes import Size, SymInt  # noqa: E402
from ._create import asarray, from_dlpack, from_numpy, tensor  # noqa: E402
from ._thunder import (Compiled, Error, OutOfMemoryError, Tensor, bfloat16, bool, can_cast, device, dtype, float16, float32, float64,  # noqa: E402
                       initial_seed, int8, int16, int32, int64, is_grad_enabled, is_tracing, load_plugin, promote_types, random_state, result_type, seed,  # noqa: E402
                       set_memory_cache, set_num_threads, tape, uint8, uint16, uint32, uint64)
from ._tree import tree_leaves, tree_map  # noqa: E402

globals().update({name: op for name, op in _ops.functions.items() if name not in ("bool", "trace")})

from . import data, distributions, examine, func, nn, optim, parallel  # noqa: E402
from .func import vmap  # noqa: E402
from .parallel import mesh  # noqa: E402
from .data import safetensors as load  # noqa: E402
from .data import save  # noqa: E402
from .optim import clip_grad_norm, clip_grad_value  # noqa: E402
from ._device import cuda  # noqa: E402
from ._pytorch import block_diag, cartesian_prod, combinations, get_default_dtype, is_floating_point  # noqa: E402
from . import _compositions, _generator  # noqa: E402
from ._generator import Generator, get_rng_state, set_rng_state  # noqa: E402
from ._testing import testing  # noqa: E402
from . import _datasets, _loader, _module, _nn_utils, _testing, _writes  # noqa: E402

func.functional_call, func.stack_module_state = _nn_utils.functional_call, _nn_utils.stack_module_state

manual_seed, as_tensor = seed, asarray
contiguous_format, preserve_format = memory_format
max, min, equal, numel = Tensor.max, Tensor.min, Tensor.equal, Tensor.numel
globals().update(_pytorch.constants | _compositions.functions | _generator.functions)
_generator.add_methods(_traceback.covered)
half, float, double, short, long = float16, float32, float64, int16, int64
__version__ = _thunder.version()


class Code(enum.IntEnum):
    """Of an Error: what kind of failure it is."""
    CANCELLED = 1
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    OUT_OF_MEMORY = 8
    FAILED_PRECONDITION = 9
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOST = 15
    DECLINED = 1000
    PROXY_HAS_NO_DATA = 1001
    EXPIRED = 1002
    CALLBACK = 1003
    BACKEND = 1004


sys.modules |= {__name__ + ".jit": jit, __name__ + ".executors": executors}  # from thunder.jit import trace


utils = _names.namespace("thunder.utils", "What PyTorch has in torch.utils: checkpoint and data.", {"checkpoint": _names.namespace(
    "thunder.utils.checkpoint", "Activation checkpointing.", {"checkpoint": func.checkpoint}), "data": _names.namespace(
    "thunder.utils.data", _datasets.__doc__, {"DataLoader": _loader.DataLoader, "get_worker_info": _loader.get_worker_info, **{
        name: getattr(_datasets, name) for name in _datasets.__all__}})})


autograd = _names.namespace("thunder.autograd", "What PyTorch has in torch.autograd of gradients on tapes; an op of one's own with a gradient is "
                            "thunder.op(schema, vjp=...).", {
    "grad": _backward.gradients_of, "no_grad": no_grad, "enable_grad": enable_grad, "set_grad_enabled": set_grad_enabled,
    "inference_mode": inference_mode})

compiler = _names.namespace("thunder.compiler", "What PyTorch has in torch.compiler: stances, and kernels for other processes.", {
    name: getattr(_functions, name) for name in (
        "disable", "keep_tensor_guards_unsafe", "load_cache_artifacts", "save_cache_artifacts", "set_stance",
        "skip_guard_on_all_nn_modules_unsafe", "skip_guard_on_inbuilt_nn_modules_unsafe")})

linalg = _names.namespace("thunder.linalg", "Linear algebra, under the names that torch.linalg has.", {
    **{name.removeprefix("linalg_"): op for name, op in _ops.functions.items() if name.startswith("linalg_")},
    **{name: _ops.functions[name] for name in ("cross", "diagonal", "matmul", "vecdot")}})

special = _names.namespace("thunder.special", "The ops, under the names that torch.special has of many of them.", _ops.functions)


def ops(text=""):
    """{name, schema, doc} of every op whose name holds the text, in alphabetical order: th.ops("soft")."""
    rows = [row for row in _schema.describe("ops") if not row["hidden"] and not row["prim"] and text.lower() in row["name"].lower()]
    return _show.Rows(sorted(({key: row[key] for key in ("name", "schema", "doc")} for row in rows), key=lambda row: row["name"]))


def memory():
    """What the library holds of memory, and how much of it is kept for new tensors."""
    return _schema.describe("memory")


def is_tensor(value):
    """Whether the value is a Tensor."""
    return isinstance(value, Tensor)


__getattr__ = _names.getattr_of(__name__)
_traceback.cover(globals(), *(vars(module) for module in (_backends, _backward, _create, _nn_utils, _testing, _datasets, _extend, _functions, _loader, _printing, _pytorch, _tensor, _tree, cuda, data, func, nn, nn.init, nn.utils,
                                                optim, utils.data)))
