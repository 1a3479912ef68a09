// The sections of the page, each made when it is first shown.
function overview(main) {
  const s = data.stats;
  main.append(element("h2", {}, "Calls"), element("p", {}, `${counted(s.calls, "call", "calls")}: ${s.hits} found a program, ${s.misses} compiled one; ` +
    `${counted(s.entries, "program is", "programs are")} kept; ${counted(s.eager_calls, "more call", "more calls")} ran op by op.`));
  main.append(element("h2", {}, "Why it was compiled"), table([["why", "long", r => r.why], ["times", "number", r => r.times]], s.reasons));
  if (data.hints) main.append(element("h2", {}, "What slows it down"), text(data.hints));
  main.append(element("h2", {}, "Stages of the compiles"), table([["stage", "", r => r.name], ["times", "number", r => r.times],
    ["in all", "number", r => duration(r.total_ms)], ["least", "number", r => duration(r.least_ms)], ["most", "number", r => duration(r.most_ms)]], s.stages));
}

function guards(main) {
  main.append(element("h2", {}, "Guards of the latest program"), text(data.guards));
  main.append(element("h2", {}, "Where the function broke into several programs"), text(data.breaks));
  main.append(element("h2", {}, "Compiles, with reasons"), table([["why", "long", r => r.why], ["times", "number", r => r.times]], data.stats.reasons));
}

// The lowering of each kernel, closed until it is asked for.
const kernelTexts = () => (data.loops || "").split(/^(?=kernel \d+: )/m).filter(Boolean);
function kernels(main) {
  main.append(element("h2", {}, "How kernels were lowered"));
  const all = kernelTexts();
  if (!all.length) main.append(quiet("nothing"));
  all.forEach((kernel, i) => {
    const end = kernel.indexOf("\n");
    main.append(element("details", { id: `kernel-${i}` }, element("summary", {}, brief(kernel.slice(0, end))), text(kernel.slice(end + 1))));
  });
  main.append(element("h2", {}, "Neighbours that are kernels of their own"), text(data.fusion));
}

function examination(main) {
  const e = data.examination;
  if (!e) return main.append(quiet("The function was not examined before this report."));
  main.append(element("p", { className: e.sound ? "" : "bad" }, e.sound ? "Sound: nothing is unsupported, wrong or NaN." : "Not sound."));
  main.append(element("p", {}, `${e.checked} steps were compared with the reference${e.gradients ? ", those of the gradients among them" : ""}. ` +
    `${flops(e.flops)}, ${bytes(e.bytes)} to read and write, at most ${bytes(e.peak_bytes)} of memory.`));
  main.append(element("h2", {}, "Findings"), table([["kind", "", r => r.kind],
    ["what", "long", r => (r.op ? brief(r.op) + (r.where ? ` at ${r.where}` : "") + ": " : "") + r.text]], e.findings));
  main.append(element("h2", {}, "Ops"), table([["op", "", r => r.op], ["times", "number", r => r.times], ["run by", "", r => r.executors], ["first at", "long", r => r.where]], e.ops));
}

const sections = { Overview: overview, Traces: traces, Graph: graph, Memory: memory, Time: time, Kernels: kernels, Guards: guards, Examination: examination };
const made = {}, tabs = {};
function show(name) {
  for (const [other, tab] of Object.entries(tabs)) {
    tab.setAttribute("aria-selected", other === name);
    tab.tabIndex = other === name ? 0 : -1;
  }
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
  if (!made[name]) {
    made[name] = document.querySelector("main").appendChild(element("section", { id: `section-${name}` }));
    made[name].setAttribute("role", "tabpanel");
    made[name].setAttribute("aria-labelledby", `tab-${name}`);
    sections[name](made[name]);
  }
  made[name].hidden = false;
}
// Arrows, Home and End go from tab to tab, as in every list of tabs.
function moveTab(e) {
  const names = Object.keys(sections), at = names.findIndex(name => tabs[name] === e.target);
  const to = { ArrowRight: (at + 1) % names.length, ArrowLeft: (at - 1 + names.length) % names.length, Home: 0, End: names.length - 1 }[e.key];
  if (to === undefined) return;
  e.preventDefault();
  location.hash = names[to];
  tabs[names[to]].focus();
}

document.title = data.function + ": thunder report";
document.querySelector("h1").textContent = data.function;
document.querySelector(".facts").textContent = `${counted(data.nodes.length, "line", "lines")} as it runs; at most ${bytes(data.memory.peak)} of memory a call`;
for (const name of Object.keys(sections)) {
  const tab = element("button", { type: "button", id: `tab-${name}`, onclick: () => { location.hash = name; }, onkeydown: moveTab }, name);
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", `section-${name}`);
  tabs[name] = document.querySelector("nav").appendChild(tab);
}
const fromHash = () => show(sections[location.hash.slice(1)] ? location.hash.slice(1) : "Overview");
addEventListener("hashchange", fromHash);
fromHash();
