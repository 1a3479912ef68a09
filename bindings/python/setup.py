"""Builds the extension module, and the library before it if there is none.

Against the tree that this file is in, whose build is taken (THUNDER_BUILD, else build/release, else it is made): the
package then carries the library and the tool, and runs on a machine that has numpy and no compiler. It carries LLVM, too, where the
build has the module with LLVM in it (the target thunder_llvm_whole, as `tools/package wheel` makes it). Outside of a tree, such as
from an sdist, against what pkg-config finds.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# What libthunder and the tool are linked with and a machine with Python may lack: small, and free to be passed on. oneDNN is not
# carried, nor LLVM as a library: they are opened where they are found, and other executors run what theirs would.
CARRIED = ("libcjson.so", "liblua5.4.so")
HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent


def pkg_config(*options):
    return subprocess.run(["pkg-config", *options, "thunder"], check=True, capture_output=True, text=True).stdout.split()


def built_tree():
    """The build folder of the tree; None outside of one."""
    if not (TREE / "include/thunder.h").exists():
        return None
    build = pathlib.Path(os.environ.get("THUNDER_BUILD", TREE / "build/release")).resolve()
    if not (build / "lib/libthunder.so").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=TREE, check=True)
        subprocess.run(["cmake", "--build", "build/release", "--target", "product"], cwd=TREE, check=True)
    return build


def strip(library):
    """Without what only debuggers read, five sixths of it, where there is the program for that."""
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", library], check=True)


class Build(build_ext):
    def run(self):
        build = built_tree()
        for extension in self.extensions:
            if build:
                extension.include_dirs.append(str(TREE / "include"))
                extension.library_dirs.append(str(build / "lib"))
                extension.libraries.append("thunder")
                extension.runtime_library_dirs.append("$ORIGIN/lib")
            else:
                extension.extra_compile_args += pkg_config("--cflags")
                extension.extra_link_args += pkg_config("--libs")
                extension.runtime_library_dirs += pkg_config("--variable=libdir")
        super().run()
        module = pathlib.Path(self.get_ext_fullpath("thunder._thunder")).resolve()
        if build:
            strip(module)
            self.carry(build, module)
        # Type stubs come from what was built: `thunder` is on the path as it will be installed, before where an isolated
        # build has numpy.
        path = [str(module.parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, str(HERE / "stubs/generate.py"), str(module.parent)], check=True, env=environment)

    def carry(self, build, module):
        """Puts the library, and the modules that it opens, beside the extension, as an installation lays them out."""
        whole = build / "whole/thunder-llvm.so"
        opened = [whole] if whole.exists() else [*(build / "lib").glob("thunder-*.so")]
        tool = [build / "bin/thunder", build / "lib/libthunder_lua.so.0"] if (build / "bin/thunder").exists() else []
        for source in [build / "lib/libthunder.so.0", *opened, *tool]:
            folder = module.parent / ("bin" if source.parent.name == "bin" else "lib" if source.name.startswith("lib") else "lib/thunder")
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / source.name)
            strip(folder / source.name)
        for user in [build / "lib/libthunder.so.0", *tool]:
            for line in subprocess.run(["ldd", user], check=True, capture_output=True, text=True).stdout.splitlines():
                name, _, place = line.strip().partition(" => ")
                if name.startswith(CARRIED):
                    shutil.copy2(place.rpartition(" (")[0], module.parent / "lib" / name)


sources = [str(path.relative_to(HERE)) for path in sorted((HERE / "src").glob("*.c"))]
setup(ext_modules=[Extension("thunder._thunder", sources, depends=[str(p) for p in (HERE / "src").glob("*.h")],
                             extra_compile_args=["-std=c11", "-fvisibility=hidden"])],
      cmdclass={"build_ext": Build})
