"""report_page.py THUNDER CHROMIUM FOLDER: the HTML report of GPT-2 with 12 layers, of a step of training, and of a program with 5,000 ops, in Chromium without a
screen: every section is made, at two widths, and nothing raises. FOLDER keeps the screenshots."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

THUNDER, CHROMIUM, FOLDER = sys.argv[1:4]
TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = {
    "gpt2": f"""package.path = "{TOP}/examples/?.lua;{TOP}/examples/gpt2/?.lua;" .. package.path
local th = require "thunder"
local net = require("gpt2.model").make {{ layers = 12, width = 192, heads = 12, context = 64, vocabulary = 100 }}
local f = th.compile(function(t)
  return th.cross_entropy(net(t[{{ {{}}, {{ 1, -2 }} }}]):reshape(-1, 100), t[{{ {{}}, {{ 2, -1 }} }}]:reshape(-1))
end)
th.report(f, ..., th.randint(0, 100, {{ 1, 32 }}))
""",
    "digits": """local th = require "thunder"
local net = th.nn.Sequential { th.nn.Linear(64, 128), th.nn.ReLU(), th.nn.Linear(128, 10) }
local params = net:parameters()
local opt = th.optim.AdamW(params, { lr = 1e-3 })
local step = th.compile(function(x, y)
  local loss = th.cross_entropy(net(x), y)
  opt:step(th.grad_of(loss, params))
  return loss
end)
th.report(step, ..., th.rand { 32, 64 }, th.randint(0, 10, { 32 }))
""",
    "many": """local th = require "thunder"
local f = th.compile(function(x)
  for i = 1, 1700 do x = th.cat({ x[{ { 2, -1 } }], x[{ { 1, 1 } }] }, 0) * 1.01 end
  return x:sum()
end, { executors = "host" })
f(th.ones(8))
th.report(f, ...)
""",
}
SECTIONS = ("Overview", "Traces", "Graph", "Memory", "Time", "Kernels", "Guards", "Examination")


def chromium(*arguments):
    return subprocess.run([CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *arguments], capture_output=True, text=True,
                          check=True, timeout=120)


def main():
    folder = pathlib.Path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    for name, script in SCRIPTS.items():
        page = folder / f"{name}.html"
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
            file.write(script)
            file.flush()
            subprocess.run([THUNDER, "run", file.name, str(page)], check=True)
        size = page.stat().st_size
        assert size < (4e6 if name == "many" else 3e6), f"{name}: {size} bytes"
        data = json.loads(re.search(r'type="application/json">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1])
        assert len(data["nodes"]) >= {"many": 5000, "gpt2": 100, "digits": 20}[name], len(data["nodes"])
        # The page with each of its sections made.
        probe = folder / f"{name}_probe.html"
        check = ("<script>let wrong = ''; addEventListener('error', e => { wrong += e.message; }); "
                 "for (const name of Object.keys(sections)) show(name);"
                 "document.title = 'made ' + document.querySelectorAll('main > section').length + ' wrong:' + wrong + ';';</script></body>")
        # And how long it takes to read the page and to make the section that is shown first.
        opened = "<script>document.title = 'opened in ' + Math.round(performance.now());</script></body>"
        probe.write_text(page.read_text(encoding="utf-8").replace("</body>", check), encoding="utf-8")
        dom = chromium("--dump-dom", probe.as_uri()).stdout
        title = re.search("<title>(.*?)</title>", dom)[1]
        assert title == f"made {len(SECTIONS)} wrong:;", title
        for section in SECTIONS:
            assert f">{section}</button>" in dom, section
        probe.write_text(page.read_text(encoding="utf-8").replace("</body>", opened), encoding="utf-8")
        milliseconds = int(re.search("<title>opened in (.*?)</title>", chromium("--dump-dom", probe.as_uri()).stdout)[1])
        assert milliseconds < 2000, milliseconds
        probe.unlink()
        for width in (1280, 480):
            for section in ("Overview", "Traces", "Graph", "Memory", "Time", "Examination"):
                shot = folder / f"{name}_{section}_{width}.png"
                chromium(f"--window-size={width},900", f"--screenshot={shot}", "--virtual-time-budget=2000", f"{page.as_uri()}#{section}")
                assert shot.stat().st_size > 5000, shot
        print(f"{name}: {size} bytes, {len(data['nodes'])} lines, opened in {milliseconds} ms")


if __name__ == "__main__":
    main()
