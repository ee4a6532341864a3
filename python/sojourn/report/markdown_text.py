"""A document as Markdown, for a comment on a pull request: verdict, texts and tables; figures by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from sojourn.files.writing import write_output
from sojourn.report import cell_text, markup
from sojourn.report.document import Block, Code, Document, Figure, Section, Table, Text
from sojourn.terminal import shown

_STATUS = {"ok": "", "warn": " (with warnings)", "invalid": " (not valid)"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~@])")
# GitHub makes links and mentions of these, escaped or not: U+2060, which has no width, comes between
_LINK = re.compile(r"([@#]|:(?=//)|(?<![^\W_])www(?=\.))", re.IGNORECASE)
_ITEM = re.compile(r"^(\s*)([-+]|\d{1,9}(?=[.)](?:\s|$)))")  # what would begin a list, or underline a heading
_MARK = {"": "", "strong": "**", "em": "*"}


def render_markdown(document: Document) -> str:
    """`document` as GitHub-flavoured Markdown; what names and services say in it is never markup."""
    headline, *rest = document.verdict
    lines = [f"### {_plain(document.title)}{_STATUS[document.status]}", "", f"**{_line(headline, bold=True)}**", ""]
    lines += [f"- {_line(text)}" for text in rest] + [""] * bool(rest)
    for section in document.sections:
        lines += _section(section)
    lines += [f"{_begin(_plain(name))}: {_plain(text)}  " for name, text in document.footer.items()]
    return "\n".join(lines).rstrip() + "\n"


def write_markdown(document: Document, path: Path | str) -> Path:
    """Writes `document` to `path` and returns the path. OSError where it cannot be written."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, render_markdown(document))
    return path


def _section(section: Section) -> list[str]:
    lines = [f"#### {_plain(section.title)}", ""]
    lines += [*_paragraphs(section.lead), ""] if section.lead else []
    return lines + [line for block in section.blocks for line in _block(block)]


def _block(block: Block) -> list[str]:
    match block:
        case Table():
            return _table(block)
        case Text():
            return [*_paragraphs(block.markdown), ""]
        case Code():
            return [*(f"    {shown(line)}" for line in block.text.splitlines()), ""]
        case Figure():
            return [f"*figure: {_plain(block.title)}*", ""]


def _table(table: Table) -> list[str]:
    title = [f"**{_plain(table.title)}**", ""] if table.title else []
    marks = ["---:" if numeric else "---" for numeric in cell_text.numeric_columns(table)]
    rows = [[_plain(name) for name in table.columns], marks]
    rows += [[_plain(text) for text in row] for row in cell_text.text_rows(table)]
    note = ["", _line(table.note)] if table.note else []
    return [*title, *(f"| {' | '.join(row)} |" for row in rows), *note, ""]


def _paragraphs(text: str) -> list[str]:
    lines: list[str] = []
    for one in markup.paragraphs(text):
        lines += [] if one.item or not lines else [""]
        lines.append(("- " if one.item else "") + _spans(one.spans))
    return lines


def _line(text: str, bold: bool = False) -> str:
    return _spans(markup.spans(text), bold)


def _spans(spans: Iterable[markup.MarkupSpan], bold: bool = False) -> str:
    """Code stays as it is: a span of the small markup has no backtick in it."""
    return _begin(
        "".join(
            f"`{_flat(s.text)}`" if s.kind == "code" else f"{_mark(s.kind, bold)}{_plain(s.text)}{_mark(s.kind, bold)}"
            for s in spans
        )
    )


def _mark(kind: str, bold: bool) -> str:
    return "" if bold and kind == "strong" else _MARK[kind]


def _plain(text: str) -> str:
    """Of any place in a line: `&` first, so that no entity of the text's own is read."""
    return _SPECIAL.sub(r"\\\1", _LINK.sub("\\1\u2060", _flat(text).replace("&", "&amp;")))


def _begin(text: str) -> str:
    """Of the begin of a line: not the begin of a list."""
    return _ITEM.sub(lambda found: f"{found[1]}\\{found[2]}" if found[2] in "-+" else f"{found[0]}\\", text)


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", shown(text))
