// Times: of a call, of layers and of steps.
function time(main) {
  const p = data.profile;
  if (!p) return main.append(quiet("No profile was made before this report: profile the function first."));
  const all = p.steps.reduce((sum, s) => sum + s.ms, 0);
  main.append(element("p", {}, `A call takes ${duration(p.ms)}, the median of ${counted(p.runs, "run", "runs")}. Its steps, each the median of these runs, add up to ` +
    `${duration(all)}. The machine, measured in the same run: ${digits(p.gflops)} GFLOP/s and ${digits(p.gbytes)} GB/s.`));
  main.append(element("h2", {}, "Threads, in the last run"));
  timeline(main, p);
  const steps = p.steps.map((s, i) => ({ ...s, number: i + 1, layer: pathOf(layerOf(s.where))[0] })).sort((a, b) => b.ms - a.ms);
  main.append(element("h2", {}, "Layers, slowest first"), byLayer(steps, all));
  if (p.collectives.length) main.append(element("h2", {}, "Collectives, as this rank sees them"), collectiveTable(p));
  main.append(element("h2", {}, "Steps, slowest first"), stepTable(steps, all));
}

// Alone: until the result is there, where the rank waits at once. Exposed: the wait beside all else.
function collectiveTable(p) {
  return table([["step", "number", c => c.step + 1], ["of", "number", c => bytes(c.bytes)], ["alone", "number", c => duration(c.alone)],
    ["exposed", "number", c => duration(c.exposed)], ["", "bars", c => bar(c.exposed, Math.max(...p.collectives.map(one => one.alone), 1e-9))],
    ["what", "long", c => brief(p.steps[c.step].ops) + (p.steps[c.step].where ? ` at ${p.steps[c.step].where}` : "")]], p.collectives);
}

function byLayer(steps, all) {
  const layers = new Map();
  for (const s of steps) {
    const sum = layers.get(s.layer) || { layer: s.layer, ms: 0, steps: 0, flops: 0, bytes: 0, most: s };
    sum.ms += s.ms, sum.steps++, sum.flops += s.flops, sum.bytes += s.bytes;
    layers.set(s.layer, sum);
  }
  const rows = [...layers.values()].sort((a, b) => b.ms - a.ms);
  rows.push({ layer: null, ms: all, steps: steps.length, flops: rows.reduce((n, r) => n + r.flops, 0), bytes: rows.reduce((n, r) => n + r.bytes, 0) });
  return table([["layer", "long", r => r.layer === null ? "all" : r.layer || "outside of layers"], ["steps", "number", r => r.steps],
    ["time", "number", r => duration(r.ms)], ["", "bars", r => r.layer === null ? "" : bar(r.ms, rows[0].ms)],
    ["of all", "number extra", r => digits(100 * r.ms / (all || 1)) + " %"], ["to move", "number extra", r => bytes(r.bytes)],
    ["to compute", "number extra", r => flops(r.flops)], ["slowest step", "extra", r => r.most ? brief(r.most.ops) : ""]], rows);
}

function stepTable(rows, all) {
  const made = table([["step", "number", r => r.number], ["time", "number", r => duration(r.ms)], ["", "bars", r => bar(r.ms, rows[0].ms)],
    ["of all", "number extra", r => digits(100 * r.ms / (all || 1)) + " %"], ["to move", "number extra", r => bytes(r.bytes)],
    ["to compute", "number extra", r => flops(r.flops)],
    ["of limit", "number extra", r => `${r.share > 1 ? "all" : digits(100 * r.share) + " %"} of ${r.bound}`], ["by", "extra", r => r.executor],
    ["what", "long", r => brief(r.ops) + (r.where ? ` at ${r.where}` : "")]], rows);
  made.querySelectorAll("tbody tr").forEach((tr, i) => { tr.id = `step-${rows[i].number}`; });
  return made;
}
