// The script that a Python with TVM runs: it prints where TVM is and which ops of ONNX it takes, and compiles a model.
#pragma once

namespace thunder::tvm {

// The script's exit status where TVM does not support the model but nothing else failed.
constexpr int kRefused = 3;

constexpr const char* kScript = R"python(
import importlib.metadata, importlib.util, os, sys
sys.path[:] = [folder for folder in sys.path if folder]  # nothing of the folder that we happen to be in


def installed():
    for package, distribution in ("tvm", "apache-tvm"), ("tvm_ffi", "apache-tvm-ffi"), ("onnx", "onnx"):
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            sys.exit(f"it has no package {distribution}")
        try:
            version = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            version = "unknown"
        print("thunder:", package, version, list(spec.submodule_search_locations)[0])


def ops():
    from tvm.relax.frontend.onnx.onnx_frontend import _get_convert_map
    print("thunder:", "ops", *sorted(_get_convert_map()))


def compile(model, library, *runtime):
    import onnx, tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx
    try:
        module = from_onnx(onnx.load(model))
        target = tvm.target.Target({"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu()})
        made = relax.build(module, target, exec_mode="compiled")
    except Exception as e:
        print(f"{type(e).__name__}: {str(e).strip().splitlines()[-1] if str(e).strip() else ''}")
        sys.exit(3)
    made.export_library(library, options=["-Wl,--no-as-needed", *runtime])


{"installed": installed, "ops": ops, "compile": compile}[sys.argv[1]](*sys.argv[2:])
)python";

}  // namespace thunder::tvm
