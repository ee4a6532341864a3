"""A tree as a picture, SVG or Mermaid: a box a node, its role on the edge to it, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.evaluate import DONE, REFUSED, SKIPPED, NodeState
from sojourn.query.node import Node
from sojourn.query.text import filtered, number, to_text

TITLES = {
    "Result": "?", "Sequential": ";", "PassageTimeDensity": "PTD", "Distribution": "Dist", "Convolution": "Conv",
    "Percentile": "Perctl", "ProbInInterval": "ProbInInterval", "SteadyStateProb": "SS:P", "SteadyStateStates": "SS:S",
    "FiringRate": "FR", "Deviation": "sd",
}  # fmt: skip
COLOURS = {DONE: "#2e9d52", REFUSED: "#c62f2f", SKIPPED: "#e0b43c", "": "#9a9a9a"}
HIGH, GAP, LEVEL, MARGIN, LETTER = 36, 22, 96, 16, 7.2
LONGEST = 34


@dataclass(frozen=True)
class DrawnNode:
    """A node as it is drawn: kind, what it holds, what became of it, its children with their roles."""

    title: str
    detail: str
    state: str
    value: str
    children: tuple[tuple[str, DrawnNode], ...]

    @property
    def lines(self) -> list[str]:
        return [text for text in (self.title, self.detail) if text]

    @property
    def width(self) -> float:
        longest = max(len(text) for text in (*self.lines, self.value, "Measure"))
        return max(65.0, 18 + LETTER * min(longest, LONGEST))


def boxes(node: Node, states: dict[int, NodeState]) -> DrawnNode:
    """The picture's tree; `states` by the nodes' `id`, empty where nothing was asked of a source."""
    found = states.get(id(node))
    state = found.state if found else SKIPPED if states and not isinstance(node, N.Result | N.Definition) else ""
    kind = type(node).__name__
    children = tuple((role, boxes(child, states)) for role, child in node.children())
    return DrawnNode(TITLES.get(kind, kind), _detail(node), state, found.told if found else "", children)


def _detail(node: Node) -> str:
    """What a node holds beside its children."""
    if isinstance(node, N.Num | N.Bool | N.StateFunction | N.Measure | N.RequestTime):
        return to_text(node)
    if isinstance(node, N.Actions):
        return filtered(node.event, "", node.cls)
    if isinstance(node, N.Macro | N.Argument):
        return node.name
    if isinstance(node, N.Definition):
        return node.name + (f"({', '.join(node.arguments)})" if node.arguments else "")
    if isinstance(node, N.Range):
        return f"{'[' if node.closed[0] else '('}..{']' if node.closed[1] else ')'}"
    if isinstance(node, N.Slices):
        return f">= {number(node.least.value)}% of {to_text(node.length)}"
    if isinstance(node, N.PassageTimeDensity):
        return node.mode
    return str(getattr(node, "operation", getattr(node, "relation", "")))


def short(text: str) -> str:
    """At most as long as a box is wide."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def mermaid(root: DrawnNode) -> str:
    """A flowchart for GitHub and mkdocs; every label is quoted."""
    lines, count = ["flowchart TD"], 0
    stack: list[tuple[DrawnNode, str, str]] = [(root, "", "")]
    while stack:
        box, parent, role = stack.pop()
        name, count = f"n{count}", count + 1
        told = "<br/>".join(_quoted(text) for text in (*box.lines, box.value) if text)
        lines.append(f'    {name}("{told}")')
        if parent:
            lines.append(f'    {parent} -->|"{_quoted(role)}"| {name}')
        if box.state:
            lines.append(f"    style {name} stroke:{COLOURS[box.state]},stroke-width:2px")
        stack += [(child, name, part) for part, child in reversed(box.children)]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """As a Mermaid label takes it: entities for what would end it or be read as a tag."""
    special = {
        "&": "#amp;",
        '"': "#quot;",
        "<": "#lt;",
        ">": "#gt;",
        "#": "#35;",
        ";": "#59;",
        "`": "#96;",
        "\\": "#92;",
    }
    return "".join(special.get(c, c) for c in text)


def svg(root: DrawnNode, title: str) -> str:
    """One SVG, without anything outside itself."""
    width = _wide(root)
    high = LEVEL * _levels(root) + 2 * MARGIN
    parts = list(_drawn(root, MARGIN, MARGIN))
    body = "\n".join(part for part in parts if part.startswith("<path")) + "\n"
    body += "\n".join(part for part in parts if not part.startswith("<path"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 2 * MARGIN:.0f}" height="{high:.0f}" '
        f'viewBox="0 0 {width + 2 * MARGIN:.0f} {high:.0f}" font-family="sans-serif" font-size="12">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def _wide(box: DrawnNode) -> float:
    below = sum(_wide(child) for _, child in box.children) + GAP * max(len(box.children) - 1, 0)
    return max(box.width, below)


def _levels(box: DrawnNode) -> int:
    return 1 + max((_levels(child) for _, child in box.children), default=0)


def _drawn(box: DrawnNode, left: float, top: float) -> Iterator[str]:
    """The box in the middle above its children, each edge with its role."""
    whole = _wide(box)
    middle, x = left + whole / 2, left + whole / 2 - box.width / 2
    yield (
        f'<rect x="{x:.1f}" y="{top}" width="{box.width:.1f}" height="{HIGH}" rx="9" fill="#f4f6f8" '
        f'stroke="{COLOURS[box.state]}" stroke-width="1.5"/>'
    )
    for k, line in enumerate(box.lines):
        y = top + (HIGH / 2 + 4 if len(box.lines) == 1 else 15 + 15 * k)
        weight = ' font-weight="bold"' if k == 0 else ""
        yield f'<text x="{middle:.1f}" y="{y:.1f}" text-anchor="middle"{weight}>{escape(short(line))}</text>'
    if box.state:
        yield f'<circle cx="{x + box.width - 6:.1f}" cy="{top + 6}" r="4" fill="{COLOURS[box.state]}"><title>{box.state}</title></circle>'
    if box.value:
        yield (
            f'<text x="{middle:.1f}" y="{top + HIGH + 13}" text-anchor="middle" font-size="10" fill="#2c5d8a">'
            f"{escape(short(box.value))}<title>{escape(box.value)}</title></text>"
        )
    below = sum(_wide(child) for _, child in box.children) + GAP * max(len(box.children) - 1, 0)
    at, down = left + (whole - below) / 2, top + LEVEL
    small = 'text-anchor="middle" font-size="10" paint-order="stroke" stroke="white" stroke-width="4"'
    for role, child in box.children:
        end = at + _wide(child) / 2
        begin = top + HIGH + (18 if box.value else 0)
        yield f'<path d="M{middle:.1f} {begin} L{end:.1f} {down}" stroke="#888" fill="none"/>'
        yield f'<text x="{(middle + 3 * end) / 4:.1f}" y="{down - 12}" {small} fill="#555">{escape(role)}</text>'
        yield from _drawn(child, at, down)
        at += _wide(child) + GAP
