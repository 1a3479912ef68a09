"""site.py TOP BUILD: the site builds, has a page for each public name, and its checks find what is planted; 77 where its environment
cannot be made, for want of an index of packages."""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HEADER = """/* ==== a section [S] ==== */
/* Of both. */
THUNDER_CHECK thunder_status *thunder_one(thunder_context *context, thunder_tensor **out) THUNDER_NOEXCEPT;
void thunder_two(thunder_tensor *x) THUNDER_NOEXCEPT; /* [X] its own */

int32_t thunder_three(void) THUNDER_NOEXCEPT;
"""


def load(top):
    sys.path.insert(0, str(top / "tools"))
    loader = importlib.machinery.SourceFileLoader("site_tool", str(top / "tools" / "site"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("site_tool", loader))
    loader.exec_module(module)
    return module


def has_environment(site):
    try:
        return site.environment()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: {error}")
        return None


def comments_are_of_their_functions(site):
    one, two, three = site.headers.functions(HEADER)
    assert (one[0], one[2], one[3]) == ("thunder_one", "Of both.", "S") and (two[2], three[2]) == ("Of both.\n[X] its own", ""), (one, two, three)
    assert "`thunder_tensor_release`" in site.headers.ownership(one[1]) and site.headers.ownership(two[1]) == "nothing is handed over"


def every_entry_shows_something(lists, tool, pages):
    """Options, logs, reports and backends: a section each, with a program and what it printed."""
    for kind in lists.HEADS:
        entries = re.findall(r"^## (\w+) \{#\1\}\n\n[^\n]+\n\n```lua\n.+?\n```\n\n```text\n.+?\n```", pages[f"{kind}.md"], re.M | re.S)
        assert entries == [row["name"] for row in lists.described(tool, kind)], (kind, entries)
    for kind, says in (("options", "decoder"), ("logs", "compiled again: input '1': value is 2, was 1"), ("reports", 'digraph "'), ("backends", "by host")):
        assert says in pages[f"{kind}.md"], (kind, says)


def lists_find_what_is_planted(lists, tool):
    """An option without a program, a program of what is no option, one that fails, one that shows nothing."""
    sections = lists.programs("options")
    for planted in ({"name": ""}, {"nome": "print(1)"}, {"name": "error 'x'"}, {"name": "local x = 1"}):
        lists.programs = lambda kind, planted=planted: {**sections, **planted}
        try:
            lists.page(tool, "options")
        except SystemExit as found:
            assert "nome" in str(found) or "name" in str(found), found
        else:
            raise AssertionError(f"{planted} was not found")


def finds_what_is_planted(site, out, tool, pages):
    """A name without a page, a broken link, a broken anchor."""
    without = {name: text for name, text in pages.items() if name not in ("ops/softmax.md", "c/data.md")}
    without["lua.md"] = without["lua.md"].replace("## th.plot_history", "## th.other").replace("## th.data.csv", "##")
    missing = set(site.nameless(without, tool))
    assert {"th.plot_history", "th.data.csv"} <= missing, missing
    assert "the op softmax" in missing and "thunder_read_csv" in missing and "thunder_compile" not in missing, missing
    lists_find_what_is_planted(site.lists, tool)
    page = out / "docs" / "tasks.md"
    good = page.read_text(encoding="utf-8")
    for planted in ("[x](no-such-page.md)", "[x](c.md#no-such-heading)", "\n```lua x.lua\nprint(1)\n```\n", "\nA list:\n- one\n"):
        page.write_text(good + planted, encoding="utf-8")
        assert not site.build(out, "0"), planted
    page.write_text(good, encoding="utf-8")


def main():
    top, build = map(pathlib.Path, sys.argv[1:])
    site = load(top)
    if not has_environment(site):
        return 77  # skipped: has_environment() printed what is missing
    comments_are_of_their_functions(site)
    with tempfile.TemporaryDirectory() as folder:
        out, tool = pathlib.Path(folder), build / "bin" / "thunder"
        pages = site.stage(out / "docs", tool)
        assert not list(site.nameless(pages, tool))
        every_entry_shows_something(site.lists, tool, pages)
        softmax, mode = pages["ops/softmax.md"], pages["ops/mode.md"]
        assert "| C export | all of it |" in softmax and "print(th.softmax(" in softmax and "\ntensor([" in softmax, softmax
        assert "by way of the CPU: `prims.mode`" in mode and "| ONNX models | not where it comes down to `prims.mode` |" in mode, mode
        assert site.build(out, "9.8.7")
        index = json.loads((out / "html" / "search" / "search_index.json").read_text(encoding="utf-8"))
        places = {entry["location"] for entry in index["docs"]}
        assert {"reference/c/thunder.html#thunder_compile", "reference/ops/softmax.html", "reference/lua.html#thcompile"} <= places, len(places)
        home = (out / "html" / "index.html").read_text(encoding="utf-8")
        assert 'title="app.lua"' not in home and '<span class="filename">app.lua</span>' in home
        assert 'href="c.html"' in home and "9.8.7" in home and "prefers-color-scheme: dark" in home
        tasks = (out / "html" / "tasks.html").read_text(encoding="utf-8")
        assert len(re.findall("<td>", tasks)) >= 30
        finds_what_is_planted(site, out, tool, pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
