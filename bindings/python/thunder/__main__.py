"""python -m thunder: the `thunder` tool that came with the package, or that the installation has beside it."""
import importlib.metadata
import os
import pathlib
import sys

_PACKAGE = pathlib.Path(__file__).resolve().parent
# In a wheel; in a build tree; in a distribution, whose modules lie in PREFIX/lib/python3/dist-packages.
_PLACES = (_PACKAGE / "bin", _PACKAGE.parents[1] / "bin", _PACKAGE.parents[3] / "bin")


def _is_program(path):
    """Whether it is the tool, and not the script that pip makes of this module."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def main():
    """Runs the tool in the place of this process, with its arguments."""
    tool = next((place / "thunder" for place in _PLACES if _is_program(place / "thunder")), None)
    if tool is None:
        sys.exit("thunder: the tool is not there; it was looked for as " + ", ".join(str(place / "thunder") for place in _PLACES))
    try:
        importlib.metadata.distribution("lightning-thunder")
        print("thunder: lightning-thunder is installed in this environment too; its module has the same name, and which of the two is "
              "imported depends on which was installed last", file=sys.stderr)
    except importlib.metadata.PackageNotFoundError:
        pass
    os.execv(tool, ["thunder", *sys.argv[1:]])


if __name__ == "__main__":
    main()
