// Pictures on canvases that are moved and zoomed by pointer and by keys.
const COLOURS = ["#2458b3", "#2e7d4f", "#b36b24", "#7a3fa3", "#b3261e", "#1b8a94", "#8a7a1b", "#5f6b7a"];
const colours = new Map();
// The usual executors have the same colour on every page.
for (const name of ["fusion", "host", "products", "attention"]) colours.set(name, COLOURS[colours.size]);
const colour = name => colours.get(name) || (colours.set(name, COLOURS[colours.size % COLOURS.length]), colours.get(name));
// The colours of the page, light or dark.
const paint = name => getComputedStyle(document.documentElement).getPropertyValue(name);

// As much of a text as fits.
function label(pen, text, x, y, width) {
  const needs = pen.measureText(text).width;
  pen.fillText(needs > width ? text.slice(0, Math.max(0, Math.floor(text.length * width / needs) - 1)) + "…" : text, x, y);
}

// draw(pen, view, width, height) draws; fit(view, width, height) sets the view to all of it; pick(x, y) is the text of what lies there.
// act(x, y), where it is there, is told of clicks, and keys[key](picture) of keys. A view is x and y of the upper left, and pixels for each unit.
function picture(main, { className, name, draw, fit, pick, act, keys = {}, height }) {
  const canvas = element("canvas", { className, tabIndex: 0, style: height ? `height:${height}px` : "" });
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", `${name}. Arrows move, plus and minus zoom, 0 shows all.`);
  const note = element("div", { className: "note quiet" }, "Point at a part to read what it is.");
  note.setAttribute("aria-live", "polite");
  const view = { x: 0, y: 0, sx: 1, sy: 1 };
  const redraw = () => {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    canvas.width = width * ratio, canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "12px system-ui, sans-serif";
    draw(pen, view, width, height);
  };
  const reset = () => { fit(view, canvas.clientWidth, canvas.clientHeight); redraw(); };
  const zoom = (factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) => {
    view.x += px / view.sx * (1 - 1 / factor), view.y += py / view.sy * (1 - 1 / factor);
    view.sx *= factor, view.sy *= factor;
    redraw();
  };
  const move = (px, py) => { view.x += px / view.sx, view.y += py / view.sy; redraw(); };
  let fitted = false;
  new ResizeObserver(() => {
    if (!fitted && canvas.clientWidth) fit(view, canvas.clientWidth, canvas.clientHeight), fitted = true;
    redraw();
  }).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const at = e => {
    const box = canvas.getBoundingClientRect();
    return [view.x + (e.clientX - box.left) / view.sx, view.y + (e.clientY - box.top) / view.sy];
  };
  let from = null, moved = 0;
  canvas.onpointerdown = e => { from = [e.clientX, e.clientY], moved = 0; canvas.setPointerCapture(e.pointerId); };
  canvas.onpointerup = e => { if (from && moved < 4 && act) act(...at(e)); from = null; };
  canvas.onpointermove = e => {
    if (!from) return void (note.textContent = pick(...at(e)) || "");
    moved += Math.abs(e.clientX - from[0]) + Math.abs(e.clientY - from[1]);
    move(from[0] - e.clientX, from[1] - e.clientY);
    from = [e.clientX, e.clientY];
  };
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-e.deltaY / 400), e.clientX - box.left, e.clientY - box.top);
  }, { passive: false });
  const all = { ArrowLeft: () => move(-60, 0), ArrowRight: () => move(60, 0), ArrowUp: () => move(0, -60), ArrowDown: () => move(0, 60),
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: reset, ...keys };
  canvas.onkeydown = e => {
    if (e.ctrlKey || e.metaKey || e.altKey || !all[e.key]) return;
    e.preventDefault();
    all[e.key]();
  };
  main.append(tools(button("Show all", reset), button("+", () => zoom(1.25)), button("−", () => zoom(0.8))), canvas, note);
  return { canvas, note, view, redraw, reset };
}

// The live bytes of each line, and where they are most.
function memoryCurve(slots, count) {
  const change = new Array(count + 1).fill(0);
  for (const [, , size, first, last] of slots) change[first] += size, change[Math.min(count, last + 1)] -= size;
  const live = [];
  let now = 0;
  for (let i = 0; i < count; i++) live.push(now += change[i]);
  const peak = live.reduce((best, v, i) => v > live[best] ? i : best, 0);
  return { live, peak };
}
const lineName = i => {
  const n = data.nodes[i];
  return n ? `line ${i + 1}, ${brief(n.ops)}${n.at ? " at " + n.at : ""}` : `line ${i + 1}`;
};

function memory(main) {
  const m = data.memory, count = Math.max(1, data.nodes.length);
  const arenas = m.arenas.filter(a => a.bytes || a.constants || a.device === "cpu");
  main.append(element("p", {}, `A call takes at most ${bytes(m.peak)} on the CPU, and ${bytes(m.results)} of results` +
    `${m.kept ? `; ${bytes(m.kept)} are kept of frozen inputs` : ""}${m.donated ? `; ${bytes(m.donated)} lie in donated arguments` : ""}.`));
  main.append(table([["device", "", a => a.device], ["arena", "number", a => bytes(a.bytes)], ["constants", "number", a => bytes(a.constants)]], arenas));
  if (m.recording) main.append(quiet(`CUDA graph: ${m.recording}`));
  if (!m.slots.length) return main.append(quiet("No value lies in the arena: results have memory of their own."));
  const { live, peak } = memoryCurve(m.slots, count), most = live[peak], pad = 24;
  main.append(element("h2", {}, "What lives in the arena, line by line"), element("p", { id: "peak" }, `The most is ${bytes(most)}, at ${lineName(peak)}.`));
  picture(main, { className: "flat", name: `Bytes that live at each of ${count} lines; the most is ${bytes(most)} at line ${peak + 1}`,
    fit: (view, w, h) => { view.x = 0, view.y = 0, view.sx = w / count, view.sy = (h - pad) / most; },
    draw: (pen, view, w, h) => {
      const x = i => (i - view.x) * view.sx, y = v => pad + (most - v - view.y) * view.sy;
      pen.fillStyle = COLOURS[0] + "99";
      pen.beginPath();
      pen.moveTo(x(0), y(0));
      live.forEach((v, i) => { pen.lineTo(x(i), y(v)); pen.lineTo(x(i + 1), y(v)); });
      pen.lineTo(x(count), y(0));
      pen.fill();
      pen.fillStyle = paint("--bad");
      pen.fillRect(x(peak), y(most), Math.max(2, view.sx), 3);
      const name = `${bytes(most)} at line ${peak + 1}: ${data.nodes[peak] ? brief(data.nodes[peak].ops) : ""}`;
      const wide = Math.min(w / 2, pen.measureText(name).width);
      label(pen, name, Math.max(2, Math.min(w - wide - 2, x(peak))), Math.max(12, y(most) - 6), w / 2);
    },
    pick: x => live[Math.floor(x)] !== undefined && `${bytes(live[Math.floor(x)])} at ${lineName(Math.floor(x))}` });
  main.append(element("h2", {}, "Where each value lies, from the line that makes it to the last that reads it"));
  const top = Math.max(...m.slots.map(s => s[1] + s[2]));
  picture(main, { className: "flat", name: `The arena of ${bytes(top)} over ${count} lines`,
    fit: (view, w, h) => { view.x = 0, view.y = 0, view.sx = w / count, view.sy = h / top; },
    draw: (pen, view) => {
      for (const [value, offset, size, first, last] of m.slots) {
        pen.fillStyle = COLOURS[value % COLOURS.length] + "cc";
        pen.fillRect((first - view.x) * view.sx, (offset - view.y) * view.sy, Math.max(1, (last + 1 - first) * view.sx - 0.5), Math.max(1, size * view.sy - 0.5));
      }
    },
    pick: (x, y) => {
      const s = m.slots.find(s => x >= s[3] && x < s[4] + 1 && y >= s[1] && y < s[1] + s[2]);
      return s && `${bytes(s[2])} from ${bytes(s[1])} on, lines ${s[3] + 1} to ${s[4] + 1}; made by ${lineName(s[3])}`;
    } });
  main.append(quiet(`From left to right ${counted(count, "line", "lines")}, from top to bottom ${bytes(top)}.`));
}

// The profile's times are milliseconds, those of its spans microseconds.
function timeline(main, p) {
  const threads = 1 + Math.max(0, ...p.spans.map(s => s.thread)), end = Math.max(1e-3, ...p.spans.map(s => s.end)), row = 28;
  picture(main, { className: "flat", name: `${counted(p.spans.length, "interval", "intervals")} on ${counted(threads, "thread", "threads")} over ${duration(end / 1e3)}`,
    height: 28 + threads * row,
    fit: (view, w) => { view.x = 0, view.y = 0, view.sx = w / end, view.sy = 1; },
    draw: (pen, view, w) => {
      for (const s of p.spans) {
        const x = (s.begin - view.x) * view.sx, width = Math.max(1, (s.end - s.begin) * view.sx);
        if (x > w || x + width < 0) continue;
        pen.fillStyle = colour(p.steps[s.step].executor || "copy");
        pen.fillRect(x, 22 + s.thread * row, width, row - 6);
        if (width < 60) continue;
        pen.fillStyle = "#fff";
        label(pen, brief(p.steps[s.step].ops), x + 4, 37 + s.thread * row, width - 8);
      }
      pen.fillStyle = paint("--quiet");
      const ticks = Math.max(1, Math.floor(w / 110));
      for (let i = 0; i < ticks; i++) pen.fillText(duration((view.x + i * w / ticks / view.sx) / 1e3), i * w / ticks + 2, 14);
    },
    pick: (x, y) => {
      const thread = Math.floor((y - 22) / row), s = p.spans.find(s => s.thread === thread && x >= s.begin && x <= s.end);
      const step = s && p.steps[s.step];
      return step && `step ${s.step + 1}: ${brief(step.ops)} by ${step.executor}${step.where ? " at " + step.where : ""}; ${duration((s.end - s.begin) / 1e3)} on thread ${thread}`;
    } });
  main.append(quiet(`${counted(threads, "thread", "threads")}; the first one is that of the call.`));
}
