"""bare_root.py PACKAGE_TOOL [--packages FOLDER]: what `tools/package` makes, installed in roots that have nothing else: the Debian packages by
dpkg and apt, the wheel by pip beside numpy alone. The README's programs run there as a user would build and run them. It needs root,
debootstrap, and a mirror of the distribution; elsewhere it says that it is skipped. FOLDER: packages that were made before."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
PASSED = re.compile("^(https?_proxy|no_proxy|PIP_[A-Z_]+|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)$", re.IGNORECASE)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(0)


def run(*command, **named):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **named)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))[:200]}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def sources():
    """The lines of apt's sources here, and the suite and mirror of the first."""
    places = [*pathlib.Path("/etc/apt/sources.list.d").glob("*.sources"), *pathlib.Path("/etc/apt/sources.list.d").glob("*.list"),
              pathlib.Path("/etc/apt/sources.list")]
    for place in filter(pathlib.Path.exists, places):
        text = place.read_text(encoding="utf-8")
        found = re.search(r"^URIs:\s*(\S+)", text, re.MULTILINE) or re.search(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)", text, re.MULTILINE)
        if found:
            return place, found[1]
    return None, ""


class Root:
    """A root of its own, in which commands run as in a container: with its own mounts, and none of this machine's environment."""

    def __init__(self, base, folder):
        self.path = pathlib.Path(folder)
        run("cp", "-a", f"{base}/.", self.path)

    def add(self, file, name=None):
        shutil.copy(file, self.path / "root" / (name or pathlib.Path(file).name))

    def write(self, name, text):
        (self.path / "root" / name).write_text(text, encoding="utf-8")

    def run(self, script):
        environment = {"HOME": "/root", "TERM": "dumb", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
                       "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                       **{name: value for name, value in os.environ.items() if PASSED.match(name)}}
        inside = f'mount -t proc proc "{self.path}/proc"; mount --bind /dev "{self.path}/dev"; exec chroot "{self.path}" bash -euc "$0"'
        return run("unshare", "--mount", "bash", "-euc", inside, f"cd /root; {script}", env=environment, timeout=1500)


def make_base(folder):
    """The distribution's least root, with this machine's sources, certificates and settings of apt and pip."""
    place, mirror = sources()
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(encoding="utf-8"), re.MULTILINE))
    try:
        run("debootstrap", "--variant=minbase", "--include=ca-certificates", release["VERSION_CODENAME"], folder, mirror, timeout=1200)
    except SystemExit as failed:
        skip(f"no root can be made here: {failed}")
    etc = pathlib.Path(folder, "etc")
    shutil.copytree("/etc/apt/apt.conf.d", etc / "apt/apt.conf.d", dirs_exist_ok=True)
    (etc / "apt/sources.list").unlink(missing_ok=True)
    target = etc / "apt/sources.list.d" if place.parent.name == "sources.list.d" else etc / "apt"
    target.mkdir(exist_ok=True)
    shutil.copy(place, target)
    for name in ("resolv.conf", "hosts", "pip.conf", "ssl/certs/ca-certificates.crt"):
        if os.path.exists(f"/etc/{name}"):
            shutil.copy(f"/etc/{name}", etc / name)


def front_page(name):
    """A program of the front page, as it stands there."""
    return re.search(rf"^```\w+ {re.escape(name)}\n(.*?)^```", (TOP / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[1]


# Where nothing is fused the last trace has no line by fusion.
IS_FUSED = """
assert "by fusion" in str(th.last_traces(step)[-1]), th.last_traces(step)[-1]
assert not th.unavailable_executors().get("fusion"), th.unavailable_executors()
"""


def lint(packages):
    """Debian's own check of packages finds no error."""
    if not shutil.which("lintian"):
        print("skipped: lintian is not here")
        return
    done = subprocess.run(["lintian", *packages.glob("*.deb")], capture_output=True, text=True, check=False)
    wrong = [line for line in done.stdout.splitlines() if line.startswith("E:")]
    assert not wrong and done.returncode == 0, (wrong, done.stderr)


def pages(root):
    """The packages' own pages, as they are printed: the front page and the tutorials, C, and C++ with CMake; and an example."""
    docs, libraries = "/usr/share/doc/libthunder-dev", f"lib/{os.uname().machine}-linux-gnu"
    for name in ("pages/tutorials.py", "c/c_page", "c/consume", "c/cmake_page"):
        root.add(TOP / "tests" / name)
    root.run("apt-get -q -y install --no-install-recommends g++ cmake make")
    root.run(f"python3 tutorials.py /usr/bin/thunder /usr {libraries} {docs}/index.md {docs}/tutorials/[a-z]*.md")
    root.run(f"python3 c_page ./consume {docs}/c.md /usr {libraries} $PWD/programs_in_c")
    root.run(f"python3 cmake_page {docs}/cpp.md /usr $PWD/project")
    assert "held-out images right" in root.run(f"thunder run {docs}/examples/digits/digits.lua")
    root.run("apt-get -q -y install --no-install-recommends openmpi-bin")
    alone = root.run(f"thunder run {docs}/examples/scale/digits.lua")
    both = root.run(f"mpirun --allow-run-as-root --oversubscribe -n 2 thunder run {docs}/examples/scale/digits.lua")
    losses = [[float(loss) for loss in re.findall(r"^step \d+: loss (\S+)$", said, re.MULTILINE)] for said in (alone, both)]
    assert len(losses[0]) == len(losses[1]) == 10 and all(abs(one - two) < 1e-5 for one, two in zip(*losses)), (alone, both)


def debian_packages(base, packages, version):
    with tempfile.TemporaryDirectory() as folder:
        root = Root(base, folder)
        for deb in packages.glob("*.deb"):
            root.add(deb)
        root.write("app.c", front_page("app.c"))
        root.write("app.lua", front_page("app.lua"))
        root.write("app.py", front_page("app.py") + IS_FUSED)
        root.run("apt-get -q update; apt-get -q -y install --no-install-recommends ./*.deb lua5.4 gcc libc6-dev pkg-config")
        for command in ("thunder run app.lua", "lua5.4 app.lua", "cc app.c $(pkg-config --cflags --libs thunder) -o app; ./app", "python3 app.py"):
            said = root.run(command)
            assert said.startswith("5.0"), (command, said)
        assert version in root.run("thunder --version") and version in root.run("python3 -m thunder --version")
        assert re.search(r"^kernel +exp\(a \* b\) \+ a gives the right values, as one fused kernel", root.run("thunder doctor"), re.MULTILINE)
        pages(root)
        library = f"/usr/lib/{os.uname().machine}-linux-gnu/libthunder.so.0"
        assert "SONAME               libthunder.so.0\n" in run("objdump", "-p", f"{folder}{library}")
        for file in (library, "/usr/bin/thunder"):
            assert ".debug_info" not in run("objdump", "-h", f"{folder}{file}"), file
        for deb in packages.glob("*.deb"):
            assert "License: Apache-2.0" in (root.path / "usr/share/doc" / deb.name.split("_")[0] / "copyright").read_text(encoding="utf-8"), deb.name
        assert root.run(". /usr/share/bash-completion/completions/thunder; complete -p thunder").strip().endswith("-F _thunder thunder")
        root.run("apt-get -q -y remove libthunder0; test ! -e /usr/bin/thunder; test ! -e /usr/lib/python3/dist-packages/thunder/__init__.py")
    print("Debian packages: installed, used, removed")


def wheel(base, packages, version):
    with tempfile.TemporaryDirectory() as folder:
        root = Root(base, folder)
        file, = packages.glob("*.whl")
        root.add(file)
        root.write("app.py", front_page("app.py") + IS_FUSED)
        root.write("app.lua", front_page("app.lua"))
        root.run("apt-get -q update; apt-get -q -y install --no-install-recommends python3 python3-venv; python3 -m venv here")
        root.run("here/bin/pip install --quiet ./*.whl")
        assert root.run("here/bin/pip list --format=freeze | grep -v '^pip\\|^setuptools' | sed 's/=.*//' | tr '\\n' ' '") == "libthunder numpy "
        said = root.run("here/bin/python app.py")
        assert said == "5.0\n", said
        loaded = "import thunder as th; th.compile(lambda x: (x * 2).exp())(th.ones(9)); print(open('/proc/self/maps').read())"
        maps = root.run(f'here/bin/python -c "{loaded}"')
        assert "/thunder/lib/thunder/thunder-llvm.so" in maps and "libLLVM" not in maps
        for tool in ("here/bin/python -m thunder", "here/bin/thunder"):
            assert version in root.run(f"{tool} --version"), tool
        assert root.run("here/bin/thunder run app.lua").startswith("5.0")
        licences = {path.name for path in root.path.glob("root/here/lib/python3*/site-packages/libthunder-*.dist-info/**/LICENSE*")}
        assert licences == {"LICENSE", "LICENSE.dagre", "LICENSE.llvm-19-dev", "LICENSE.libcjson1", "LICENSE.liblua5.4-0"}, licences
        module, = root.path.glob("root/here/lib/python3*/site-packages/thunder/_thunder*.so")
        assert ".debug_info" not in run("objdump", "-h", module)
        assert re.search(r"^LLVM +(?!missing)\S", root.run("here/bin/thunder doctor"), re.MULTILINE)
    print("wheel: installed beside numpy alone, used")


def main():
    tool, *rest = sys.argv[1:]
    if os.geteuid() or not shutil.which("debootstrap") or not shutil.which("unshare"):
        skip("it needs root, debootstrap and unshare")
    version = re.search(r"^## \[(\d+\.\d+\.\d+)\]", (TOP / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        packages = pathlib.Path(rest[1] if rest else f"{folder}/packages")
        if not rest:
            print(run(tool, "--output", packages))
        lint(packages)
        base = f"{folder}/base"
        make_base(base)
        debian_packages(base, packages, version)
        wheel(base, packages, version)


if __name__ == "__main__":
    main()
