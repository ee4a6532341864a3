"""The rows as a page: misses first, then counts of verbs by faults."""

from __future__ import annotations

from collections import Counter


def summary(rows: list[dict[str, str]]) -> str:
    """Markdown."""
    bad = [row for row in rows if row["problems"]]
    names, faults = list(dict.fromkeys(row["verb"] for row in rows)), list(dict.fromkeys(row["fault"] for row in rows))
    lines = [f"# Faults: {len(rows)} cells, {len(bad)} with a problem", ""]
    if bad:
        lines += ["| verb | fault | hit | seed | at, s | code | problem |", "|---|---|---|---|---|---|---|"]
        lines += [
            f"| {row['verb']} | {row['fault']} | {row['hit']} | {row['seed']} | {row['at_s']} | {row['code']} | {_cell(row['problems'])} |"
            for row in bad
        ]
        lines.append("")
    lines += ["Cells without a problem, of all; `took`: seconds of a cell in the mean.", ""]
    lines += [f"| verb | {' | '.join(faults)} | took | acknowledged |", "|---" * (len(faults) + 3) + "|"]
    for name in names:
        own = [row for row in rows if row["verb"] == name]
        counts = [_share([row for row in own if row["fault"] == fault]) for fault in faults]
        took = sum(float(row["took_s"]) for row in own) / len(own)
        lines.append(
            f"| {name} | {' | '.join(counts)} | {took:.1f} | {sum(int(row['acknowledged'] or 0) for row in own)} |"
        )
    lines += [
        "",
        "Which processes were killed and stopped:",
        "",
        "| verb | process | killed | stopped |",
        "|---|---|---|---|",
    ]
    hit = {
        fault: Counter((row["verb"], row["hit"]) for row in rows if row["fault"] == fault) for fault in ("kill", "stop")
    }
    lines += [
        f"| {verb} | {process} | {hit['kill'][verb, process]} | {hit['stop'][verb, process]} |"
        for verb, process in sorted(set(hit["kill"]) | set(hit["stop"]))
        if process
    ]
    return "\n".join(lines) + "\n"


def _share(rows: list[dict[str, str]]) -> str:
    return f"{sum(not row['problems'] for row in rows)} of {len(rows)}"


def _cell(text: str) -> str:
    return text.replace("|", ";").replace("\n", " ")[:200]
