"""`conan create cmake/conan` makes Conan's package of this tree: library, headers, the tool and Lua's module. With the generator CMakeToolchain
a program finds it by find_package(Thunder), as docs/cpp.md has it. LLVM and what else is needed come from the distribution: tools/setup."""
import pathlib
import re
import shutil
import subprocess

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import load


class Thunder(ConanFile):
    name = "libthunder"
    description = "A deep-learning compiler that programs link"
    license = "Apache-2.0"
    topics = "deep-learning", "compiler", "autograd", "onnx"
    settings = "os", "arch", "compiler", "build_type"
    package_type = "shared-library"

    @property
    def tree(self):
        return pathlib.Path(self.recipe_folder).parents[1]

    def set_version(self):
        header = load(self, self.tree / "include" / "thunder.h")
        self.version = ".".join(re.search(rf"#define THUNDER_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for path in subprocess.run(["git", "-C", self.tree, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0"):
            if path and not path.startswith("tests/"):
                (pathlib.Path(self.export_sources_folder) / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.tree / path, pathlib.Path(self.export_sources_folder) / path)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("libthunder is built on Linux")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["THUNDER_TESTS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="product")

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package has a file of its own for find_package
        self.cpp_info.builddirs = ["lib/cmake/Thunder"]
        self.cpp_info.libs = ["thunder"]
