"""site_browser.py TOP BUILD CHROMIUM: eleven pages of the site, as Chromium shows them without a screen at 480 and 1280 pixels: nothing is wider than
the window, the heading and the search are there, and a page that was dark by wish is; 77 without the site's environment."""
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

PAGES = ("index", "tasks", "c", "lua", "python", "tutorials/first", "architecture", "cuda", "reference/ops/softmax", "reference/c/thunder", "reference/options")
PROBE = """<script>addEventListener("load", () => {
  const wide = document.documentElement.scrollWidth, has = query => Boolean(document.querySelector(query));
  document.title = `probe wide:${wide <= innerWidth} heading:${has("h1")} search:${has("[data-md-component=search]")} width:${innerWidth}`;
});</script></body>"""
EXPECTED = "probe wide:true heading:true search:true width:{}"


def chromium(program, *arguments):
    return subprocess.run([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--allow-file-access-from-files", *arguments],
                          capture_output=True, text=True, check=True, timeout=120).stdout


def title_at(program, page, width):
    """The title that the probe gave the page in a frame of this width: a window of Chromium's has at least 500 pixels."""
    frame = page.with_name(f"frame-{page.name}")
    frame.write_text(f'<!doctype html><iframe src="{page.name}" style="width:{width}px;height:900px;border:0"></iframe>'
                     '<script>const frame = document.querySelector("iframe"); frame.onload = () => setTimeout(() => '
                     "{ document.title = frame.contentDocument.title; }, 200);</script>", encoding="utf-8")
    dom = chromium(program, "--window-size=1400,1000", "--virtual-time-budget=5000", "--dump-dom", frame.as_uri())
    frame.unlink()
    return re.search("<title>(.*?)</title>", dom)[1] if "<title>" in dom else "none"


def main():
    top, build, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    spec = importlib.util.spec_from_file_location("site_test", pathlib.Path(__file__).with_name("site.py"))
    tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests)
    site = tests.load(top)
    if not tests.has_environment(site):
        return 77  # skipped: has_environment() printed what is missing
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        site.stage(out / "docs", build / "bin" / "thunder")
        assert site.build(out, "9.8.7")
        for name in PAGES:
            page = out / "html" / f"{name}.html"
            page.write_text(page.read_text(encoding="utf-8").replace("</body>", PROBE), encoding="utf-8")
            for width in (480, 1280):
                title = title_at(program, page, width)
                assert title == EXPECTED.format(width), f"{name} at {width}: {title}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
