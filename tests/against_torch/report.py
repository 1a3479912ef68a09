"""The table of what was found: a row an entry of op_db, totals, and what is not explained."""
import collections
import json

from explained import Exclusions


def _counts(rows):
    counts = collections.Counter((row["part"], row["what"]) for row in rows)
    tried = sum(count for (part, what), count in counts.items() if part == "forward" and what != "not ours")
    gradients = sum(count for (part, what), count in counts.items() if part == "gradient" and what != "not ours")
    return {"tried": tried, "equal": counts["forward", "equal"], "refused": counts["forward", "refused"],
            "differ": counts["forward", "differ"], "not ours": counts["forward", "not ours"], "gradients": gradients,
            "gradients equal": counts["gradient", "equal"]}


def totals(entries):
    """Sums over entries {name, found, crashed, rows}, and how many distinct names of op_db, aliases included, are here."""
    sums = collections.Counter()
    for entry in entries:
        sums.update(_counts(entry["rows"]))
    names = {name: found for entry in entries for name, found in entry["names"].items()}
    return {**sums, "names": len({entry["op"] for entry in entries}), "names found": len({e["op"] for e in entries if e["found"]}),
            "names with aliases": len(names), "found with aliases": sum(names.values())}


def reasons_of(entry):
    reasons = [entry["reason"]] if entry["reason"] else []
    return list(dict.fromkeys(reasons + [row["reason"] for row in entry["rows"] if row.get("reason")]))


def stale(entries, sweep):
    """Rows of the sweep's file that explain no sample."""
    given = {reason for entry in entries for reason in reasons_of(entry)}
    return [row for row in Exclusions(sweep).rows if row["reason"] not in given]


def unexplained(entries):
    """(entry, row) of what nothing explains; row None: the name itself, or an end of the process."""
    for entry in entries:
        if (not entry["found"] or entry["crashed"]) and not entry["reason"]:
            yield entry, None
        for row in entry["rows"]:
            if row["what"] in ("refused", "differ") and not row.get("reason"):
                yield entry, row


def command(entry, row, sweep):
    """One line that tries the sample again."""
    return f"tests/against_torch/run {entry['name']}{f' --{sweep}' if sweep != 'samples' else ''} --dtype {row['dtype']} --sample {row['sample']}"


def _percent(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "-"


def summary(sums):
    return [f"{sums['names found']} of {sums['names']} names found ({sums['found with aliases']} of {sums['names with aliases']} with aliases)",
            f"{sums['equal']} of {sums['tried']} samples equal ({_percent(sums['equal'], sums['tried'])}): {sums['refused']} refused, "
            f"{sums['differ']} differ; {sums['not ours']} more are of what is not here",
            f"{sums['gradients equal']} of {sums['gradients']} gradients equal ({_percent(sums['gradients equal'], sums['gradients'])})"]


def write(entries, promotion, folder, name, heading):
    """NAME.md and NAME.json in the folder."""
    sums = totals(entries)
    lines = ["# Against PyTorch's samples", "", heading, "", *(f"- {line}" for line in [*summary(sums), *promotion["summary"]]), "",
             "| entry | found | tried | equal | refused | differ | not ours | gradients | equal | reasons |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for entry in entries:
        counts = _counts(entry["rows"])
        cells = [entry["name"], "yes" if entry["found"] else "no", *map(str, counts.values()), " ".join(reasons_of(entry))]
        lines.append(f"| {' | '.join(cells)} |")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = json.dumps({"totals": sums, "promotion": promotion, "entries": entries}, indent=1)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return sums
