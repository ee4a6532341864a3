"""The figure of docs/explain/accuracy.md: stated and observed shares of values in their intervals; `tools/accuracy.py` writes it."""

from __future__ import annotations

from collections.abc import Sequence

from coverage_counts import wilson

STYLE = """
.paper { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif } .quiet { fill: #59636e } .head { font-weight: 600 }
.grid { stroke: #d1d9e0 } .range { stroke: #0969da; stroke-width: 2 } .seen { fill: #0969da } .stated { stroke: #bc4c00; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117 } text { fill: #f0f6fc } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }
  .range { stroke: #4493f8 } .seen { fill: #4493f8 } .stated { stroke: #f0883e }
}
"""
WIDTH, ROW, LEFT, RIGHT = 780, 22, 250, 150
SHOWN = (0.3, 1.0)  # shares on the axis


def place(share: float) -> float:
    """Where a share is on the axis, in pixels from the left."""
    low, high = SHOWN
    return LEFT + (max(share, low) - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def figure(sets: Sequence[tuple[str, int, int]], levels: Sequence[tuple[float, int, int]], level: float) -> str:
    """Stated beside observed shares: a row a set (name, values inside, values) at `level`, and the set that has other `levels`."""
    inside, of = sum(one[1] for one in sets), sum(one[2] for one in sets)
    at_level = [(name, level, n, m) for name, n, m in sets]
    rows: list[tuple[str, float, int, int] | str] = ["Stated: 90 %", *at_level, ("all together", level, inside, of)]
    rows += ["Other levels: middleware, 12 configurations"]
    rows += [(f"stated {100 * other:.0f} %", other, n, m) for other, n, m in levels]
    height = ROW * (len(rows) + 3)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        f"<title>Share of measured values inside the interval that was predicted for them: {inside} of {of} at a stated 90 %</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
    ]
    for tick in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        x, bottom = place(tick), height - 1.6 * ROW
        lines.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{0.5 * ROW}" y2="{bottom:.1f}"/>')
        lines.append(
            f'<text class="quiet" x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle">{100 * tick:.0f} %</text>'
        )
    for n, row in enumerate(rows, 1):
        lines += _row(row, n * ROW)
    legend = "dot: measured values inside; bar: 90 % interval of that share (Wilson); upright mark: the stated level"
    lines.append(f'<text class="quiet" x="{WIDTH / 2}" y="{height - 6}" text-anchor="middle">{legend}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _row(row: tuple[str, float, int, int] | str, y: float) -> list[str]:
    if isinstance(row, str):
        return [f'<text class="head" x="12" y="{y + 4}">{row}</text>']
    name, level, n, of = row
    low, high = wilson(n, of)
    stated, seen = place(level), place(n / of)
    return [
        f'<text x="{LEFT - 14}" y="{y + 4}" text-anchor="end">{name}</text>',
        f'<line class="range" x1="{place(low):.1f}" x2="{place(high):.1f}" y1="{y}" y2="{y}"/>',
        f'<line class="stated" x1="{stated:.1f}" x2="{stated:.1f}" y1="{y - 8}" y2="{y + 8}"/>',
        f'<circle class="seen" cx="{seen:.1f}" cy="{y}" r="4.5"/>',
        f'<text class="quiet" x="{WIDTH - RIGHT + 14}" y="{y + 4}">{n} of {of}, {100 * n / of:.0f} %</text>',
    ]
