"""The files under check, and the findings."""
import os
import subprocess

LAYERS = "base ir device tensor ops scale tracer modules onnx passes transforms program loops executors regions compile cache jit".split()
CODE = {".c", ".cpp", ".cu", ".h", ".hpp", ".i", ".lua", ".py", ".cmake", ".sh"}
SKIPPED = {".git", "build", "__pycache__"}


class Tree:
    def __init__(self, root, build):
        self.root, self.build = root, build
        self.failures, self.questions = [], []
        self.files = sorted(path for path in self._list() if (root / path).is_file())
        self._texts = {}

    def _list(self):
        """Paths from the root. What git ignores is not ours to check."""
        if (self.root / ".git").exists():
            command = ["git", "-C", str(self.root), "ls-files", "-z", "-co", "--exclude-standard"]
            return set(subprocess.check_output(command, text=True).split("\0")) - {""}
        found = set()
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED and not name.startswith(".venv")]
            found |= {os.path.relpath(os.path.join(folder, name), self.root) for name in names}
        return found

    def read(self, path):
        """The text of a file; empty for a binary one."""
        if path not in self._texts:
            data = (self.root / path).read_bytes()
            self._texts[path] = "" if b"\0" in data[:4096] else data.decode("utf-8", "replace")
        return self._texts[path]

    def lines(self, path):
        return self.read(path).splitlines()

    def is_code(self, path):
        name = os.path.basename(path)
        suffix = os.path.splitext(name)[1]
        return suffix in CODE or name == "CMakeLists.txt" or (not suffix and self.read(path).startswith("#!"))

    def fail(self, path, message, line=None):
        self.failures.append(f"{path}:{line}: {message}" if line else f"{path}: {message}")

    def question(self, path, message):
        self.questions.append(f"{path}: {message}")
