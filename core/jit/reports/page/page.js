"use strict";
// The sections of the page, each made when it is first shown.
const data = JSON.parse(document.getElementById("data").textContent);

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
const digits = v => !v ? "0" : Math.abs(v) >= 100 ? Math.round(v).toLocaleString("en") : Number(v.toPrecision(3)).toString();
const bytes = v => v >= 1e9 ? digits(v / 1e9) + " GB" : v >= 1e6 ? digits(v / 1e6) + " MB" : v >= 1e3 ? digits(v / 1e3) + " kB" : v + " B";
const flops = v => v >= 1e9 ? digits(v / 1e9) + " GFLOP" : v >= 1e6 ? digits(v / 1e6) + " MFLOP" : digits(v) + " FLOP";

const duration = us => us >= 1e4 ? digits(us / 1e3) + " ms" : digits(us) + " µs";
const counted = (n, one, many) => `${n} ${n === 1 ? one : many}`;
// "linear, on each tile: prims.mul, prims.mul, prims.add" as "linear, on each tile: mul ×2, add".
const brief = ops => ops.replaceAll("prims.", "").split(": ").map(part => {
  const runs = [];
  for (const op of part.split(", ")) {
    if (runs.length && runs[runs.length - 1][0] === op) runs[runs.length - 1][1]++;
    else runs.push([op, 1]);
  }
  return runs.map(([op, times]) => times > 1 ? `${op} ×${times}` : op).join(", ");
}).join(": ");

// Columns: [title, kind ("number", "long", "extra": left out where there is little room), row => text or element].
function table(columns, rows) {
  const head = element("tr", {}, ...columns.map(([title, kind]) => element("th", { className: kind }, title)));
  const body = rows.map(row => element("tr", {}, ...columns.map(([, kind, cell]) => element("td", { className: kind }, cell(row)))));
  return element("div", { className: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}
const text = content => content ? element("pre", {}, content) : element("p", { className: "quiet" }, "nothing");

function overview(main) {
  const s = data.stats;
  main.append(element("h2", {}, "Calls"), element("p", {}, `${counted(s.calls, "call", "calls")}: ${s.hits} found a program, ${s.misses} compiled one; ` +
    `${counted(s.entries, "program is", "programs are")} kept; ${counted(s.eager_calls, "more call", "more calls")} ran op by op.`));
  main.append(element("h2", {}, "Why it was compiled"), table([["why", "long", r => r.why], ["times", "number", r => r.times]], s.reasons));
  if (data.hints) main.append(element("h2", {}, "What slows it down"), text(data.hints));
  main.append(element("h2", {}, "Stages of the compiles"), table([["stage", "", r => r.name], ["times", "number", r => r.times],
    ["ms in all", "number", r => digits(r.total_ms)], ["least", "number", r => digits(r.least_ms)], ["most", "number", r => digits(r.most_ms)]], s.stages));
}

function time(main) {
  const p = data.profile;
  if (!p) return main.append(element("p", { className: "quiet" }, "No profile was made before this report: profile the function first."));
  main.append(element("p", {}, `${digits(p.ms)} ms a call, the median of ${p.runs} runs. The machine, measured in the same run: ` +
    `${digits(p.gflops)} GFLOP/s and ${digits(p.gbytes)} GB/s.`));
  main.append(element("h2", {}, "Threads, in the last run"));
  timeline(main, p);
  const all = p.steps.reduce((sum, s) => sum + s.ms, 0);
  const rows = p.steps.map((s, i) => ({ ...s, number: i + 1 })).sort((a, b) => b.ms - a.ms);
  const bar = r => element("span", { className: "bar", style: `width:${Math.max(1, 100 * r.ms / (rows[0].ms || 1))}%` });
  main.append(element("h2", {}, "Steps, slowest first"), table([["step", "number", r => r.number], ["ms", "number", r => digits(r.ms)], ["", "bars", bar],
    ["of all", "number extra", r => digits(100 * r.ms / all) + " %"], ["to move", "number extra", r => bytes(r.bytes)],
    ["to compute", "number extra", r => flops(r.flops)],
    ["of limit", "number extra", r => `${r.share > 1 ? "all" : digits(100 * r.share) + " %"} of ${r.bound}`], ["by", "extra", r => r.executor],
    ["what", "long", r => brief(r.ops) + (r.where ? ` at ${r.where}` : "")]], rows));
}

function guards(main) {
  main.append(element("h2", {}, "Guards of the latest program"), text(data.guards));
  main.append(element("h2", {}, "Where the function broke into several programs"), text(data.breaks));
  main.append(element("h2", {}, "Compiles, with reasons"), table([["why", "long", r => r.why], ["times", "number", r => r.times]], data.stats.reasons));
}

function kernels(main) {
  main.append(element("h2", {}, "Neighbours that are kernels of their own"), text(data.fusion));
  main.append(element("h2", {}, "How kernels were lowered"), text(data.loops));
}

function examination(main) {
  const e = data.examination;
  if (!e) return main.append(element("p", { className: "quiet" }, "The function was not examined before this report."));
  main.append(element("p", { className: e.sound ? "" : "bad" }, e.sound ? "Sound: nothing is unsupported, wrong or NaN." : "Not sound."));
  main.append(element("p", {}, `${e.checked} steps were compared with the reference${e.gradients ? ", those of the gradients among them" : ""}. ` +
    `${flops(e.flops)}, ${bytes(e.bytes)} to read and write, at most ${bytes(e.peak_bytes)} of memory.`));
  main.append(element("h2", {}, "Findings"), table([["kind", "", r => r.kind],
    ["what", "long", r => (r.op ? brief(r.op) + (r.where ? ` at ${r.where}` : "") + ": " : "") + r.text]], e.findings));
  main.append(element("h2", {}, "Ops"), table([["op", "", r => r.op], ["times", "number", r => r.times], ["run by", "", r => r.executors], ["first at", "long", r => r.where]], e.ops));
}

const sections = { Overview: overview, Traces: traces, Graph: graph, Memory: memory, Time: time, Kernels: kernels, Guards: guards, Examination: examination };
const made = {};
function show(name) {
  for (const button of document.querySelectorAll("nav button")) button.setAttribute("aria-selected", button.textContent === name);
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
  if (!made[name]) {
    made[name] = document.querySelector("main").appendChild(element("section"));
    sections[name](made[name]);
  }
  made[name].hidden = false;
}

document.title = data.function + ": thunder report";
document.querySelector("h1").textContent = data.function;
document.querySelector(".facts").textContent = `${data.nodes.length} lines as it runs; at most ${bytes(data.memory.peak)} of memory a call`;
for (const name of Object.keys(sections)) {
  const button = element("button", { onclick: () => { location.hash = name; } }, name);
  document.querySelector("nav").append(button);
}
const fromHash = () => show(sections[location.hash.slice(1)] ? location.hash.slice(1) : "Overview");
addEventListener("hashchange", fromHash);
fromHash();
