// The graph of the program: lines stand in boxes of their layers, which open; dagre places the boxes.
const WIDTH = 220, HEIGHT = 38, GAP_X = 24, GAP_Y = 30;
const MOST_OF_DAGRE = 150;  // boxes: it takes a second for these; what has more is placed by the length of paths alone
const WANTED = 40;          // boxes that are shown at first, where layers make so few

// The path of a layer's name: "h.0.mlp.c_fc" is ["h.0", "mlp", "c_fc"], since numbers count what is of one kind.
const pathOf = name => name.split(".").reduce((path, part) => /^\d+$/.test(part) && path.length ? [...path.slice(0, -1), `${path[path.length - 1]}.${part}`] : [...path, part], []);

// The path of each line's layer. A line without one that stands between lines of layers, in its part of the step, is in what these share, or
// else in the outermost layer of the line before: so the sum behind a block is the block's.
function layersOfLines(folds) {
  const paths = data.nodes.map(n => layerOf(n.at) ? pathOf(layerOf(n.at)) : []);
  const next = new Map(), after = [], before = new Map();
  for (let i = data.nodes.length; i-- > 0;) {
    after[i] = next.get(data.nodes[i].phase);
    if (paths[i].length && !folds(i)) next.set(data.nodes[i].phase, paths[i]);
  }
  return paths.map((path, i) => {
    const last = before.get(data.nodes[i].phase);
    if (path.length && !folds(i)) before.set(data.nodes[i].phase, path);
    if (path.length || !last || !after[i]) return path;
    let shared = 0;
    while (shared < last.length && last[shared] === after[i][shared]) shared++;
    return last.slice(0, Math.max(1, shared));
  });
}

// For each line the shown lines that it reads, through those that are folded, and which these are.
function foldedSources(folds) {
  const sources = data.nodes.map(() => new Map());
  for (const [from, to] of data.edges) {
    if (!folds(from)) sources[to].set(from, sources[to].get(from) || []);
    else for (const [source, by] of sources[from]) sources[to].set(source, [...by, brief(data.nodes[from].ops)]);
  }
  return sources;  // edges stand in the order of the lines that they go to
}

// The boxes and edges that are shown: a line that `folds` is part of what reads it, layers of `open` show what is in them.
function boxesOf({ depth, open, folds, layers }) {
  const boxes = new Map(), of = [];
  data.nodes.forEach((n, i) => {
    if (folds(i)) return;
    const path = layers[i];
    let key = `line ${i}`, title = "", parents = [];
    for (let d = Math.min(depth, path.length); d <= path.length && d > 0; d++) {
      const group = `${n.phase || ""} ${path.slice(0, d).join(".")}`;
      if (!open.has(group)) { key = group, title = path.slice(0, d).join("."); break; }
      parents.push(group);
    }
    const box = boxes.get(key) || { key, title, parents, phase: n.phase, lines: [] };
    box.lines.push(i);
    boxes.set(key, box), of[i] = key;
  });
  for (const box of boxes.values()) if (box.lines.length === 1) box.title = "";
  const edges = new Map();
  foldedSources(folds).forEach((from, to) => {
    if (folds(to)) return;
    for (const [source, by] of from) {
      const edge = `${of[source]}>${of[to]}`;
      if (of[source] !== of[to]) edges.set(edge, { from: of[source], to: of[to], by: [...((edges.get(edge) || {}).by || []), ...by] });
    }
  });
  return { boxes: [...boxes.values()], edges: [...edges.values()] };
}

function placeByDagre(shown) {
  const graph = new dagre.graphlib.Graph({ compound: true }).setDefaultEdgeLabel(() => ({}));
  graph.setGraph({ nodesep: GAP_X, ranksep: GAP_Y, ranker: shown.boxes.length > 60 ? "longest-path" : "network-simplex" });
  for (const box of shown.boxes) graph.setNode(box.key, { width: WIDTH, height: HEIGHT });
  for (const box of shown.boxes)
    [...box.parents, box.key].forEach((key, i, all) => {
      if (i === 0) return;
      if (!graph.hasNode(all[i - 1])) graph.setNode(all[i - 1], {});
      graph.setParent(key, all[i - 1]);
    });
  for (const edge of shown.edges) graph.setEdge(edge.from, edge.to);
  dagre.layout(graph);
  for (const box of shown.boxes) {
    const at = graph.node(box.key);
    box.x = at.x - WIDTH / 2, box.y = at.y - HEIGHT / 2;
  }
  for (const edge of shown.edges) edge.points = graph.edge(edge.from, edge.to).points;
  shown.frames = graph.nodes().filter(key => graph.children(key).length).map(key => ({ key, ...graph.node(key) }))
    .map(f => ({ key: f.key, x: f.x - f.width / 2, y: f.y - f.height / 2, width: f.width, height: f.height }));
}

// A row for each length of the longest path from the inputs.
function placeByDepth(shown) {
  const of = new Map(shown.boxes.map(box => [box.key, box])), rows = [];
  for (const box of shown.boxes) box.depth = 0;
  shown.boxes.sort((a, b) => a.lines[0] - b.lines[0]);
  for (const edge of [...shown.edges].sort((a, b) => of.get(a.to).lines[0] - of.get(b.to).lines[0]))
    if (of.get(edge.from).lines[0] < of.get(edge.to).lines[0]) of.get(edge.to).depth = Math.max(of.get(edge.to).depth, of.get(edge.from).depth + 1);
  for (const box of shown.boxes) {
    const row = rows[box.depth] = rows[box.depth] || [];
    box.x = row.length * (WIDTH + GAP_X), box.y = box.depth * (HEIGHT + GAP_Y);
    row.push(box);
  }
  for (const edge of shown.edges) {
    const a = of.get(edge.from), b = of.get(edge.to);
    edge.points = [{ x: a.x + WIDTH / 2, y: a.y + HEIGHT }, { x: b.x + WIDTH / 2, y: b.y }];
  }
  shown.frames = [];
}

function describe(box, shown) {
  const sum = key => box.lines.reduce((n, i) => n + data.nodes[i][key], 0), n = data.nodes[box.lines[0]];
  const by = [...new Set(shown.edges.filter(e => e.to === box.key).flatMap(e => e.by))];
  const through = by.length ? `; reads through ${by.slice(0, 6).join(", ")}${by.length > 6 ? " ..." : ""}` : "";
  const costs = `${flops(sum("flops"))}, ${bytes(sum("bytes"))} of results`, phase = box.phase ? ` of the ${box.phase}` : "";
  if (box.title) return `layer ${box.title}${phase}: ${counted(box.lines.length, "line", "lines")}; ${costs}${through}`;
  return `line ${box.lines[0] + 1}${phase}: ${brief(n.ops)}${n.by ? " by " + n.by : ""}${n.at ? " at " + n.at : ""}; ${costs}${through}`;
}

// The executor that computes most of a box.
function executorOf(box) {
  const sums = new Map();
  for (const i of box.lines) sums.set(data.nodes[i].by, (sums.get(data.nodes[i].by) || 0) + data.nodes[i].flops + 1);
  return [...sums].sort((a, b) => b[1] - a[1])[0][0];
}

function drawGraph(pen, view, w, h, shown, marked) {
  const sees = p => p.x + WIDTH > view.x && p.y + HEIGHT > view.y && p.x < view.x + w / view.sx && p.y < view.y + h / view.sy;
  pen.setTransform(pen.getTransform().translate(-view.x * view.sx, -view.y * view.sy).scale(view.sx, view.sy));
  for (const f of shown.frames) {
    pen.fillStyle = paint("--frame"), pen.strokeStyle = paint("--edge");
    pen.fillRect(f.x, f.y, f.width, f.height), pen.strokeRect(f.x, f.y, f.width, f.height);
    pen.fillStyle = paint("--quiet");
    label(pen, f.key.trim(), f.x + 4, f.y + 12, f.width);
  }
  pen.strokeStyle = paint("--edge"), pen.lineWidth = 1 / Math.min(1, view.sx);
  pen.beginPath();
  for (const { points } of shown.edges)
    points.forEach((p, i) => i ? pen.lineTo(p.x, p.y) : pen.moveTo(p.x, p.y));
  pen.stroke();
  for (const box of shown.boxes) {
    if (!sees(box)) continue;
    const by = executorOf(box);
    pen.fillStyle = by ? colour(by) : "#5f6b7a";
    pen.fillRect(box.x, box.y, WIDTH, HEIGHT);
    if (box === marked) pen.lineWidth = 4, pen.strokeStyle = paint("--ink"), pen.strokeRect(box.x - 3, box.y - 3, WIDTH + 6, HEIGHT + 6);
    if (view.sx < 0.25) continue;
    pen.fillStyle = "#fff";
    const work = box.lines.reduce((n, i) => n + data.nodes[i].flops, 0);
    label(pen, box.title ? `▸ ${box.title}` : brief(data.nodes[box.lines[0]].ops), box.x + 8, box.y + 16, WIDTH - 16);
    label(pen, [box.phase, box.title ? counted(box.lines.length, "line", "lines") : by || "view", work ? flops(work) : ""].filter(Boolean).join(", "), box.x + 8, box.y + 31, WIDTH - 16);
  }
}

// The greatest depth of layers that makes few boxes.
function depthWanted(folds, layers) {
  const deepest = Math.max(0, ...layers.map(path => path.length));
  for (let depth = deepest + 1; depth > 1; depth--)
    if (boxesOf({ depth, open: new Set(), folds, layers }).boxes.length <= WANTED) return depth;
  return 1;
}

function graph(main) {
  if (!data.nodes.length) return main.append(quiet("The program has no lines."));
  const open = new Set(), layers = layersOfLines(i => Boolean(data.nodes[i].folds));
  let views = false, shown, marked = null;
  const folds = i => !views && Boolean(data.nodes[i].folds);
  const depth = depthWanted(folds, layers);
  const place = () => {
    shown = boxesOf({ depth, open, folds, layers });
    if (!shown.boxes.length) views = true, shown = boxesOf({ depth, open, folds, layers });
    (shown.boxes.length <= MOST_OF_DAGRE ? placeByDagre : placeByDepth)(shown);
    marked = marked && (shown.boxes.find(box => box.lines.includes(marked.lines[0])) || null);
  };
  const again = () => { place(); drawn.redraw(); };
  const fit = (view, w, h) => {
    const ends = shown.boxes.concat(shown.frames).map(b => [b.x + (b.width || WIDTH), b.y + (b.height || HEIGHT)]);
    const right = Math.max(...ends.map(e => e[0])) + GAP_X, below = Math.max(...ends.map(e => e[1])) + GAP_Y;
    view.sx = view.sy = Math.max(0.05, Math.min(1, w / (right + GAP_X), h / (below + GAP_Y)));
    view.x = -(w / view.sx - right) / 2, view.y = -GAP_Y;
  };
  const say = box => { drawn.note.textContent = box ? describe(box, shown) : ""; };
  const toggle = box => {
    if (box.title) open.add(box.key); else if (box.parents.length) open.delete(box.parents[box.parents.length - 1]);
    marked = box, again(), say(marked);
  };
  const boxAt = (x, y) => shown.boxes.find(p => x >= p.x && x <= p.x + WIDTH && y >= p.y && y <= p.y + HEIGHT);
  const mark = box => {
    const { view, canvas } = drawn;
    marked = box;
    view.sx = view.sy = Math.max(view.sx, 0.6);
    view.x = box.x + WIDTH / 2 - canvas.clientWidth / view.sx / 2, view.y = box.y - canvas.clientHeight / view.sy / 2;
    drawn.redraw(), say(box);
  };
  const step = by => () => {
    const order = shown.boxes, at = marked ? order.indexOf(marked) : by > 0 ? -1 : 0;
    mark(order[(at + by + order.length) % order.length]);
  };
  main.append(quiet("The program as it runs, from its inputs down. Boxes in the colour of their executor are lines, or layers, which open by a click or Enter; a line of an " +
    "open layer closes it. Views and constants are folded into what reads them. N and P go from box to box."));
  place();
  const openAll = () => { for (let before = -1; before !== open.size;) { before = open.size; for (const box of shown.boxes) if (box.title) open.add(box.key); place(); } drawn.reset(); };
  main.append(tools(button("Open all layers", openAll), button("Close all", () => { open.clear(), place(), drawn.reset(); }),
    element("label", {}, element("input", { type: "checkbox", onchange: e => { views = e.target.checked, place(), drawn.reset(); } }), " views and constants")));
  const drawn = picture(main, { className: "tall", name: `The graph of ${counted(data.nodes.length, "line", "lines")}`, fit,
    draw: (pen, view, w, h) => drawGraph(pen, view, w, h, shown, marked),
    pick: (x, y) => { const box = boxAt(x, y) || marked; return box && describe(box, shown); },
    act: (x, y) => { const box = boxAt(x, y); if (box) toggle(box); },
    keys: { n: step(1), p: step(-1), Enter: () => { if (marked) toggle(marked); } } });
  const used = [...new Set(data.nodes.map(n => n.by).filter(Boolean))];
  main.append(element("p", {}, ...used.flatMap(by => [element("span", { className: "bar", style: `width:14px;background:${colour(by)}` }), ` ${by}  `])));
}
