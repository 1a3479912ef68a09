// Two stages side by side; lines that make the same values are linked.
const ROW = 18;
let showLine;  // set by the section when it is made

// A list of lines of which only those in sight are elements.
class Lines {
  constructor(onPick) {
    this.box = element("div", { className: "lines", tabIndex: 0, onscroll: () => this.draw(), onkeydown: e => this.key(e) });
    this.box.setAttribute("role", "list");
    this.onPick = onPick;
    this.lines = [];
    this.marked = new Set();
    new ResizeObserver(() => this.draw()).observe(this.box);
  }
  set(lines, others) {
    this.lines = lines, this.others = others, this.marked.clear();
    this.width = lines.reduce((most, line) => Math.max(most, data.lines[line].length), 0);
    this.draw();
  }
  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 5), last = Math.min(this.lines.length, first + Math.ceil(this.box.clientHeight / ROW) + 10);
    const rows = [element("div", { style: `height:${this.lines.length * ROW}px;width:${this.width + 2}ch` })];
    for (let i = first; i < last; i++) {
      const line = this.lines[i], changed = this.others && !this.others.has(line);
      const row = element("div", { className: `row${changed ? " changed" : ""}${this.marked.has(i) ? " marked" : ""}`, style: `top:${i * ROW}px`, onclick: () => this.onPick(data.lines[line]) }, data.lines[line]);
      row.setAttribute("role", "listitem");
      rows.push(row);
    }
    this.box.replaceChildren(...rows);
  }
  // The line after, or before, the one that is marked is picked.
  key(e) {
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    e.preventDefault();
    const at = this.marked.size ? Math.min(...this.marked) + (e.key === "ArrowDown" ? 1 : -1) : 0;
    if (at >= 0 && at < this.lines.length) this.onPick(data.lines[this.lines[at]]), this.show(new Set([at]));
  }
  show(marked) {
    this.marked = marked;
    const first = Math.min(...marked) * ROW;
    if (first < this.box.scrollTop || first > this.box.scrollTop + this.box.clientHeight - ROW) this.box.scrollTop = Math.max(0, first - this.box.clientHeight / 2);
    this.draw();
  }
  // Marks the lines that make one of these values, and brings the first into sight.
  mark(values, scroll) {
    this.marked.clear();
    this.lines.forEach((line, i) => { if (results(data.lines[line]).some(v => values.has(v))) this.marked.add(i); });
    const first = Math.min(...this.marked);
    if (scroll && this.marked.size) this.box.scrollTop = Math.max(0, first * ROW - this.box.clientHeight / 2);
    this.draw();
  }
}

function results(line) {
  const at = line.indexOf(" = ");
  return at < 0 ? [] : line.slice(0, at).match(/\b[tu]\[\d+\]/g) || [];
}

function traces(main) {
  const changed = data.stages.filter(stage => stage.lines);
  main.append(quiet("Lines that the other side has not are tinted. Pick a line, by pointer or arrows, to see on both sides what makes its values."));
  const panes = [0, 1].map(side => {
    const select = element("select", { onchange: fill, ariaLabel: side ? "the stage on the right" : "the stage on the left" },
      ...changed.map((stage, i) => element("option", { value: i }, `${stage.name}: ${duration(stage.ms)}, ${counted(stage.lines.length, "line", "lines")}`)));
    const lines = new Lines(line => panes.forEach((pane, i) => pane.lines.mark(new Set(results(line)), i !== side)));
    return { select, lines };
  });
  panes[0].select.value = 0, panes[1].select.value = changed.length - 1;
  function fill() {
    const lists = panes.map(pane => changed[pane.select.value].lines);
    panes.forEach((pane, i) => pane.lines.set(lists[i], new Set(lists[1 - i])));
  }
  main.append(element("div", { className: "panes" }, ...panes.map(pane => element("div", { className: "pane" }, pane.select, pane.lines.box))));
  fill();
  // Shows a line, by its number in data.lines, on the right, in the last stage that has it.
  showLine = line => {
    const last = changed.reduce((best, stage, i) => stage.lines.includes(line) ? i : best, -1);
    panes[1].select.value = last;
    fill();
    panes[1].lines.show(new Set([changed[last].lines.indexOf(line)]));
    panes[0].lines.mark(new Set(results(data.lines[line])), true);
  };
  main.append(element("h2", {}, "Stages"), table([["stage", "", r => r.name], ["time", "number", r => duration(r.ms)], ["", "", r => r.lines ? counted(r.lines.length, "line", "lines") : "left the trace as it was"]], data.stages));
}
