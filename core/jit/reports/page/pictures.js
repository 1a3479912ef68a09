// Pictures on canvases: the graph, memory and threads.
const COLOURS = ["#2458b3", "#2e7d4f", "#b36b24", "#7a3fa3", "#b3261e", "#1b8a94", "#8a7a1b", "#5f6b7a"];
const colours = new Map();
// The usual executors have the same colour on every page.
for (const name of ["fusion", "host", "products", "attention"]) colours.set(name, COLOURS[colours.size]);
const colour = name => colours.get(name) || (colours.set(name, COLOURS[colours.size % COLOURS.length]), colours.get(name));

// As much of a text as fits.
function label(pen, text, x, y, width) {
  const needs = pen.measureText(text).width;
  pen.fillText(needs > width ? text.slice(0, Math.max(0, Math.floor(text.length * width / needs) - 1)) + "…" : text, x, y);
}

// A canvas that is drawn anew whenever its view changes: x and y of the upper left, and pixels for each unit.
function picture(main, className, draw, limits, pick, height) {
  const canvas = element("canvas", { className, style: height ? `height:${height}px` : "" }), note = element("div", { className: "note quiet" }, "Point at a part to read what it is.");
  main.append(canvas, note);
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
  let fitted = false;
  new ResizeObserver(() => {
    if (!fitted && canvas.clientWidth) limits(view, canvas.clientWidth, canvas.clientHeight), fitted = true;
    redraw();
  }).observe(canvas);
  let from = null;
  canvas.onpointerdown = e => { from = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); };
  canvas.onpointerup = () => { from = null; };
  canvas.onpointermove = e => {
    if (from) {
      view.x -= (e.clientX - from[0]) / view.sx, view.y -= (e.clientY - from[1]) / view.sy;
      from = [e.clientX, e.clientY];
      return redraw();
    }
    const box = canvas.getBoundingClientRect();
    note.textContent = pick(view.x + (e.clientX - box.left) / view.sx, view.y + (e.clientY - box.top) / view.sy) || "";
  };
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    const box = canvas.getBoundingClientRect(), factor = Math.exp(-e.deltaY / 400);
    const px = e.clientX - box.left, py = e.clientY - box.top;
    view.x += px / view.sx * (1 - 1 / factor), view.y += py / view.sy * (1 - 1 / factor);
    view.sx *= factor, view.sy *= factor;
    redraw();
  }, { passive: false });
}

const WIDTH = 220, HEIGHT = 34, GAP_X = 24, GAP_Y = 26;
// A layer for each length of the longest path from the inputs; what depends on no argument stands just above its first reader, to the
// right of what does.
function layers() {
  const count = data.nodes.length, depth = data.nodes.map(() => 0), rows = [], place = [];
  const constant = data.nodes.map(n => !n.given), first = data.nodes.map(() => Infinity);
  for (const [from, to] of data.edges) {
    depth[to] = Math.max(depth[to], depth[from] + 1);
    constant[to] = constant[to] && constant[from];
  }
  const readers = data.nodes.map(() => []);
  for (const [from, to] of data.edges) readers[from].push(to);
  for (let i = count; i-- > 0;) {
    for (const to of readers[i]) first[i] = Math.min(first[i], depth[to]);
    if (constant[i] && readers[i].length) depth[i] = first[i] - 1;
  }
  for (const late of [false, true])
    depth.forEach((d, i) => {
      if (constant[i] !== late) return;
      const row = rows[d] = rows[d] || [];
      place[i] = { x: row.length * (WIDTH + GAP_X), y: d * (HEIGHT + GAP_Y) };
      row.push(i);
    });
  return { place, width: Math.max(...rows.map(r => r.length)) * (WIDTH + GAP_X), height: rows.length * (HEIGHT + GAP_Y) };
}

function graph(main) {
  if (!data.nodes.length) return main.append(element("p", { className: "quiet" }, "The program has no lines."));
  main.append(element("p", { className: "quiet" }, "The program as it runs, from its inputs down: a box a kernel, in the colour of its executor. Drag to move, turn the wheel to zoom, point at a box to read it."));
  const { place, width } = layers();
  const draw = (pen, view, w, h) => {
    const sees = p => p.x + WIDTH > view.x && p.y + HEIGHT > view.y && p.x < view.x + w / view.sx && p.y < view.y + h / view.sy;
    pen.setTransform(pen.getTransform().translate(-view.x * view.sx, -view.y * view.sy).scale(view.sx, view.sy));
    pen.strokeStyle = "#b9c3cf", pen.lineWidth = 1 / Math.min(1, view.sx);
    pen.beginPath();
    for (const [from, to] of data.edges) {
      const a = place[from], b = place[to];
      if (!sees(a) && !sees(b)) continue;
      pen.moveTo(a.x + WIDTH / 2, a.y + HEIGHT);
      pen.lineTo(b.x + WIDTH / 2, b.y);
    }
    pen.stroke();
    data.nodes.forEach((n, i) => {
      const p = place[i];
      if (!sees(p)) return;
      pen.fillStyle = n.by ? colour(n.by) : "#8b95a1";
      pen.fillRect(p.x, p.y, WIDTH, HEIGHT);
      if (view.sx < 0.25) return;
      pen.fillStyle = "#fff";
      label(pen, brief(n.ops), p.x + 8, p.y + 15, WIDTH - 16);
      label(pen, `${n.by || "view"}${n.flops ? ", " + flops(n.flops) : ""}`, p.x + 8, p.y + 29, WIDTH - 16);
    });
  };
  const fit = (view, w) => { view.sx = view.sy = Math.min(1, Math.max(0.75, w / width)); view.x = -GAP_X, view.y = -GAP_Y; };
  const pick = (x, y) => {
    const i = place.findIndex(p => x >= p.x && x <= p.x + WIDTH && y >= p.y && y <= p.y + HEIGHT);
    const n = data.nodes[i];
    return n && `${i + 1}: ${n.ops}${n.by ? " by " + n.by : ""}${n.at ? " at " + n.at : ""}; ${flops(n.flops)}, ${bytes(n.bytes)} of results`;
  };
  picture(main, "tall", draw, fit, pick);
  const used = [...new Set(data.nodes.map(n => n.by).filter(Boolean))];
  main.append(element("p", {}, ...used.flatMap(by => [element("span", { className: "bar", style: `width:14px;background:${colour(by)}` }), ` ${by}  `])));
}

function memory(main) {
  const m = data.memory, count = Math.max(1, data.nodes.length);
  main.append(element("pre", {}, m.text));
  if (!m.slots.length) return main.append(element("p", { className: "quiet" }, "No value lies in the arena: results have memory of their own."));
  main.append(element("h2", {}, "The arena over time: each value from the line that makes it to the last that reads it"));
  const top = Math.max(...m.slots.map(s => s[1] + s[2]));
  const draw = (pen, view) => {
    for (const [value, offset, size, first, last] of m.slots) {
      pen.fillStyle = COLOURS[value % COLOURS.length] + "cc";
      pen.fillRect((first - view.x) * view.sx, (offset - view.y) * view.sy, Math.max(1, (last + 1 - first) * view.sx - 0.5), Math.max(1, size * view.sy - 0.5));
    }
  };
  const fit = (view, w, h) => { view.x = 0, view.y = 0, view.sx = w / count, view.sy = h / top; };
  const pick = (x, y) => {
    const s = m.slots.find(s => x >= s[3] && x < s[4] + 1 && y >= s[1] && y < s[1] + s[2]);
    return s && `${bytes(s[2])} at ${s[1]}, lines ${s[3] + 1} to ${s[4] + 1}; made by ${data.nodes[s[3]]?.ops || "?"}${data.nodes[s[3]]?.at ? " at " + data.nodes[s[3]].at : ""}`;
  };
  picture(main, "flat", draw, fit, pick);
  main.append(element("p", { className: "quiet" }, `From left to right ${count} lines, from top to bottom ${bytes(top)}.`));
}

function timeline(main, p) {
  const threads = 1 + Math.max(0, ...p.spans.map(s => s.thread)), end = Math.max(1e-3, ...p.spans.map(s => s.end)), row = 28;
  const draw = (pen, view, w) => {
    for (const s of p.spans) {
      const x = (s.begin - view.x) * view.sx, width = Math.max(1, (s.end - s.begin) * view.sx);
      if (x > w || x + width < 0) continue;
      pen.fillStyle = colour(p.steps[s.step].executor || "copy");
      pen.fillRect(x, 22 + s.thread * row, width, row - 6);
      if (width < 60) continue;
      pen.fillStyle = "#fff";
      label(pen, brief(p.steps[s.step].ops), x + 4, 37 + s.thread * row, width - 8);
    }
    pen.fillStyle = "#5f6b7a";
    const ticks = Math.max(1, Math.floor(w / 110));
    for (let i = 0; i < ticks; i++) pen.fillText(duration(view.x + i * w / ticks / view.sx), i * w / ticks + 2, 14);
  };
  const fit = (view, w) => { view.x = 0, view.y = 0, view.sx = w / end, view.sy = 1; };
  const pick = (x, y) => {
    const thread = Math.floor((y - 22) / row), s = p.spans.find(s => s.thread === thread && x >= s.begin && x <= s.end);
    const step = s && p.steps[s.step];
    return step && `step ${s.step + 1}: ${step.ops} by ${step.executor}${step.where ? " at " + step.where : ""}; ${duration(s.end - s.begin)} on thread ${thread}`;
  };
  picture(main, "flat", draw, fit, pick, 28 + threads * row);
  main.append(element("p", { className: "quiet" }, `${threads} ${threads === 1 ? "thread" : "threads"}; the first one is that of the call.`));
}
