// Search over the lines of all stages, kernels, and steps.
const MOST_FOUND = 100;

function find(words) {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean), found = [];
  if (!parts.length) return found;
  const holds = content => { const lower = content.toLowerCase(); return parts.every(part => lower.includes(part)); };
  const go = (section, then) => () => { history.replaceState(null, "", `#${section}`), show(section), then(); };
  const reveal = (id, mark) => {
    const target = document.getElementById(id);
    if (!target) return;
    if (mark) { for (const other of document.querySelectorAll("tr.marked")) other.classList.remove("marked"); target.classList.add("marked"); } else target.open = true;
    target.scrollIntoView({ block: "center" });
  };
  kernelTexts().forEach((kernel, i) => {
    if (holds(kernel)) found.push({ text: brief(kernel.slice(0, kernel.indexOf("\n"))), go: go("Kernels", () => reveal(`kernel-${i}`, false)) });
  });
  ((data.profile || {}).steps || []).forEach((s, i) => {
    const all = `step ${i + 1}: ${brief(s.ops)} by ${s.executor}${s.where ? " at " + s.where : ""}`;
    if (holds(all)) found.push({ text: all, go: go("Time", () => reveal(`step-${i + 1}`, true)) });
  });
  const lines = data.lines.flatMap((line, i) => holds(line) ? [{ text: line.trim(), go: go("Traces", () => showLine(i)) }] : []);
  // Lines of the program as it runs come first.
  return found.concat(lines.reverse());
}

function setUpSearch() {
  const input = document.querySelector("input[type=search]"), list = document.querySelector(".found");
  const fill = () => {
    const found = find(input.value);
    list.hidden = !input.value.trim();
    list.replaceChildren(quiet(found.length ? counted(found.length, "place", "places") + (found.length > MOST_FOUND ? `, the first ${MOST_FOUND} here` : "") : "Nothing has all of these words."),
      ...found.slice(0, MOST_FOUND).map(f => button(f.text, () => { list.hidden = true; f.go(); })));
  };
  input.oninput = fill;
  input.onfocus = () => { if (input.value.trim()) fill(); };
  input.form.onsubmit = e => { e.preventDefault(); const first = find(input.value)[0]; if (first) list.hidden = true, first.go(); };
  addEventListener("keydown", e => {
    if (e.key === "Escape") list.hidden = true;
    if (e.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    e.preventDefault();
    input.focus();
  });
}
setUpSearch();
