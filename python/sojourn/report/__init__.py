"""Results as a document: one HTML file, figures for paper, or text in a terminal.

Map: `document` what is said (types only) · `cells` table cells to text · `prose` small markup to spans ·
`plot` what all drawings share: colours, ranges, ticks · `html` one self-contained page · `svg` a figure as
plain SVG · `figures` image files · `terminal` verdict and tables by rich.
"""

from sojourn.report.document import (
    Block,
    Code,
    Document,
    Figure,
    Section,
    Series,
    Table,
    Text,
)
from sojourn.report.figures import write_figures
from sojourn.report.html import render_html, write_html
from sojourn.report.svg import render_svg
from sojourn.report.terminal import render_terminal

__all__ = [
    "Block",
    "Code",
    "Document",
    "Figure",
    "Section",
    "Series",
    "Table",
    "Text",
    "render_html",
    "render_svg",
    "render_terminal",
    "write_figures",
    "write_html",
]
