"""report_page.py THUNDER CHROMIUM FOLDER: the HTML report of GPT-2 with 12 layers, of a step of training, and of a program with 5,000 ops, in Chromium without a
screen: every section is made, at two widths, and nothing raises; layers open, words are found, and keys go from tab to tab. FOLDER keeps the
screenshots."""
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
  return th.all_reduce(loss)
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
# What a person does to the page of the step of training, as claims: each is a name and an expression.
CLAIMS = """
const press = (key, at) => at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const claim = (name, holds) => { if (!holds) wrong += name + "; "; };
const settle = () => new Promise(done => setTimeout(done, 50));
(async () => {
  const shown = depth => { const layers = layersOfLines(i => Boolean(data.nodes[i].folds));
    return boxesOf({ depth, open: new Set(), folds: i => Boolean(data.nodes[i].folds), layers }).boxes; };
  const parts = new Set(data.nodes.map(n => n.phase));
  claim("every part of the step is named", ["forward", "backward", "update"].every(p => parts.has(p)));
  claim("the loss is the forward's", data.nodes.some(n => n.ops.includes("linear") && n.phase === "forward"));
  claim("views are folded", shown(1).every(box => box.lines.every(i => !data.nodes[i].folds)));
  claim("layers are boxes", shown(1).some(box => box.title === "2" && box.phase === "backward" && box.lines.length > 1));
  const live = memoryCurve(data.memory.slots, data.nodes.length);
  claim("the peak is named", document.getElementById("peak").textContent.includes(`line ${live.peak + 1}`));
  show("Time");
  claim("collectives have a table", [...document.querySelectorAll("h2")].some(h => h.textContent.startsWith("Collectives")));
  show("Overview");
  press("ArrowRight", tabs.Overview);
  await settle();
  claim("arrows go to the next tab", tabs.Traces.getAttribute("aria-selected") === "true" && document.activeElement === tabs.Traces);
  press("End", tabs.Traces);
  await settle();
  claim("End goes to the last tab", tabs.Examination.tabIndex === 0 && tabs.Traces.tabIndex === -1);
  const input = document.querySelector("input[type=search]");
  input.value = "matmul layer 2", input.dispatchEvent(new Event("input"));
  const found = document.querySelectorAll(".found button");
  claim("words are found", found.length > 2 && [...found].every(b => b.textContent.includes("matmul")));
  found[found.length - 1].click();
  claim("a found line is shown", !made.Traces.hidden && made.Traces.querySelector(".row.marked"));
  input.value = "no such word", input.dispatchEvent(new Event("input"));
  claim("nothing is found", !document.querySelector(".found button"));
  const canvas = made.Graph.querySelector("canvas");
  show("Graph");
  await settle();
  press("n", canvas), press("Enter", canvas), press("0", canvas), press("+", canvas), press("ArrowLeft", canvas);
  claim("keys pick a box", /^(line|layer) /.test(made.Graph.querySelector(".note").textContent));
  made.Graph.querySelector(".tools button").click();
  claim("dark colours are others", matchMedia("(prefers-color-scheme: dark)").matches === (paint("--paper").trim() !== "#fff"));
  document.title = "claims " + (wrong || "hold");
})();
"""
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
        if name == "digits":
            probe.write_text(page.read_text(encoding="utf-8").replace("</body>", check.replace("</script>", CLAIMS + "</script>")), encoding="utf-8")
            for more in ((), ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")):
                title = re.search("<title>(.*?)</title>", chromium(*more, "--virtual-time-budget=5000", "--dump-dom", probe.as_uri()).stdout)[1]
                assert title == "claims hold", title
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
