"""release.py TOP BUILD: tools/release in a copy of the tree: it dates, commits and tags the version that is open, opens the next one, and refuses
what it says that it refuses. tools/check holds behind each step."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP, BUILD = map(pathlib.Path, sys.argv[1:])


class Copy:
    """What git would commit of the tree, as a repository of one commit."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder, "tree")
        files = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True, text=True, check=True).stdout
        for name in filter(None, files.split("\0")):
            if (TOP / name).exists():
                (self.path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TOP / name, self.path / name, follow_symlinks=False)
        self.git("init", "--quiet")
        self.git("config", "user.name", "libthunder contributors")
        self.git("config", "user.email", "thunder@invalid.invalid")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "all")

    def git(self, *words):
        return subprocess.run(["git", "-C", self.path, *words], capture_output=True, text=True, check=True).stdout

    def release(self, *words):
        """(exit status, what it said)"""
        done = subprocess.run([self.path / "tools" / "release", "--build", BUILD, *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def refuses(self, says, *words):
        before = self.git("rev-parse", "HEAD"), self.git("tag"), self.git("status", "--porcelain")
        status, said = self.release(*words)
        assert status == 1 and says in said, (status, said)
        assert before == (self.git("rev-parse", "HEAD"), self.git("tag"), self.git("status", "--porcelain")), said

    def holds(self, *skipped):
        done = subprocess.run([self.path / "tools" / "check", "--build", BUILD, *skipped], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:]

    def text(self, name):
        return (self.path / name).read_text(encoding="utf-8")


def main():
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        version = re.search(r"^## \[(\S+)\] - not yet released$", copy.text("CHANGELOG.md"), re.MULTILINE)[1]
        major, minor, patch = map(int, version.split("."))
        later = f"{major}.{minor + 1}.0"
        copy.refuses(f"{version} is not released yet", "--next", later)
        (copy.path / "README.md").write_text(copy.text("README.md") + "\n", encoding="utf-8")
        copy.refuses("not committed")
        copy.git("checkout", "README.md")
        (copy.path / "docs" / "new.md").write_text("at 14e01" "bed\n", encoding="utf-8")
        copy.git("add", "--all")
        copy.git("commit", "--quiet", "--message", "wrong")
        copy.refuses("is the name of a commit")
        copy.git("reset", "--quiet", "--hard", "HEAD~1")

        status, said = copy.release("--date", "2027-01-02")
        assert status == 0, said
        assert copy.git("describe", "--exact-match").strip() == f"v{version}" and not copy.git("status", "--porcelain")
        notes = copy.git("tag", "--list", "--format=%(contents)", f"v{version}")
        assert notes.startswith(f"libthunder {version}\n\n### ") and len(notes.splitlines()) > 50, notes
        assert f"## [{version}] - 2027-01-02\n" in copy.text("CHANGELOG.md")
        assert "Sat, 02 Jan 2027 12:00:00 +0000" in copy.text("cmake/debian/changelog") and "date-released: 2027-01-02" in copy.text("CITATION.cff")
        copy.holds()
        copy.refuses("opens another")
        copy.refuses(f"{version} is not after {version}", "--next", version)

        status, said = copy.release("--next", later)
        assert status == 0, said
        # Generated files name the version of the build that wrote them.
        copy.holds("--skip", "generated")
        assert f"#define THUNDER_VERSION_MINOR {minor + 1}\n" in copy.text("include/thunder.h")
        assert copy.text("CHANGELOG.md").index(f"## [{later}] - not yet released") < copy.text("CHANGELOG.md").index(f"## [{version}] - 2027-01-02")
        assert copy.text("cmake/debian/changelog").startswith(f"thunder ({later}) ") and f"thunder ({version}) " in copy.text("cmake/debian/changelog")
    return 0


if __name__ == "__main__":
    sys.exit(main())
