"""A document's verdict, text and tables in a terminal; figures only by name."""

from __future__ import annotations

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text as RichText

from sojourn.narrow_tables import WidthAwareTable
from sojourn.report import cell_text, markup
from sojourn.report.document import Block, Code, Document, Figure, Section, Table, Text
from sojourn.terminal import SafeConsole

_STATUS = {"ok": ("green", "valid"), "warn": ("yellow", "with warnings"), "invalid": ("red", "not valid")}
_SPAN = {"": "", "strong": "bold", "em": "italic", "code": "cyan"}


def render_terminal(document: Document) -> RenderableType:
    """`document` for `rich.console.Console.print`: a box with the verdict, then sections with text and tables.

    Text from the document is never read as rich markup.
    """
    return Group(_verdict(document), *(_section(s) for s in document.sections))


def print_terminal(document: Document, console: Console | None = None) -> None:
    """Print `document` on `console` (default: standard output)."""
    (console or SafeConsole()).print(render_terminal(document))


def _line(text: str, style: str = "") -> RichText:
    return RichText.assemble(*((s.text, _SPAN[s.kind]) for s in markup.spans(text)), style=style)


def _verdict(document: Document) -> Panel:
    colour, word = _STATUS[document.status]
    headline, *rest = document.verdict
    body = Group(_line(headline, "bold"), *(_line(text) for text in rest))
    title = RichText.assemble((document.title, "bold"), f" · {word} ")
    return Panel(body, title=title, title_align="left", border_style=colour, box=box.ROUNDED, padding=(1, 2))


def _section(section: Section) -> Group:
    parts: list[RenderableType] = [RichText(f"\n{section.title}", style="bold underline")]
    if section.lead:
        parts.append(_prose(section.lead))
    return Group(*parts, *(_block(b) for b in section.blocks))


def _block(block: Block) -> RenderableType:
    match block:
        case Table():
            return _table(block)
        case Text():
            return _prose(block.markdown)
        case Code():
            return Padding(RichText(block.text, style="dim"), (0, 2))
        case Figure():
            return RichText(f"  [figure: {block.title}]", style="dim")


def _prose(text: str) -> Group:
    lines = (RichText("- " if p.item else "").append_text(_spans(p)) for p in markup.paragraphs(text))
    return Group(*lines)


def _spans(paragraph: markup.Paragraph) -> RichText:
    return RichText.assemble(*((s.text, _SPAN[s.kind]) for s in paragraph.spans))


def _table(table: Table) -> WidthAwareTable:
    out = RichTable(
        title=RichText(table.title, style="bold"),
        title_justify="left",
        caption=_line(table.note) if table.note else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for name, numeric in zip(table.columns, cell_text.numeric_columns(table), strict=True):
        out.add_column(RichText(name), justify="right" if numeric else "left")
    for row in cell_text.text_rows(table):
        out.add_row(*(RichText(text) for text in row))
    return WidthAwareTable(out)
