"""Small markup (see `document.Text`) to paragraphs and lists of marked spans. No links, no raw HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

Kind: TypeAlias = Literal["", "code", "strong", "em"]
_SPAN = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>.+?)\*\*|\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*")


@dataclass(frozen=True)
class MarkupSpan:
    """A piece of text; kind is "" for plain text, else the name of an HTML element."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Paragraph:
    """One paragraph or one item of a list."""

    item: bool
    spans: tuple[MarkupSpan, ...]


def unmarked(line: str) -> str:
    """A line as it was printed, for a report: what a star or a backtick means there it does not mean here."""
    return line.replace("*", "∗").replace("`", "'")


def spans(text: str) -> tuple[MarkupSpan, ...]:
    """One line of text as spans."""
    out: list[MarkupSpan] = []
    at = 0
    for match in _SPAN.finditer(text):
        if match.start() > at:
            out.append(MarkupSpan("", text[at : match.start()]))
        kind = cast(Kind, match.lastgroup)  # the groups of _SPAN have these names
        out.append(MarkupSpan(kind, match[kind]))
        at = match.end()
    if at < len(text):
        out.append(MarkupSpan("", text[at:]))
    return tuple(out)


def paragraphs(markdown: str) -> list[Paragraph]:
    """Text with blank lines and `- ` items as paragraphs; other line ends are spaces."""
    out: list[Paragraph] = []
    for part in re.split(r"\n\s*\n", markdown.strip()):
        pieces: list[tuple[bool, list[str]]] = []
        for line in (raw.strip() for raw in part.splitlines()):
            if line.startswith("- "):
                pieces.append((True, [line[2:]]))
            elif pieces:
                pieces[-1][1].append(line)
            elif line:
                pieces.append((False, [line]))
        out += [Paragraph(item, spans(" ".join(lines))) for item, lines in pieces]
    return out
