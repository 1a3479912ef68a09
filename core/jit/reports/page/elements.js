"use strict";
// What the sections of the page are made of: elements, numbers with units, tables.
const data = JSON.parse(document.getElementById("data").textContent);

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
const quiet = (...children) => element("p", { className: "quiet" }, ...children);
const button = (name, onclick) => element("button", { type: "button", onclick }, name);
const tools = (...children) => element("div", { className: "tools" }, ...children);

// One unit for each kind of number: bytes by 1000, times from milliseconds.
const digits = v => !v ? "0" : Math.abs(v) >= 100 ? Math.round(v).toLocaleString("en") : Number(v.toPrecision(3)).toString();
const bytes = v => v >= 1e9 ? digits(v / 1e9) + " GB" : v >= 1e6 ? digits(v / 1e6) + " MB" : v >= 1e3 ? digits(v / 1e3) + " kB" : v + " B";
const flops = v => v >= 1e9 ? digits(v / 1e9) + " GFLOP" : v >= 1e6 ? digits(v / 1e6) + " MFLOP" : v >= 1e3 ? digits(v / 1e3) + " kFLOP" : digits(v) + " FLOP";
const duration = ms => ms >= 1e3 ? digits(ms / 1e3) + " s" : ms >= 1 ? digits(ms) + " ms" : digits(ms * 1e3) + " µs";
const counted = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

// "linear, on each tile: prims.mul, prims.mul, prims.add" as "linear, on each tile: mul ×2, add".
const brief = ops => ops.replaceAll("prims.", "").split(": ").map(part => {
  const runs = [];
  for (const op of part.split(", ")) {
    if (runs.length && runs[runs.length - 1][0] === op) runs[runs.length - 1][1]++;
    else runs.push([op, 1]);
  }
  return runs.map(([op, times]) => times > 1 ? `${op} ×${times}` : op).join(", ");
}).join(": ");

// The layer that a line of the user's is in, by its place: "model.lua:25, layer h.0.mlp".
const layerOf = place => (/\blayer ([^\s,]+)/.exec(place) || ["", ""])[1];

// Columns: [title, kind ("number", "long", "extra": left out where there is little room), row => text or element].
function table(columns, rows) {
  const head = element("tr", {}, ...columns.map(([title, kind]) => element("th", { className: kind, scope: "col" }, title)));
  const body = rows.map(row => element("tr", {}, ...columns.map(([, kind, cell]) => element("td", { className: kind }, cell(row)))));
  return element("div", { className: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}
const text = content => content ? element("pre", { tabIndex: 0 }, content) : quiet("nothing");
// A bar of each row's share of the most.
const bar = (value, most) => element("span", { className: "bar", style: `width:${Math.max(1, 100 * value / (most || 1))}%` });
