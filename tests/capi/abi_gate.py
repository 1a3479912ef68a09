"""abi_gate.py BUILD: tools/check-abi lets the interface grow and nothing else. Each case edits a copy of the headers
or of the list of ops."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
DATA_LOST, SIZE = "THUNDER_DATA_LOST = 15", "int64_t thunder_tensor_size(const thunder_tensor *tensor, int32_t axis)"
OPS = "ops.md"
CASES = (  # what is claimed, the header, what stands there, what stands there instead, what the gate says; "": it lets it pass
    ("as it is", "thunder.h", DATA_LOST, DATA_LOST, ""),
    ("a value may come", "thunder.h", DATA_LOST + ",", DATA_LOST + ", THUNDER_NEW = 17,", ""),
    ("a value may not change", "thunder.h", DATA_LOST, "THUNDER_DATA_LOST = 16", "from value '15' to '16'"),
    ("a value may not go", "thunder.h", DATA_LOST + ",", "", "THUNDER_DATA_LOST"),
    ("a field may come at the end", "thunder/extend.h", "} thunder_op_desc;", "void *more; } thunder_op_desc;", ""),
    ("but not before it", "thunder/executor.h", "    size_t n_kernels;", "void *more; size_t n_kernels;",
     "'thunder_executor_desc::n_kernels' changed"),
    ("nor where there is no size", "thunder/executor.h", "} thunder_buffer;", "void *more; } thunder_buffer;",
     "thunder_buffer is frozen"),
    ("a field keeps its type", "thunder/plugin.h", "uint32_t abi_min, abi_max", "float abi_min, abi_max", "abi_min"),
    ("wherever it stands", "thunder/extend.h", "    uint32_t flags;\n    void *user;", "    float flags;\n    void *user;", "flags"),
    ("a parameter may not come", "thunder/tensor.h", SIZE, SIZE[:-1] + ", int32_t more)", "abi_thunder_tensor_size"),
    ("a macro may come", "thunder.h", "#define THUNDER_CPU", "#define THUNDER_NEW 1\n#define THUNDER_CPU", "macro THUNDER_NEW is new"),
    ("a macro keeps its value", "thunder.h", "#define THUNDER_CPU ((thunder_device)(1 << 16))",
     "#define THUNDER_CPU ((thunder_device)(3 << 16))", "macro THUNDER_CPU was '((thunder_device)(1 << 16))', is '((thunder_device)(3 << 16))'"),
    ("a macro may not go", "thunder.h", "#define THUNDER_CUDA(", "#define THUNDER_GPU(", "macro THUNDER_CUDA was '(index) "),
    ("an op may come", OPS, "| `abs(", "| `absent(tensor input) -> tensor` | New. |  |\n| `abs(", "op absent is new"),
    ("an op may not go", OPS, "| `abs(", "| `abs0(", "op abs was '(tensor input) -> tensor, in place too', and is gone"),
    ("a parameter keeps its name", OPS, "softmax(tensor input, int dim", "softmax(tensor input, int axis", "int axis"),
    ("a parameter keeps its default", OPS, "number alpha=1)", "number alpha=2)", "number alpha=2)"),
    ("an op may get a parameter with a default", OPS, "`abs(tensor input)", "`abs(tensor input, bool more=False)", ""),
    ("but none without", OPS, "`abs(tensor input)", "`abs(tensor input, bool more)", "bool more"),
    ("nor between others", OPS, "`softmax(tensor input, int dim", "`softmax(tensor input, bool more=False, int dim",
     "bool more=False"),
    ("a list may also be a string", OPS, "`pad(tensor input, int[] pad", "`pad(tensor input, int[]\\|str pad", ""),
    ("a number may also be a tensor", OPS, "`topk(tensor input, int k", "`topk(tensor input, tensor\\|number k", ""),
    ("but no tensor a list", OPS, "`abs(tensor input)", "`abs(tensor[] input)", "tensor[] input"),
    ("results may get names", OPS, "-> (tensor min, tensor max)", "-> (tensor least, tensor most)", ""),
    ("an op keeps its form in place", OPS, "in place: `abs_`", "", "op abs was "),
    ("a result keeps its type", "thunder/tensor.h", SIZE, SIZE.replace("int64_t", "int32_t"), "abi_thunder_tensor_size"),
)


def said(build, header, old, new):
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder) / "include"
        shutil.copytree(TOP / "include", include)
        shutil.copy(TOP / "docs" / OPS, include)
        text = (include / header).read_text(encoding="utf-8")
        assert old in text, f"{header} has no '{old}'"
        (include / header).write_text(text.replace(old, new, 1), encoding="utf-8")
        done = subprocess.run([TOP / "tools/check-abi", "--build", build, "--include", include, "--ops", include / OPS],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def main():
    wrong = 0
    for claim, header, old, new, expected in CASES:
        status, text = said(sys.argv[1], header, old, new)
        if expected.endswith("is new"):
            holds = status == 0 and expected in text and "--write" in text and "THUNDER_ABI_VERSION" not in text
        elif expected:
            holds = status == 1 and expected in text and "raise THUNDER_ABI_VERSION" in text
        else:
            holds = status == 0 and not text
        if not holds:
            wrong += 1
            print(f"{claim}: exit status {status}\n{text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
